package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A peer writes anything at all where this process reads: connections to it may fail, with a reason; nothing else may
 * happen. Memory outside of a segment cannot be read unnoticed: that is an exception here.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CorruptPeerTest {
    private static final long RUN_NS = TimeUnit.SECONDS.toNanos(Boolean.getBoolean("thorough") ? 120 : 2);
    private static final int ROUNDS = 24;
    private static final long[] NOTABLE = {
        0,
        1,
        2,
        3,
        4,
        -1,
        -2,
        7,
        8,
        9,
        255,
        256,
        257,
        2047,
        2048,
        4095,
        4096,
        4097,
        8191,
        8193,
        1L << 20,
        1L << 26,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        1L << 32,
        1L << 40,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        Long.MAX_VALUE - 7
    };

    private final long seed = Long.getLong("seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);

    @TempDir
    Path directory;

    private Side a;
    private Side b;
    private Side.Pair lasting;
    private int talks;
    private int trials;

    @BeforeEach
    void open() {
        a = Side.open(directory, 1, Mortal.SETTINGS);
        b = Side.open(directory, 2, Mortal.SETTINGS);
        lasting = Side.Pair.of(a, b, "lasting");
        System.out.println("seed " + seed);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        System.out.println(trials + " trials");
    }

    private interface Trial {
        void run() throws Exception;
    }

    private void repeat(Trial trial) throws Exception {
        long endNs = System.nanoTime() + RUN_NS;
        while (System.nanoTime() < endNs) {
            try {
                trial.run();
            } catch (Exception | Error e) {
                throw new AssertionError("trial " + trials + " with -Dseed=" + seed + " failed: " + e, e);
            }
            trials++;
        }
    }

    private long anyValue() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextLong();
            case 1 -> random.nextInt(10_000);
            case 2 -> PacketHeader.of((int) notable(), random.nextInt(8), random.nextInt(3), random.nextInt(16));
            default -> notable();
        };
    }

    private long notable() {
        return NOTABLE[random.nextInt(NOTABLE.length)];
    }

    /** The connection that nobody meddles with still works. */
    private void assertLivingServed() {
        SciConnectionTest.sendLong(lasting.leftShort(), talks, talks);
        a.round();
        b.round();
        assertEquals(talks, SciConnectionTest.receiveLong(lasting.rightShort()));
        talks++;
    }

    // ---- connections in use

    /** Uses one end of a connection: sends on both links, takes what comes. */
    private final class User implements ConnectionListener {
        private final ProtocolConnection connection;
        private final BufferGroup group = new BufferGroup();
        private long sendingHeader;
        private int lostCount;
        private String lost = "";

        User(ProtocolConnection connection) {
            this.connection = connection;
            connection.start(this);
        }

        void send() {
            StaticLink small = (StaticLink) connection.links().getFirst();
            long offset = small.claim();
            if (offset >= 0) {
                small.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, random.nextLong());
                small.commit(PacketHeader.of(random.nextInt(257), 0, 0, PacketHeader.FIRST));
                VarHandle.fullFence();
                small.announce();
            }
            DynamicLink large = (DynamicLink) connection.links().getLast();
            int status = LinkStatus.COMPLETE;
            for (int i = 0; i < 3 && status == LinkStatus.COMPLETE; i++) {
                if (sendingHeader == 0) {
                    int bytes = random.nextInt(20_000);
                    group.add(MemorySegment.ofArray(new byte[bytes]), 0, bytes);
                    sendingHeader = PacketHeader.of(bytes, 0, 0, PacketHeader.FIRST);
                }
                status = large.send(sendingHeader, group, 0);
                sendingHeader = status == LinkStatus.COMPLETE ? 0 : sendingHeader;
            }
        }

        @Override
        public int onReadable() {
            int work = 0;
            for (TransmissionLink link : connection.links()) {
                for (int packets = 0; packets < ROUNDS && link.front() > 0; packets++) {
                    work += take(link, PacketHeader.payloadBytes(link.front()));
                }
            }
            return work;
        }

        private int take(TransmissionLink link, int bytes) {
            int left = Math.min(bytes, 1 << 20); // the layer above knows how much it wants, too
            BufferGroup into = Side.group(MemorySegment.ofArray(new byte[left]));
            while (!into.isEmpty()) {
                if (random.nextBoolean()
                        && into.remainingBytes() == bytes
                        && link.receiveWhole(MemorySegment.ofArray(new byte[bytes]), 0, bytes)) {
                    break;
                }
                if (link.receive(into, random.nextBoolean() ? into.remainingBytes() : 1 + random.nextInt(300)) == 0) {
                    return 0;
                }
            }
            if (left == bytes) {
                link.release();
            }
            return 1;
        }

        @Override
        public void onLost(boolean orderly, String reason) {
            lost = orderly + " " + reason;
            lostCount++;
        }
    }

    /** The words of a segment that the end at {@code side} reads. */
    private static List<Long> wordsReadBy(int side, PairLayout layout) {
        int other = PairLayout.INITIATOR + PairLayout.ACCEPTOR - side;
        List<Long> words = new ArrayList<>(
                List.of(PairLayout.state(other), PairLayout.watch(other), PairLayout.roomWanted(other)));
        words.add(layout.rings().getFirst().get(side).consumerOffset());
        RingLayout ring = layout.rings().getFirst().get(other);
        for (long position = 0; position < ring.ringBytes(); position += 64) {
            words.add(ring.headerOffset(position));
        }
        CellLayout in = layout.cells().getLast().get(other);
        CellLayout out = layout.cells().getLast().get(side);
        for (int cell = 0; cell < in.cells(); cell++) {
            words.addAll(List.of(in.state(cell), in.header(cell), in.trailer(cell), out.state(cell)));
        }
        return words;
    }

    @Test
    void shouldEndAConnectionCleanlyWhateverStandsInItsSegment() throws Exception {
        List<String> reasons = new ArrayList<>();
        repeat(() -> {
            Side.Pair pair = Side.Pair.of(a, b, "fuzzed");
            PairSegment segment = ((SciConnection) pair.right()).segment();
            List<Long> words = wordsReadBy(segment.side(), segment.layout());
            User left = new User(pair.left());
            User right = new User(pair.right());
            int corruptions = 1 + random.nextInt(4);
            for (int round = 0; round < ROUNDS; round++) {
                left.send();
                right.send();
                if (corruptions > 0 && random.nextInt(3) == 0) {
                    corruptions--;
                    boolean anywhere = random.nextInt(4) == 0;
                    long offset = anywhere
                            ? random.nextLong(segment.memory().byteSize() / Long.BYTES) * Long.BYTES
                            : words.get(random.nextInt(words.size()));
                    Words.setVolatile(segment.memory(), offset, anyValue());
                    ((SciProgress) b.adapter.progress()).announceToSelf(segment.ownSlot()); // as the peer does
                }
                a.round();
                b.round();
                if (random.nextInt(4) == 0) {
                    b.adapter.progress().armForBlocking();
                    b.adapter.progress().disarm();
                }
            }
            for (User user : List.of(left, right)) {
                assertTrue(user.lostCount <= 1, "told more than once: " + user.lost);
                reasons.add(user.lost.replaceAll("0x[0-9a-f]+", "0x..."));
            }
            pair.left().close();
            pair.right().close();
            a.round();
            b.round();
            assertLivingServed();
        });
        System.out.println(reasons.stream().distinct().toList());
        assertTrue(reasons.stream().anyMatch(reason -> reason.contains("it broke the protocol")), "none broke");
    }

    // ---- connections being made

    @Test
    void shouldRefuseAnOfferOrAnAnswerThatMakesNoSense() throws Exception {
        repeat(() -> {
            var left = connectSoon(a, b, true);
            boolean offerFirst = random.nextBoolean();
            if (offerFirst) {
                corruptOffer();
            }
            MemorySegment seen = random.nextBoolean() ? mapOffer() : MemorySegment.NULL;
            var right = connectSoon(b, a, false);
            while (!right.isDone()) {
                b.round();
            }
            if (seen.byteSize() > 0) {
                Words.setVolatile(seen, 512 + random.nextInt(3) * 8L, anyValue()); // the answer
            }
            Side.settle(a, left, b, right);
            for (CompletableFuture<ProtocolConnection> end : List.of(left, right)) {
                assertMadeOrRefused(end);
            }
            a.channels.removeLast().close();
            b.channels.removeLast().close();
            a.round();
            b.round();
            assertLivingServed();
        });
    }

    private CompletableFuture<ProtocolConnection> connectSoon(Side from, Side to, boolean initiator) {
        var channel = from.adapter.openChannel("fuzzed");
        from.channels.add(channel);
        return channel.connect(new io.madeleine.pmm.spi.ConnectionRequest(
                to.identity,
                to.adapter.address(),
                initiator,
                from.pmm.transmissionModules(),
                Side.DIGEST,
                System.nanoTime() + 20_000_000));
    }

    private static void assertMadeOrRefused(CompletableFuture<ProtocolConnection> end) {
        try {
            end.join();
        } catch (CompletionException e) {
            assertEquals(
                    SessionException.class,
                    e.getCause().getClass(),
                    e.getCause().toString());
            assertFalse(e.getCause().getMessage().isBlank());
        }
    }

    private Path offer() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("madeleine-" + Side.SESSION))) {
            return files.filter(file -> file.toString().endsWith(SessionDirectory.PAIR))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private MemorySegment mapOffer() throws IOException {
        try (FileChannel channel = FileChannel.open(offer(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.size() < 4096
                    ? MemorySegment.NULL
                    : channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096, Arena.ofAuto());
        }
    }

    private void corruptOffer() throws IOException {
        if (random.nextInt(8) == 0) {
            try (FileChannel channel = FileChannel.open(offer(), StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.allocate(1), channel.size() + random.nextInt(9000)); // longer than it says
            }
            return;
        }
        MemorySegment memory = mapOffer();
        for (int i = random.nextInt(3); i >= 0; i--) {
            Words.setVolatile(memory, random.nextInt(14) * 8L, anyValue());
        }
    }

    // ---- bells and inboxes

    @Test
    void shouldHangUpOnCallersThatMakeNoSense() throws Exception {
        Path bell = ((SciAdapter) b.adapter).directory().file(SessionDirectory.BELL);
        repeat(() -> {
            byte[] hello = new byte[random.nextInt(80)];
            random.nextBytes(hello);
            try (SocketChannel line = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                line.connect(UnixDomainSocketAddress.of(bell));
                line.write(ByteBuffer.wrap(hello));
                if (random.nextBoolean()) {
                    b.round();
                }
            }
            b.round();
            b.round();
            assertLivingServed();
        });
    }

    @Test
    void shouldBearAnythingInItsInbox() throws Exception {
        Path file = ((SciAdapter) b.adapter).directory().file(SessionDirectory.INBOX);
        MemorySegment inbox = SegmentFile.open(file, InboxLayout.BYTES, InboxLayout.BYTES, Arena.ofAuto());
        User user = new User(Side.Pair.of(a, b, "other").right());
        repeat(() -> {
            for (int i = random.nextInt(5); i >= 0; i--) {
                long offset = random.nextBoolean()
                        ? random.nextLong(InboxLayout.BYTES / Long.BYTES) * Long.BYTES
                        : random.nextBoolean() ? InboxLayout.SUMMARY : InboxLayout.ASLEEP;
                Words.setVolatile(inbox, offset, random.nextBoolean() ? random.nextLong() : anyValue());
            }
            b.round();
            b.adapter.progress().armForBlocking();
            b.adapter.progress().disarm();
            assertLivingServed();
        });
        assertEquals("", user.lost);
    }
}
