package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.nexus.wire.Bytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What can be put into a request, of any size, and what is refused. The tests' heap is small (see the pom). */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ArgumentsTest {
    /** A value with a codec of its own. */
    private record Span(int from, String to) {
        static final Codec<Span> CODEC = Codec.of(
                (span, arguments) -> arguments.putInt(span.from).putString(span.to),
                request -> new Span(request.getInt(), request.getString()));
    }

    private record Money(long cents) {
        Money {
            if (cents < 0) {
                throw new IllegalArgumentException("less than nothing: " + cents);
            }
        }
    }

    /** Has rank 0 take what rank 1 sends, in a threaded handler. */
    private static void send(Arguments arguments, Handler taking) {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicInteger done = new AtomicInteger();
        try (World world = new World(
                "sci",
                2,
                context -> context.endpoint("e").threaded("take", (endpoint, request) -> {
                    try {
                        taking.handle(endpoint, request);
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                    done.incrementAndGet();
                }))) {
            world.of(1).startpoint(0, "e").rsr("take", arguments);
            World.await(() -> done.get() == 1);
        }
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }

    @Test
    void shouldBringArraysOfEveryTypeSmallAndLarge() {
        Arguments arguments = new Arguments();
        int[] sizes = {0, 3, 70_000};
        for (int size : sizes) {
            arguments
                    .putShorts(shorts(size))
                    .putChars(chars(size))
                    .putFloats(floats(size))
                    .putDoubles(doubles(size));
        }
        send(arguments, (_, request) -> {
            for (int size : sizes) {
                assertArrayEquals(shorts(size), request.getShorts());
                assertArrayEquals(chars(size), request.getChars());
                assertArrayEquals(floats(size), request.getFloats());
                assertArrayEquals(doubles(size), request.getDoubles());
            }
            assertEquals(0, request.remaining());
        });
    }

    private static short[] shorts(int size) {
        short[] array = new short[size];
        for (int i = 0; i < size; i++) {
            array[i] = (short) (i - 9);
        }
        return array;
    }

    private static char[] chars(int size) {
        char[] array = new char[size];
        for (int i = 0; i < size; i++) {
            array[i] = (char) (i + 'a');
        }
        return array;
    }

    private static float[] floats(int size) {
        float[] array = new float[size];
        for (int i = 0; i < size; i++) {
            array[i] = i / 7f;
        }
        return array;
    }

    private static double[] doubles(int size) {
        double[] array = new double[size];
        Arrays.setAll(array, i -> Math.sqrt(i));
        return array;
    }

    @Test
    void shouldBringRecordsByACodecOfTheirOwnAndByThatOfTheirType() {
        try (World world = new World("sci", 1, _ -> {})) {
            Codec<Money> derived = world.of(0).codecs().of(Money.class);
            Arguments arguments = new Arguments()
                    .put(new Span(3, "x".repeat(2_000)), Span.CODEC)
                    .put(new Money(99), derived)
                    .putBoolean(true) // as if there were
                    .putLong(-1);
            send(arguments, (_, request) -> {
                assertEquals(new Span(3, "x".repeat(2_000)), request.get(Span.CODEC));
                assertEquals(new Money(99), request.get(derived));
                IllegalArgumentException less =
                        assertThrows(IllegalArgumentException.class, () -> request.get(derived));
                assertEquals("less than nothing: -1", less.getMessage());
            });
        }
    }

    @Test
    void shouldRefuseToTakeAnArrayOfAnotherType() {
        send(new Arguments().putBytes(new byte[1_026]).putBytes(new byte[6]), (_, request) -> {
            assertThrows(NexusException.class, request::getInts);
            assertEquals(1_026, request.getBytes().length);
            assertThrows(NexusException.class, request::getLongs);
            assertThrows(IllegalArgumentException.class, () -> request.get(MemorySegment.ofArray(new byte[7])));
            assertEquals(6, request.getBytes().length);
        });
    }

    /** One request of three times the heap, of memory that is used again and again. */
    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldStreamRequestsThatNoMemoryHolds(String network) {
        int count = (int) (3 * Runtime.getRuntime().maxMemory() >> 20);
        byte[] block = new byte[1 << 20];
        Arrays.fill(block, (byte) 7);
        Arguments arguments = new Arguments();
        for (int i = 0; i < count; i++) {
            arguments.putBytes(block);
        }
        assertEquals(count * ((1L << 20) + Long.BYTES), arguments.byteSize());
        AtomicInteger right = new AtomicInteger();
        try (World world = new World(
                network,
                2,
                context -> context.endpoint("e").threaded("take", (_, request) -> {
                    byte[] target = new byte[block.length];
                    while (request.remaining() > 0) {
                        Arrays.fill(target, (byte) 0);
                        request.get(MemorySegment.ofArray(target));
                        right.addAndGet(Arrays.equals(target, block) ? 1 : 0);
                    }
                }))) {
            world.of(1).startpoint(0, "e").rsr("take", arguments);
            World.await(() -> right.get() == count);
        }
    }

    @Test
    void shouldCountTheBytesOfArgumentsBeyondFourGibibytes(@TempDir Path directory) throws Exception {
        long bytes = (5L << 30) + 13;
        try (World world = new World("sci", 1, _ -> {});
                FileChannel file = FileChannel.open(
                        directory.resolve("sparse"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.SPARSE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
                Arena arena = Arena.ofConfined()) {
            Arguments arguments = new Arguments().putSegment(file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena));
            assertEquals(bytes + Long.BYTES, arguments.byteSize());
            Bytes inline = Bytes.of(ArgumentCopies.inline(arguments));
            Request request = new Request(world.of(0).node());
            request.begin(inline, 0, inline.size(), 0);
            assertEquals(bytes, request.nextBytes());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldTakeNoMemoryForMoreThanAllowed(String network) {
        Queue<String> failed = new ConcurrentLinkedQueue<>();
        AtomicInteger lengths = new AtomicInteger();
        try (World world = new World(
                network,
                2,
                ContextOptions.DEFAULT.withMaxRequestBytes(10_000),
                context -> context.endpoint("e")
                        .nonThreaded("array", (_, request) -> lengths.addAndGet(request.getBytes().length))
                        .nonThreaded(
                                "segment",
                                (_, request) -> lengths.addAndGet(
                                        (int) request.getSegment(Arena.ofAuto()).byteSize()))
                        .nonThreaded("mine", (_, request) -> {
                            byte[] mine = new byte[(int) request.nextBytes()];
                            request.get(MemorySegment.ofArray(mine));
                            lengths.addAndGet(mine.length);
                        })
                        .nonThreaded("small ones", (_, request) -> lengths.addAndGet(request.remaining())))) {
            world.of(0).onHandlerFailure((_, handler, _, cause) -> failed.add(handler + ": " + cause.getMessage()));
            Startpoint there = world.of(1).startpoint(0, "e");
            byte[] more = new byte[10_001];
            there.rsr("array", new Arguments().putBytes(more));
            there.rsr("segment", new Arguments().putBytes(more));
            Arguments small = new Arguments();
            for (int i = 0; i < 2_000; i++) {
                small.putLong(i);
            }
            there.rsr("small ones", small);
            there.rsr("mine", new Arguments().putBytes(more)); // into memory of its own
            World.await(() -> lengths.get() == 10_001 && failed.size() == 2);
            List<String> all = List.copyOf(failed);
            assertTrue(all.get(0).startsWith("array: ") && all.get(1).startsWith("segment: "), all::toString);
            assertTrue(all.stream().allMatch(why -> why.contains("ContextOptions.maxRequestBytes")), all::toString);
        }
    }
}
