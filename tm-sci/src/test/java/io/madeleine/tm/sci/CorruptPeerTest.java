package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.link.CellLayout;
import io.madeleine.tm.sci.link.PairLayout;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.RingLayout;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.SegmentFile;
import io.madeleine.tm.sci.wake.InboxLayout;
import io.madeleine.tm.sci.wake.SciProgress;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
    private static final long RUN_NS = TimeUnit.SECONDS.toNanos(Boolean.getBoolean("thorough") ? 120 : 1);
    private static final int ROUNDS = 24;

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

    /** The connection that nobody meddles with still works. */
    private void assertLivingServed() {
        SciConnectionTest.sendLong(lasting.leftShort(), talks, talks);
        a.round();
        b.round();
        assertEquals(talks, SciConnectionTest.receiveLong(lasting.rightShort()));
        talks++;
    }

    // ---- connections in use

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
            FuzzUser left = new FuzzUser(pair.left(), random);
            FuzzUser right = new FuzzUser(pair.right(), random);
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
                    OrderedWords.setVolatile(segment.memory(), offset, FuzzUser.anyValue(random));
                    ((SciProgress) b.adapter.progress()).announceToSelf(segment.ownSlot()); // as the peer does
                }
                a.round();
                b.round();
                if (random.nextInt(4) == 0) {
                    b.adapter.progress().armForBlocking();
                    b.adapter.progress().disarm();
                }
            }
            reasons.add(left.lost());
            reasons.add(right.lost());
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
            b.round(); // answers
            if (seen.byteSize() > 0) {
                OrderedWords.setVolatile(seen, 2688 + random.nextInt(14) * 8L, FuzzUser.anyValue(random)); // the answer
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
            long words = random.nextBoolean() ? 0 : 128; // the sizes, or HELLO
            OrderedWords.setVolatile(memory, words + random.nextInt(7) * 8L, FuzzUser.anyValue(random));
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
        FuzzUser user = new FuzzUser(Side.Pair.of(a, b, "other").right(), random);
        repeat(() -> {
            for (int i = random.nextInt(5); i >= 0; i--) {
                long offset = random.nextBoolean()
                        ? random.nextLong(InboxLayout.BYTES / Long.BYTES) * Long.BYTES
                        : random.nextBoolean() ? InboxLayout.SUMMARY : InboxLayout.ASLEEP;
                OrderedWords.setVolatile(
                        inbox, offset, random.nextBoolean() ? random.nextLong() : FuzzUser.anyValue(random));
            }
            b.round();
            b.adapter.progress().armForBlocking();
            b.adapter.progress().disarm();
            assertLivingServed();
        });
        assertEquals("", user.lost());
    }
}
