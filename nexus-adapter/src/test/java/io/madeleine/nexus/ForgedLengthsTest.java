package io.madeleine.nexus;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.nexus.codec.Types;
import io.madeleine.nexus.wan.Credentials;
import io.madeleine.nexus.wan.Handshake;
import io.madeleine.nexus.wan.Listener;
import io.madeleine.nexus.wan.SealedConnection;
import io.madeleine.nexus.wire.Bytes;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.NodeId;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Type;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Lengths that are forged, in values, in requests on channels, and in those on connections: memory is taken for what is
 * there, and errors say what it was about. Which are forged is random, the same in each run.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForgedLengthsTest {
    private static final int[] LENGTHS = {
        -1,
        -2,
        -70_000,
        Integer.MIN_VALUE,
        Integer.MAX_VALUE,
        1 << 30,
        1 << 26,
        (1 << 26) - 1,
        1 << 24,
        1 << 20,
        70_000,
        65_536,
        4_096,
        1_024,
        1_023,
        300,
        100,
        1,
        0,
        1 << 31 | 1 << 26,
        1 << 31 | 5
    };
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Random random = new Random(7);
    private final Logger logger = Logger.getLogger("io.madeleine.nexus");
    private final Queue<String> logged = new ConcurrentLinkedQueue<>();

    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            logged.add(line.getMessage() + " " + line.getThrown());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    /** Contains itself. */
    public record Tree(@Nullable String name, Tree @Nullable [] children) {}

    /** Gives its types. */
    interface Samples {
        List<String> list();

        Map<String, List<Integer>> map();

        String[][] arrays();

        Tree tree();

        long[] numbers();
    }

    @BeforeEach
    void hear() {
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
    }

    @AfterEach
    void stopHearing() {
        logger.removeHandler(handler);
        logger.setUseParentHandlers(true);
    }

    private void forge(byte[] bytes, int from, int to) {
        int at = from + random.nextInt(to - Integer.BYTES - from + 1);
        MemorySegment.ofArray(bytes).set(RequestLayout.INT, at, LENGTHS[random.nextInt(LENGTHS.length)]);
    }

    private static Codec<Object> codec(Codecs codecs, String method) throws NoSuchMethodException {
        Type type = Types.resolve(Samples.class.getDeclaredMethod(method).getGenericReturnType(), Map.of());
        return codecs.find(type);
    }

    /** How many bytes reading takes; what does not come whole is said to be so. */
    private static long bytesToRead(Context context, Codec<Object> codec, byte[] bytes) {
        Request request = Greeting.unit(context.node(), bytes, 0);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try {
            codec.read(request);
        } catch (NexusException e) {
            assertTrue(e.getMessage().contains("rank 0") || e.getMessage().contains("deep"), e::toString);
        } catch (IllegalArgumentException e) {
            assertTrue(e.getMessage().contains("rank 0"), e::toString);
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    @Test
    void shouldTakeMemoryForTheElementsThatAreThereAndNameWhatIsForged() throws Exception {
        Tree leaf = new Tree("leaf", new Tree[0]);
        Map<String, Object> samples = new LinkedHashMap<>();
        samples.put("list", List.of("a", "bcd", "", "e".repeat(300)));
        samples.put("map", Map.of("a", List.of(1, 2, 3), "b", List.of()));
        samples.put("arrays", new String[][] {{"a", "b"}, {}, {"c"}});
        samples.put("tree", new Tree(null, new Tree[] {leaf, new Tree("twig", new Tree[] {leaf, leaf}), leaf}));
        samples.put("numbers", new long[] {1, 2, 3});
        try (World world = new World("sci", 1, _ -> {})) {
            Codecs codecs = new Codecs(100);
            for (Map.Entry<String, Object> each : samples.entrySet()) {
                Codec<Object> codec = codec(codecs, each.getKey());
                Arguments arguments = new Arguments();
                codec.write(arguments, each.getValue());
                byte[] right = ArgumentCopies.inline(arguments);
                for (int i = 0; i < 300; i++) {
                    byte[] forged = Arrays.copyOf(right, right.length + random.nextInt(3) * 20_000);
                    forge(forged, 0, right.length);
                    long bytes = bytesToRead(world.of(0), codec, forged);
                    assertTrue(
                            bytes < 1_000_000 + 50L * forged.length,
                            () -> bytes + " bytes are taken for " + forged.length + " of " + each.getKey());
                }
            }
        }
    }

    /** Each lies in the one before, and announces as many elements as there are bytes. */
    @Test
    void shouldNotTakeMemoryForWhatEachOfManyNestedArraysAnnounces() throws Exception {
        byte[] bytes = new byte[400_000];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        int levels = 40;
        for (int i = 0; i < levels; i++) { // a tree that is there, without a name, an array that is there, its length
            int at = i * 7;
            bytes[at] = 1;
            bytes[at + 2] = 1;
            memory.set(RequestLayout.INT, at + 3, bytes.length - at - 7);
        }
        try (World world = new World("sci", 1, _ -> {})) {
            Codec<Object> tree = codec(new Codecs(1024), "tree");
            long taken = bytesToRead(world.of(0), tree, bytes);
            assertTrue(taken < 20L * bytes.length, () -> taken + " bytes are taken for " + bytes.length);
        }
    }

    private static Arguments arguments() {
        return new Arguments()
                .putInt(7)
                .putString("abc")
                .putBytes(new byte[2_000])
                .putString("d".repeat(100))
                .putBytes(new byte[3_000]);
    }

    private static void takeAll(Request request) {
        request.getInt();
        while (request.remaining() > 0) {
            request.getBytes();
        }
    }

    /** Into memory of its own: what comes from a member goes straight there. */
    private static void takeAllInPlace(Request request) {
        request.getInt();
        while (request.remaining() > 0) {
            request.get(MemorySegment.ofArray(new byte[(int) Math.min(request.nextBytes(), 10_000)]));
        }
    }

    /** As a member sends it; see {@link RequestLayout}. */
    private static void sendForged(Context from, byte[] inline, int sizes, String name) {
        Bytes bytes = Bytes.allocate(RequestLayout.HEADER_BYTES + inline.length);
        MemorySegment.copy(inline, 0, bytes.segment(), RequestLayout.BYTE, RequestLayout.HEADER_BYTES, inline.length);
        bytes.putInt(RequestLayout.ENDPOINT_OFFSET, RequestLayout.endpointId("e"));
        bytes.putInt(RequestLayout.HANDLER_OFFSET, RequestLayout.id(name));
        bytes.putInt(RequestLayout.SIZES_OFFSET, sizes);
        OutgoingMessage message = from.node().session().channel().beginPacking(0);
        message.pack(bytes.segment(), 0, RequestLayout.FIRST_BYTES, SendMode.SAFER, EXPRESS);
        message.pack(
                bytes.segment(),
                RequestLayout.FIRST_BYTES,
                bytes.size() - RequestLayout.FIRST_BYTES,
                SendMode.SAFER,
                EXPRESS);
        message.pack(MemorySegment.ofArray(new byte[2_000]), 0, 2_000, SendMode.SAFER, EXPRESS);
        message.pack(MemorySegment.ofArray(new byte[3_000]), 0, 3_000, SendMode.SAFER, CHEAPER);
        message.endPacking();
        message.close();
    }

    @Test
    void shouldDropForgedRequestsOfAMemberAndServeTheNext() {
        int count = 100;
        AtomicInteger good = new AtomicInteger();
        ContextOptions options = ContextOptions.DEFAULT.withMaxReceivedBytes(4 << 20);
        try (World world = new World(
                "sci",
                2,
                options,
                context -> context.endpoint("e")
                        .nonThreaded("now", (_, request) -> takeAll(request))
                        .threaded("later", (_, request) -> takeAllInPlace(request))
                        .nonThreaded("good", (_, _) -> good.incrementAndGet()))) {
            Startpoint there = world.of(1).startpoint(0, "e");
            byte[] right = ArgumentCopies.inline(arguments());
            MemorySegment table = MemorySegment.ofArray(new byte[3 * Integer.BYTES]);
            table.set(RequestLayout.INT, 0, 11);
            table.set(RequestLayout.INT, 4, 11 + 8 + 104);
            table.set(RequestLayout.INT, 8, -2);
            byte[] whole = Arrays.copyOf(right, right.length + (int) table.byteSize());
            MemorySegment.copy(table, RequestLayout.BYTE, 0, whole, right.length, (int) table.byteSize());
            sendForged(world.of(1), whole, whole.length | RequestLayout.HAS_BULKS, "now"); // this one is right
            there.rsr("good", new Arguments());
            World.await(() -> good.get() == 1);
            assertEquals(List.of(), List.copyOf(logged));
            long before = THREADS.getTotalThreadAllocatedBytes();
            for (int i = 0; i < count; i++) {
                byte[] forged = whole.clone();
                int sizes = forged.length | RequestLayout.HAS_BULKS;
                if (i % 5 == 0) {
                    sizes = LENGTHS[random.nextInt(LENGTHS.length)];
                } else {
                    forge(forged, 0, forged.length);
                }
                sendForged(world.of(1), forged, sizes, i % 2 == 0 ? "now" : "later");
                there.rsr("good", new Arguments());
                int expected = i + 2;
                World.await(() -> good.get() == expected);
            }
            long taken = THREADS.getTotalThreadAllocatedBytes() - before;
            assertTrue(taken < count * (1L << 20), () -> taken + " bytes are taken for " + count + " requests");
            assertTrue(!logged.isEmpty());
            for (String line : logged) {
                boolean isToldBack = line.startsWith("rank 1: rank 0 refused") && line.contains("TOO_LARGE");
                assertTrue(isToldBack || line.contains("from rank 1") || line.contains("more like these"), line);
            }
        }
    }

    /** What a reader says of a frame, after which nothing comes. */
    private static String endOf(
            Node node, Listener listener, Credentials key, BlockingQueue<SealedConnection> called, byte[] frame)
            throws Exception {
        WanRoute route;
        try (SealedConnection guest = Handshake.connect("127.0.0.1", listener.port(), key, 10_000)) {
            SealedConnection connection = called.poll(10, TimeUnit.SECONDS);
            assertNotNull(connection);
            route = new WanRoute(node, node.nodes().of(new NodeId("guest.x", "default", 0)), connection, null, false);
            route.start();
            guest.write(frame, 0, frame.length);
        }
        World.await(() -> route.lost() != null);
        return String.valueOf(route.lost());
    }

    @Test
    void shouldTakeMemoryForWhatAGuestSendsAndNameWhatItForges() throws Exception {
        int count = 45;
        Credentials key = new Credentials(new byte[32], null);
        BlockingQueue<SealedConnection> called = new ArrayBlockingQueue<>(4);
        try (World world = new World(
                        "sci",
                        1,
                        context -> context.endpoint("e")
                                .nonThreaded("now", (_, request) -> takeAll(request))
                                .threaded("later", (_, request) -> takeAll(request)));
                Listener listener = new Listener(new InetSocketAddress("127.0.0.1", 0), key, 10_000, called::add)) {
            Node node = world.of(0).node();
            node.grants().begin();
            Link open = node.grants().granted(0, RequestLayout.endpointId("e"));
            byte[] right = WanLayout.whole(arguments(), open, RequestLayout.id("now"));
            String closed = "it has closed its connection, or its process has died";
            assertEquals(closed, endOf(node, listener, key, called, right));
            byte[] endless = right.clone();
            MemorySegment.ofArray(endless).set(RequestLayout.INT, WanLayout.INLINE_OFFSET, Integer.MAX_VALUE);
            assertEquals(closed, endOf(node, listener, key, called, endless)); // what it brings is skipped
            for (int[] forged : new int[][] {
                {WanLayout.INLINE_OFFSET, -5},
                {WanLayout.BULK_COUNT_OFFSET, 1 << 20},
                {WanLayout.HEADER_BYTES, 5}
            }) {
                byte[] frame = right.clone();
                MemorySegment.ofArray(frame).set(RequestLayout.INT, forged[0], forged[1]);
                String why = endOf(node, listener, key, called, frame);
                assertTrue(why.contains("was announced: expected at"), why);
            }
            long before = THREADS.getTotalThreadAllocatedBytes();
            for (int i = 0; i < count; i++) {
                boolean isCall = i % 3 == 2;
                Link link = isCall ? Link.SYSTEM : open;
                int id = isCall ? Calls.CALL : RequestLayout.id(i % 3 == 0 ? "now" : "later");
                byte[] frame = WanLayout.whole(arguments(), link, id);
                int from = i % 2 == 0 ? 0 : WanLayout.HEADER_BYTES;
                do {
                    frame = WanLayout.whole(arguments(), link, id);
                    forge(frame, from, from + WanLayout.HEADER_BYTES);
                } while (MemorySegment.ofArray(frame).get(RequestLayout.INT, 0) == WanRoute.SIGN);
                String why = endOf(node, listener, key, called, frame);
                assertTrue(!why.contains("OutOfMemory"), why);
            }
            long taken = THREADS.getTotalThreadAllocatedBytes() - before;
            assertTrue(taken < count * (2L << 20), () -> taken + " bytes are taken for " + count + " frames");
        }
    }

    @Test
    void shouldNotTakeMemoryForAnAnnouncedGreeting() throws Exception {
        Credentials key = new Credentials(new byte[32], null);
        BlockingQueue<SealedConnection> called = new ArrayBlockingQueue<>(4);
        try (Listener listener = new Listener(new InetSocketAddress("127.0.0.1", 0), key, 10_000, called::add);
                SealedConnection guest = Handshake.connect("127.0.0.1", listener.port(), key, 10_000);
                SealedConnection connection = called.poll(10, TimeUnit.SECONDS)) {
            assertNotNull(connection);
            guest.write(new byte[] {0x7F, 0, 0, 0}, 0, Integer.BYTES);
            String why = assertThrows(java.io.IOException.class, () -> connection.readUnit(Greeting.MAX_BYTES))
                    .getMessage();
            assertTrue(why.contains("a unit of 2130706432 bytes is announced: expected at most 65536"), why);
        }
    }
}
