package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.nexus.elsewhere.Hidden;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What values services take, and that two ends which do not mean the same by a method never misread each other. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShapesTest {
    /** One version of a program. */
    static final class V1 {
        enum Kind {
            SMALL,
            LARGE
        }

        record Order(long id, String name, Kind kind) {}

        record Money(long cents, int currency) {}

        sealed interface Paid permits Cash, Card {}

        record Cash(Money money) implements Paid {}

        record Card(String number) implements Paid {}

        @RemoteService(name = "shop")
        interface Shop {
            long total(Money money);

            List<Order> all();

            int count();

            String kind(Kind kind);

            CompletableFuture<Money> price();

            Flow.Publisher<Money> prices();

            int sum(Flow.Publisher<Money> prices);

            String pay(Paid paid);

            long same(List<Long> numbers, Map<String, long[]> named);

            int over(int a);

            int over(int a, int b);
        }
    }

    /** A later one. */
    static final class V2 {
        enum Kind {
            TINY,
            SMALL,
            LARGE
        }

        record Order(long id, String name, Kind kind, int quantity) {}

        record Money(int currency, long cents) {}

        sealed interface Paid permits Card, Cash {}

        record Cash(String coins) implements Paid {}

        record Card(String number) implements Paid {}

        @RemoteService(name = "shop")
        interface Shop {
            long total(Money amount);

            List<Order> all();

            long count();

            String kind(Kind kind);

            CompletableFuture<Money> price();

            Flow.Publisher<Money> prices();

            int sum(Flow.Publisher<Money> prices);

            String pay(Paid paid);

            long same(List<Long> others, Map<String, long[]> inAnotherWay);

            int over(long a);

            int over(int a, int b);

            int added();
        }
    }

    private static final class Implementation implements V1.Shop {
        @Override
        public long total(V1.Money money) {
            return money.cents();
        }

        @Override
        public List<V1.Order> all() {
            return List.of(new V1.Order(1, "a", V1.Kind.SMALL));
        }

        @Override
        public int count() {
            return 7;
        }

        @Override
        public String kind(V1.Kind kind) {
            return kind.name();
        }

        @Override
        public CompletableFuture<V1.Money> price() {
            return CompletableFuture.completedFuture(new V1.Money(1, 2));
        }

        @Override
        public Flow.Publisher<V1.Money> prices() {
            return Publishers.of(List.of(new V1.Money(1, 2)));
        }

        @Override
        public int sum(Flow.Publisher<V1.Money> prices) {
            return 0;
        }

        @Override
        public String pay(V1.Paid paid) {
            return paid.toString();
        }

        @Override
        public long same(List<Long> numbers, Map<String, long[]> named) {
            return numbers.getFirst() + named.get("x")[0];
        }

        @Override
        public int over(int a) {
            return a;
        }

        @Override
        public int over(int a, int b) {
            return a + b;
        }
    }

    private static World world() {
        return new World("sci", 2, context -> {});
    }

    private static void assertDiffers(String expected, Executable call) {
        Throwable failed = assertThrows(Throwable.class, call);
        Throwable failure = failed instanceof CompletionException || failed instanceof ExecutionException
                ? failed.getCause()
                : failed;
        assertEquals(ErrorCode.UNIMPLEMENTED, ErrorCode.of(failure), failure::toString);
        assertTrue(String.valueOf(failure.getMessage()).contains(expected), failure::toString);
    }

    @Test
    void shouldNameWhatDiffersBetweenTwoVersionsOfAMethod() {
        try (World world = world()) {
            world.of(0).export(V1.Shop.class, new Implementation());
            V2.Shop shop = world.of(1).service(0, V2.Shop.class);
            assertDiffers(
                    "the order differs: Money.currency comes where Money.cents comes there",
                    () -> shop.total(new V2.Money(978, 100)));
            assertDiffers("Order.quantity (int) is not there; Kind.TINY (constant) is not there", shop::all);
            assertDiffers("the call of Shop.count: service", shop::count);
            assertDiffers("result is long here and int there", shop::count);
            assertDiffers("Kind.TINY (constant) is not there", () -> shop.kind(V2.Kind.SMALL));
            assertDiffers("Money.currency", () -> shop.price().join());
            assertDiffers(
                    "Money.currency", () -> Publishers.toList(shop.prices()).get(10, TimeUnit.SECONDS));
            assertDiffers("Money.currency", () -> shop.sum(Publishers.of(List.of())));
            assertDiffers("Cash.coins (String) is not there", () -> shop.pay(new V2.Card("1")));
            assertDiffers("parameter 1 is long here and int there", () -> shop.over(1L));
            assertDiffers("no such method", shop::added);
            assertEquals(3, shop.over(1, 2));
            assertEquals(5, shop.same(List.of(2L), Map.of("x", new long[] {3})));
            assertEquals(0, world.of(1).outstandingCount());
        }
    }

    record Chain(int value, Chain next) {
        static Chain of(int length) {
            Chain chain = null;
            for (int i = 0; i < length; i++) {
                chain = new Chain(i, chain);
            }
            return chain;
        }

        int length() {
            int length = 0;
            for (Chain link = this; link != null; link = link.next()) {
                length++;
            }
            return length;
        }
    }

    record Tree(List<Tree> children) {}

    @RemoteService
    interface Deep {
        int lengthOf(Chain chain);

        Chain chain(int length);

        int width(Tree tree);
    }

    @Test
    void shouldBoundHowDeepValuesLieWithinValues() {
        try (World world = world()) {
            world.of(0).export(Deep.class, new Deep() {
                @Override
                public int lengthOf(Chain chain) {
                    return chain.length();
                }

                @Override
                public Chain chain(int length) {
                    return Chain.of(length);
                }

                @Override
                public int width(Tree tree) {
                    return tree.children().size();
                }
            });
            Deep remote = world.of(1).service(0, Deep.class);
            assertEquals(1_000, remote.lengthOf(Chain.of(1_000)));
            assertEquals(1_000, remote.chain(1_000).length());
            for (int length : new int[] {1_025, 200_000}) {
                NexusException deep = assertThrows(NexusException.class, () -> remote.lengthOf(Chain.of(length)));
                assertTrue(
                        String.valueOf(deep.getMessage()).contains("1024 (ContextOptions.maxDepth)"), deep::toString);
                RemoteException there = assertThrows(RemoteException.class, () -> remote.chain(length));
                assertTrue(String.valueOf(there.getMessage()).contains("ContextOptions.maxDepth"), there::toString);
            }
            List<Tree> endless = new ArrayList<>();
            endless.add(new Tree(endless));
            assertThrows(NexusException.class, () -> remote.width(new Tree(endless)));
            Tree[] wide = new Tree[3_000];
            java.util.Arrays.setAll(wide, _ -> new Tree(List.of()));
            assertEquals(3_000, remote.width(new Tree(List.of(wide))));
        }
    }

    @Test
    void shouldBoundTheDepthOfWhatIsReadToo() {
        ContextOptions flat = ContextOptions.DEFAULT.withMaxDepth(10);
        try (World world = world()) {
            Codecs reader = new Codecs(10);
            Codecs writer = new Codecs(1_000);
            Arguments arguments = new Arguments();
            writer.of(Chain.class).write(arguments, Chain.of(11));
            Request request = Request.local(world.of(0).node(), arguments);
            NexusException deep = assertThrows(
                    NexusException.class, () -> reader.of(Chain.class).read(request));
            assertTrue(String.valueOf(deep.getMessage()).contains("deeper than 10"), deep::toString);
            assertEquals(10, flat.maxDepth());
        }
    }

    record Odd(int number) {}

    @RemoteService
    interface Odds {
        int put(Odd odd);

        Odd get(int number);

        Flow.Publisher<Odd> items();
    }

    @Test
    void shouldRefuseBytesThatAreLeftOrMissing() {
        for (int surplus : new int[] {1, -1}) {
            try (World world = new World(
                    "sci",
                    2,
                    context -> context.codecs()
                            .register(
                                    Odd.class,
                                    Codec.of(
                                            (odd, arguments) -> {
                                                arguments.putShort((short) odd.number());
                                                for (int i = 0; i < 1 + surplus; i++) {
                                                    arguments.putByte((byte) 0);
                                                }
                                            },
                                            request -> {
                                                int number = request.getShort();
                                                request.getByte();
                                                return new Odd(number);
                                            })))) {
                world.of(0).export(Odds.class, new Odds() {
                    @Override
                    public int put(Odd odd) {
                        return odd.number();
                    }

                    @Override
                    public Odd get(int number) {
                        return new Odd(number);
                    }

                    @Override
                    public Flow.Publisher<Odd> items() {
                        return Publishers.of(List.of(new Odd(1)));
                    }
                });
                Odds remote = world.of(1).service(0, Odds.class);
                String expected = surplus > 0 ? "1 bytes of small arguments" : "1 bytes are asked for";
                for (Executable call : List.<Executable>of(
                        () -> remote.put(new Odd(1)),
                        () -> remote.get(1),
                        () -> Publishers.toList(remote.items()).join())) {
                    Throwable failure = assertThrows(Throwable.class, call);
                    assertTrue(failure.toString().contains(expected), failure::toString);
                }
            }
        }
    }

    record Box<T>(T value, List<T> more) {}

    record Pair<A, B>(A left, Box<B>[] rights) {}

    sealed interface Figure<T> permits Circle, Square, Fixed {}

    record Circle<T>(T centre) implements Figure<T> {}

    record Square<T>(T corner, Figure<T> inner) implements Figure<T> {}

    enum Fixed implements Figure<Integer> {
        ORIGIN
    }

    /** Generic. */
    interface Store<K, V> {
        V put(K key, V value);

        List<V> all(Map<K, V> more);
    }

    record Values(
            Number number,
            Instant instant,
            Duration duration,
            UUID id,
            BigDecimal amount,
            BigInteger big,
            LocalDate date,
            LocalTime time,
            LocalDateTime both) {}

    @RemoteService
    interface Rich extends Store<String, Box<Integer>> {
        Values values(Values values);

        List<Number> numbers(List<Number> numbers);

        Pair<String, Long> pair(Pair<String, Long> pair);

        Figure<Integer> figure(Figure<Integer> figure);
    }

    private static final class Riches implements Rich {
        @Override
        public Values values(Values values) {
            return values;
        }

        @Override
        public List<Number> numbers(List<Number> numbers) {
            return numbers;
        }

        @Override
        public Pair<String, Long> pair(Pair<String, Long> pair) {
            return pair;
        }

        @Override
        public Figure<Integer> figure(Figure<Integer> figure) {
            return figure;
        }

        @Override
        public Box<Integer> put(String key, Box<Integer> value) {
            return new Box<>(value.value() + key.length(), value.more());
        }

        @Override
        public List<Box<Integer>> all(Map<String, Box<Integer>> more) {
            return List.copyOf(more.values());
        }
    }

    @Test
    @SuppressWarnings({"unchecked", "rawtypes"})
    void shouldCarryGenericsSealedTypesNumbersAndTimes() {
        try (World world = world()) {
            world.of(0).export(Rich.class, new Riches());
            Rich remote = world.of(1).service(0, Rich.class);
            Values values = new Values(
                    1.5f,
                    Instant.ofEpochSecond(-5, 999_999_999),
                    Duration.ofNanos(-1),
                    UUID.randomUUID(),
                    new BigDecimal("-12345678901234567890.000100"),
                    BigInteger.TWO.pow(9_000).negate(),
                    LocalDate.of(-44, 3, 15),
                    LocalTime.MAX,
                    LocalDateTime.MIN);
            assertEquals(values, remote.values(values));
            Values none = new Values(null, null, null, null, null, null, null, null, null);
            assertEquals(none, remote.values(none));
            List<Number> numbers =
                    List.of((byte) 1, (short) 2, 3, 4L, 5f, 6.0, BigInteger.TEN, new BigDecimal("1e400"));
            assertEquals(numbers, remote.numbers(numbers));
            Box<Long> box = new Box<>(4L, List.of(5L));
            Pair<String, Long> pair = remote.pair(new Pair<>("left", new Box[] {box, null}));
            assertEquals("left", pair.left());
            assertEquals(List.of(box), List.of(pair.rights()[0]));
            for (Figure<Integer> figure :
                    List.of(new Circle<>(1), new Square<>(2, new Square<>(3, Fixed.ORIGIN)), Fixed.ORIGIN)) {
                assertEquals(figure, remote.figure(figure));
            }
            assertEquals(new Box<>(4, List.of(1)), remote.put("abc", new Box<>(1, List.of(1))));
            assertEquals(List.of(new Box<>(1, List.of())), remote.all(Map.of("a", new Box<>(1, List.of()))));
        }
    }

    record Nest<T>(T value, Nest<List<T>> next) {}

    @Test
    void shouldSayWhichTypesCannotTravel() {
        @RemoteService
        interface Raw {
            Box<?> any();
        }
        @RemoteService
        interface Endless {
            Nest<String> nest();
        }
        @RemoteService
        interface Own {
            <T> T own();
        }
        try (World world = world()) {
            for (Map.Entry<Class<?>, String> each : Map.of(
                            Raw.class, "Object", Endless.class, "contain", Own.class, "T of")
                    .entrySet()) {
                IllegalArgumentException no = assertThrows(
                        IllegalArgumentException.class, () -> world.of(0).service(1, each.getKey()));
                assertTrue(String.valueOf(no.getMessage()).contains(each.getValue()), no::toString);
            }
        }
    }

    @Test
    void shouldRunDefaultMethodsOfInterfacesThatAreNotPublic() {
        try (World world = world()) {
            Hidden.export(world.of(0));
            assertEquals("=450", Hidden.call(world.of(1), 0));
        }
    }

    @Test
    void shouldNameTheSerialiserThatIsNotThere() {
        @RemoteService(serializer = "nobody's")
        interface Served {
            int number();
        }
        try (World world = world()) {
            IllegalArgumentException no = assertThrows(
                    IllegalArgumentException.class, () -> world.of(0).service(1, Served.class));
            assertTrue(String.valueOf(no.getMessage()).contains("\"nobody's\""), no::toString);
        }
    }
}
