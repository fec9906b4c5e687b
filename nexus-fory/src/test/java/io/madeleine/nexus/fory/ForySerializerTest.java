package io.madeleine.nexus.fory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.nexus.Context;
import io.madeleine.nexus.NexusException;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.messages.LocalSessions;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two versions of a program in one JVM, each in a class loader of its own, that call each other. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForySerializerTest {
    private static final String COMMON = """
            package shop;
            import io.madeleine.nexus.*;
            import java.util.*;
            import java.util.concurrent.*;
            public class Program implements Runnable {
                public enum Kind { %s }
                public sealed interface Paid permits Cash, Card {}
                public record Cash(%s) implements Paid {}
                public record Card(String number) implements Paid {}
                public record Order(%s) {}
                @RemoteService(name = "shop", serializer = "fory")
                public interface Shop {
                    Order change(Order order);
                    List<Order> all(Map<String, Order> named);
                    CompletableFuture<String> paid(Paid paid);
                    Flow.Publisher<Order> stream(Flow.Publisher<Order> orders);
                    List<Order> same(List<Order> orders);
                    Map<String, Set<Order>> sets(Map<String, Set<Order>> orders);
                    int number(long other);
                    Object any(Object any);
                    %s
                }
                public static Context context;
                public static String result;
                %s
            }
            """;

    private static final String V1 =
            COMMON.formatted("SMALL, LARGE", "long cents", "long id, String name, Kind kind, Paid paid", "", """
            public void run() {
                context.export(Shop.class, new Shop() {
                    public Order change(Order order) {
                        return order == null ? null : new Order(order.id() + 1, order.name() + "!", order.kind(), order.paid());
                    }
                    public List<Order> all(Map<String, Order> named) { return List.copyOf(named.values()); }
                    public CompletableFuture<String> paid(Paid paid) {
                        return CompletableFuture.completedFuture(paid.toString());
                    }
                    public Flow.Publisher<Order> stream(Flow.Publisher<Order> orders) { return orders; }
                    public List<Order> same(List<Order> orders) { return orders; }
                    public Map<String, Set<Order>> sets(Map<String, Set<Order>> orders) { return orders; }
                    public int number(long other) { return (int) other + 1; }
                    public Object any(Object any) { return any; }
                });
            }
            """);

    private static final String V2 = COMMON.formatted(
            "TINY, SMALL, LARGE",
            "long cents, String currency",
            "String note, Paid paid, int quantity, long id, Kind kind",
            "String added(int number);",
            """
            public void run() {
                Shop shop = context.service(0, Shop.class);
                Order order = new Order("soon", new Cash(5, "EUR"), 7, 1, Kind.LARGE);
                List<Object> results = new ArrayList<>();
                results.add(shop.change(order));
                results.add(shop.all(Map.of("a", order)));
                results.add(shop.paid(new Cash(6, "EUR")).join());
                results.add(shop.paid(new Card("7")).join());
                results.add(Publishers.toList(shop.stream(Publishers.of(List.of(order, order)))).join().size());
                for (int i = 0; i < 2; i++) {
                    results.add(shop.same(List.of(order, order)).size());
                    results.add(shop.same(Arrays.asList(null, order)).get(1).id());
                    results.add(shop.sets(Map.of("a", Set.of(order))).get("a").iterator().next().id());
                }
                results.add(shop.number(41));
                results.add(shop.change(null) == null ? "" : "not null");
                result = results.toString();
            }
            """);

    @TempDir
    Path folder;

    private Class<?> compile(String name, String source) throws IOException, ClassNotFoundException {
        Path version = Files.createDirectories(folder.resolve(name));
        Path file = Files.writeString(version.resolve("Program.java"), source);
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        version.toString(),
                        file.toString());
        assertEquals(0, failed);
        URLClassLoader loader = new URLClassLoader(
                new URL[] {version.toUri().toURL()}, getClass().getClassLoader());
        return loader.loadClass("shop.Program");
    }

    private static void run(Class<?> program, Context context) throws Exception {
        program.getField("context").set(null, context);
        ((Runnable) program.getConstructor().newInstance()).run();
    }

    @Test
    void shouldLetTwoVersionsOfAServiceUnderstandEachOther() throws Exception {
        Class<?> older = compile("v1", V1);
        Class<?> newer = compile("v2", V2);
        List<LoopTm> links = List.of(
                LoopTm.withStaticBuffers("short", AggregationMode.ASYMMETRIC, 112, 1024),
                LoopTm.withDynamicBuffers("stream", LinkMode.BUFFER_GROUP, AggregationMode.SYMMETRIC, Long.MAX_VALUE));
        try (LocalSessions sessions = LocalSessions.of(2).loop("loop", links).open();
                Context server = Context.open(sessions.session(0));
                Context client = Context.open(sessions.session(1))) {
            run(older, server);
            try {
                run(newer, client);
            } catch (InvocationTargetException e) {
                throw new AssertionError(e.getCause());
            }
            String result = String.valueOf(newer.getField("result").get(null));
            assertTrue(
                    result.startsWith(
                            "[Order[note=null, paid=Cash[cents=5, currency=null], quantity=0, id=2, kind=LARGE],"),
                    result);
            assertTrue(result.endsWith(", Cash[cents=6], Card[number=7], 2, 2, 1, 1, 2, 1, 1, 42, ]"), result);
        }
    }

    private static final String ITEMS = """
            package shop;
            import java.util.*;
            public class Program {
                public enum Colour { %s }
                public sealed interface Paid permits %s {}
                public record Cash(long cents) implements Paid {}
                public record Item(String name, Colour colour%s, int quantity) {}
                %s
            }
            """;

    private static final String NEWER_ITEMS = ITEMS.formatted(
            "RED, BLUE, GREEN",
            "Cash, Card",
            ", Colour added, Size size, List<Size> list, Set<Size> set, Map<Size, Sized> map, Optional<Size> optional",
            """
            public enum Size { SMALL, LARGE }
            public record Sized(Size size) {}
            public record Card(Size size, String number) implements Paid {}
            public static final Object CARD = new Card(Size.SMALL, "7");
            static Item item(Colour added, Size size) {
                return size == null
                        ? new Item("a", Colour.RED, added, null, null, null, null, null, 7)
                        : new Item("a", Colour.RED, added, size, Arrays.asList(null, size), EnumSet.of(size),
                                new EnumMap<>(Map.of(size, new Sized(size))), Optional.of(size), 7);
            }
            public static final List<Item> ITEMS = List.of(
                    item(null, null), item(Colour.RED, null), item(Colour.GREEN, Size.LARGE), item(null, Size.SMALL));
            """);

    /** A pool for the values that {@code NEWER_ITEMS} makes, as an interface that mentions them would have it. */
    private static ForyPool itemsOf(Class<?> program) {
        Reachable reachable = new Reachable();
        for (Class<?> each : program.getDeclaredClasses()) {
            reachable.add(each);
        }
        return new ForyPool(program.getClassLoader(), reachable.classes());
    }

    @Test
    void shouldSkipAddedComponentsOfEnumsWhetherThisEndKnowsTheEnumOrNot() throws Exception {
        Class<?> program = compile("v2", NEWER_ITEMS);
        ForyPool newer = itemsOf(program);
        ForyPool older = itemsOf(compile("v1", ITEMS.formatted("RED, BLUE", "Cash", "", "")));
        List<?> items = (List<?>) program.getField("ITEMS").get(null);
        String read = "Item[name=a, colour=RED, quantity=7]";
        for (Object item : items) {
            assertEquals(item, newer.read(newer.write(item)));
            Object old = older.read(newer.write(item));
            assertEquals(read, old.toString(), item::toString);
            String back = newer.read(older.write(old)).toString();
            assertTrue(back.startsWith("Item[name=a, colour=RED, added=null, size=null, list=null,"), back);
        }
        assertEquals(
                List.of(read, read, read, read).toString(),
                older.read(newer.write(items)).toString());
    }

    @Test
    void shouldNameTheConstantOrTypeThatThisEndLacks() throws Exception {
        Class<?> program = compile("v2", NEWER_ITEMS);
        ForyPool newer = itemsOf(program);
        ForyPool older = itemsOf(compile("v1", ITEMS.formatted("RED, BLUE", "Cash", "", "")));
        List<?> items = (List<?>) program.getField("ITEMS").get(null);
        Object green = items.get(2).getClass().getMethod("added").invoke(items.get(2));
        byte[] constant = newer.write(green);
        NexusException no = assertThrows(NexusException.class, () -> older.read(constant));
        assertEquals("this end lacks a constant of an enum: Enum string GREEN not in [RED, BLUE]", no.getMessage());
        byte[] card = newer.write(program.getField("CARD").get(null));
        no = assertThrows(NexusException.class, () -> older.read(card));
        assertEquals(
                "the other end has sent a value of a type that this end lacks: shop.Program$Card", no.getMessage());
    }

    /** Where the JDK's lookup is not open to Fory and {@code sun.misc.Unsafe} is denied. */
    public static final class Closed {
        private Closed() {}

        /** Prints why there is no Fory. */
        public static void main(String[] args) {
            System.out.println(new ForySerializer().unavailable().orElse("it works"));
        }
    }

    @Test
    void shouldSayWhichFlagIsMissing() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--sun-misc-unsafe-memory-access=deny",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Closed.class.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertTrue(said.contains("--add-opens java.base/java.lang.invoke=org.apache.fory.core"), said);
        assertTrue(new ForySerializer().unavailable().isEmpty());
    }

    record Level(@Nullable Object below) {}

    private static Level levels(int count) {
        Level top = new Level(null);
        for (int i = 1; i < count; i++) {
            top = new Level(top);
        }
        return top;
    }

    @Test
    void shouldCarryValuesAsDeepAsItSaysWhateverTheStackAndRefuseDeeperOnes() throws Exception {
        ForyPool pool = new ForyPool(getClass().getClassLoader(), List.of(Level.class));
        FutureTask<Void> task = new FutureTask<>(() -> {
            int depth = 0;
            for (Object next = pool.read(pool.write(levels(1_000)));
                    next instanceof Level level;
                    next = level.below()) {
                depth++;
            }
            assertEquals(1_000, depth);
            for (int count : new int[] {1_100, 5_000, 200_000}) {
                NexusException no = assertThrows(NexusException.class, () -> pool.read(pool.write(levels(count))));
                assertTrue(String.valueOf(no.getMessage()).contains("deeper than 1024"), no::toString);
            }
            return null;
        });
        Thread.ofPlatform().stackSize(256 << 10).start(task);
        task.get(50, TimeUnit.SECONDS);
    }

    @Test
    void shouldReadOnlyClassesThatTheInterfaceMentions() {
        record Known(int number, Object any) {}
        record Unknown(int number) {}
        ForyPool pool = new ForyPool(getClass().getClassLoader(), List.of(Known.class));
        ForyPool peer = new ForyPool(getClass().getClassLoader(), List.of(Known.class, Unknown.class));
        assertEquals(new Known(1, "a"), pool.read(pool.write(new Known(1, "a"))));
        assertThrows(RuntimeException.class, () -> pool.write(new Known(1, new Unknown(2))));
        byte[] foreign = peer.write(new Known(1, new Unknown(2)));
        Object read;
        try {
            read = pool.read(foreign);
        } catch (RuntimeException e) {
            return;
        }
        assertTrue(!read.toString().contains("Unknown[number=2]"), read::toString); // not made
    }

    sealed interface Shape permits Square {}

    record Square(int side) implements Shape {}

    @Test
    void shouldSayThatACollectionHasToBeCopied() {
        ForyPool pool = new ForyPool(getClass().getClassLoader(), List.of(Square.class));
        assertEquals(List.of(new Square(1)), pool.read(pool.write(List.of(new Square(1)))));
        List<Shape> view = Arrays.<Shape>asList(new Square(1));
        NexusException no = assertThrows(NexusException.class, () -> pool.write(view));
        assertTrue(String.valueOf(no.getMessage()).contains("Shape"), no::toString);
        assertTrue(String.valueOf(no.getMessage()).contains("send copies in an ArrayList"), no::toString);
        assertEquals(view, pool.read(pool.write(new ArrayList<>(view))));
        byte[] withNull = pool.write(Stream.of("a", null).toList());
        no = assertThrows(NexusException.class, () -> pool.read(withNull));
        assertTrue(String.valueOf(no.getMessage()).contains("send copies in an ArrayList"), no::toString);
        byte[] nested = pool.write(Arrays.asList(List.of("a"), List.of("b")));
        no = assertThrows(NexusException.class, () -> pool.read(nested));
        assertTrue(String.valueOf(no.getMessage()).contains("send copies in an ArrayList"), no::toString);
    }
}
