package io.madeleine.nexus;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.nexus.wire.Bytes;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A sender that stops in the midst of a request holds up nobody but itself. */
@ParameterizedClass
@ValueSource(strings = {"sci", "tcp"})
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SlowSenderTest {
    private static final int BULK = 200_000;
    private static final int COUNT = 2_000;

    @Parameter
    String network;

    private final Queue<String> taken = new ConcurrentLinkedQueue<>();
    private final AtomicInteger others = new AtomicInteger();

    private void setUp(Context context) {
        context.endpoint("e")
                .nonThreaded("bulks", (_, request) -> {
                    String sums = "";
                    while (request.remaining() > 0) {
                        byte[] bytes = request.getBytes();
                        int sum = 0;
                        for (byte each : bytes) {
                            sum += each;
                        }
                        sums += " " + sum;
                    }
                    taken.add("bulks" + sums);
                })
                .nonThreaded("many", (_, request) -> taken.add("many " + request.remaining()))
                .nonThreaded("last", (_, _) -> taken.add("last"))
                .nonThreaded("other", (_, _) -> others.incrementAndGet());
    }

    /**
     * A request as {@link RequestLayout} lays it out, up to its small arguments; their first {@code whole} pieces only.
     */
    private static OutgoingMessage begin(World world, String handler, Bytes inline, int sizes) {
        OutgoingMessage message = world.of(1).node().session().channel().beginPacking(0);
        inline.putInt(RequestLayout.ENDPOINT_OFFSET, RequestLayout.endpointId("e"));
        inline.putInt(RequestLayout.HANDLER_OFFSET, RequestLayout.id(handler));
        inline.putInt(RequestLayout.SIZES_OFFSET, sizes);
        message.pack(inline.segment(), 0, RequestLayout.FIRST_BYTES, SendMode.SAFER, EXPRESS);
        return message;
    }

    private static byte[] bulk(int value) {
        byte[] bulk = new byte[BULK];
        Arrays.fill(bulk, (byte) value);
        return bulk;
    }

    private static void putLength(Bytes inline, int offset) {
        inline.putInt(offset, -1);
        inline.putInt(offset + Integer.BYTES, BULK);
    }

    private void otherSends(World world) {
        Startpoint there = world.of(2).startpoint(0, "e");
        int before = others.get();
        for (int i = 0; i < COUNT; i++) {
            there.rsr("other", new Arguments().putInt(i));
        }
        World.await(() -> others.get() == before + COUNT);
    }

    @Test
    void shouldServeOthersWhileTheOnlyLargeArgumentIsOnItsWay() {
        try (World world = new World(network, 3, this::setUp)) {
            Bytes inline = Bytes.allocate(RequestLayout.FIRST_BYTES);
            putLength(inline, RequestLayout.HEADER_BYTES);
            try (OutgoingMessage message = begin(world, "bulks", inline, 12 | RequestLayout.HAS_BULKS)) {
                message.pack(MemorySegment.ofArray(bulk(1)), SendMode.CHEAPER, CHEAPER);
                otherSends(world);
                assertEquals(List.of(), List.copyOf(taken));
                message.endPacking();
            }
            world.of(1).startpoint(0, "e").rsr("last", new Arguments());
            World.await(() -> taken.size() == 2);
            assertEquals(List.of("bulks " + BULK, "last"), List.copyOf(taken));
        }
    }

    @Test
    void shouldServeOthersWhileTheSecondOfSeveralLargeArgumentsIsOnItsWay() {
        try (World world = new World(network, 3, this::setUp)) {
            Bytes inline = Bytes.allocate(RequestLayout.FIRST_BYTES);
            putLength(inline, RequestLayout.HEADER_BYTES);
            putLength(inline, RequestLayout.HEADER_BYTES + 8);
            inline.putInt(RequestLayout.HEADER_BYTES + 16, 0);
            inline.putInt(RequestLayout.HEADER_BYTES + 20, 8);
            inline.putInt(RequestLayout.HEADER_BYTES + 24, -2);
            try (OutgoingMessage message = begin(world, "bulks", inline, 28 | RequestLayout.HAS_BULKS)) {
                message.pack(MemorySegment.ofArray(bulk(1)), SendMode.CHEAPER, EXPRESS);
                otherSends(world);
                assertEquals(List.of(), List.copyOf(taken));
                message.pack(MemorySegment.ofArray(bulk(2)), SendMode.CHEAPER, CHEAPER);
                message.endPacking();
            }
            world.of(1).startpoint(0, "e").rsr("last", new Arguments());
            World.await(() -> taken.size() == 2);
            assertEquals(List.of("bulks " + BULK + " " + 2 * BULK, "last"), List.copyOf(taken));
        }
    }

    @Test
    void shouldServeOthersWhileSmallArgumentsAreOnTheirWay() {
        int inlineBytes = 300_000;
        try (World world = new World(network, 3, this::setUp)) {
            Bytes inline = Bytes.allocate(RequestLayout.HEADER_BYTES + inlineBytes);
            try (OutgoingMessage message = begin(world, "many", inline, inlineBytes)) {
                for (int at = RequestLayout.FIRST_BYTES; at < inline.size(); ) {
                    int to = RequestLayout.pieceEnd(at, inline.size());
                    message.pack(inline.segment(), at, to - at, SendMode.SAFER, EXPRESS);
                    at = to;
                    otherSends(world);
                    assertEquals(List.of(), List.copyOf(taken));
                }
                message.endPacking();
            }
            world.of(1).startpoint(0, "e").rsr("last", new Arguments());
            World.await(() -> taken.size() == 2);
            assertEquals(List.of("many " + inlineBytes, "last"), List.copyOf(taken));
        }
    }

    /** The memory for it is given back, and the sender's next request is carried out. */
    @ParameterizedTest
    @ValueSource(ints = {1, 20})
    void shouldDropARequestWhoseSenderGivesItUp(int times) {
        try (World world = new World(network, 3, this::setUp)) {
            for (int i = 0; i < times; i++) {
                Bytes inline = Bytes.allocate(RequestLayout.FIRST_BYTES);
                putLength(inline, RequestLayout.HEADER_BYTES);
                OutgoingMessage message = begin(world, "bulks", inline, 12 | RequestLayout.HAS_BULKS);
                message.pack(MemorySegment.ofArray(bulk(1)), SendMode.CHEAPER, CHEAPER);
                message.close();
            }
            Startpoint there = world.of(1).startpoint(0, "e");
            there.rsr("bulks", new Arguments().putBytes(bulk(3)));
            there.rsr("last", new Arguments());
            World.await(() -> taken.size() == 2);
            assertEquals(List.of("bulks " + 3 * BULK, "last"), List.copyOf(taken));
        }
    }

    @Test
    void shouldRefuseLargeArgumentsForWhichThereIsNoRoom() {
        ContextOptions options = ContextOptions.DEFAULT.withMaxReceivedBytes(6 << 20);
        try (World world = new World(network, 2, options, this::setUp)) {
            Startpoint there = world.of(1).startpoint(0, "e");
            there.rsr("bulks", new Arguments().putBytes(new byte[2 << 20]));
            there.rsr("last", new Arguments());
            there.rsr("bulks", new Arguments().putBytes(new byte[1 << 20]));
            World.await(() -> taken.size() == 2 && world.of(1).refusedCount() == 1);
            assertEquals(List.of("last", "bulks 0"), List.copyOf(taken));
            for (int i = 0; i < 20; i++) { // what has been received is counted no longer
                there.rsr("bulks", new Arguments().putBytes(new byte[1_500_000]));
            }
            World.await(() -> taken.size() == 22);
            assertTrue(world.of(1).refusedCount() == 1);
        }
    }
}
