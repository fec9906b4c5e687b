package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a connection does when the network between two real sockets fails, for a while or for ever. */
@Timeout(60)
class LossTest {
    private static final int BYTES = 3_000_000;
    private static final long TIMEOUT_NS = 2_000_000_000L;
    private static final String SHORT_TIMEOUT = "madeleine.peer-timeout = 2s\n";

    private static MemorySegment random(long seed, int bytes) {
        byte[] content = new byte[bytes];
        new Random(seed).nextBytes(content);
        return MemorySegment.ofArray(content);
    }

    /** Sends one large block from left to right and checks it. */
    static void transfer(Pair pair, Pair.Ends ends, int number, int bytes) {
        MemorySegment block = random(number, bytes);
        MemorySegment found = MemorySegment.ofArray(new byte[bytes]);
        BufferGroup out = new BufferGroup();
        out.add(block, 0, bytes);
        BufferGroup in = new BufferGroup();
        in.add(found, 0, bytes);
        BufferGroup expected = new BufferGroup();
        expected.add(found, 0, bytes);
        ends.right().large().expect(expected);
        long header = PacketHeader.of(bytes, number, 0, PacketHeader.FIRST | PacketHeader.LAST);
        boolean[] sent = {false};
        pair.driveUntil(() -> {
            sent[0] = sent[0] || ends.left().large().send(header, out, 0) == LinkStatus.COMPLETE;
            if (ends.right().large().front() == header && !in.isEmpty()) {
                ends.right().large().receive(in, in.remainingBytes());
            }
            return sent[0] && in.isEmpty();
        });
        ends.right().large().release();
        assertEquals(-1, block.mismatch(found));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "loss = 0.01",
                "loss = 0.2",
                "loss = 0.1, duplication = 0.1, corruption = 0.05, reordering = 0.3, reorder-by = 64",
                "delay = 1ms, jitter = 5ms, loss = 0.05"
            })
    void shouldDeliverEveryByteWhateverTheNetworkDoes(String faults) {
        String settings = "madeleine.tm.bip.faults.send { " + faults + " }";
        try (Pair pair = new Pair(settings, settings)) {
            Pair.Ends ends = pair.connect("bad");
            for (int i = 0; i < 2; i++) {
                transfer(pair, ends, i, BYTES / 3);
            }
            assertEquals(0, ends.left().losses + ends.right().losses);
        }
    }

    @Test
    void shouldOutliveABlackoutThatIsShorterThanThePeerTimeout() {
        String settings = "madeleine.tm.bip.faults.send { cut-after = 300ms, cut-for = 2s }";
        try (Pair pair = new Pair(settings, settings)) {
            Pair.Ends ends = pair.connect("blackout");
            long startNs = System.nanoTime();
            for (int i = 0; System.nanoTime() - startNs < 3_000_000_000L; i++) {
                transfer(pair, ends, i, BYTES / 100);
            }
            assertEquals(0, ends.left().losses + ends.right().losses);
        }
    }

    @Test
    @Tag("measures")
    void shouldTellOfADeadPeerWithinThePeerTimeoutWhetherItSendsOrOnlyWaits() throws Exception {
        try (Pair pair = new Pair(SHORT_TIMEOUT, SHORT_TIMEOUT);
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            Pair.Ends ends = pair.connect("death", router.address());
            transfer(pair, ends, 0, 1000);
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < 50_000_000) { // the right end only waits from now on
                pair.left.poll();
                pair.right.poll();
            }
            router.show(datagram -> datagram[DatagramLayout.KIND_OFFSET] ^= 4); // nothing arrives intact any more
            ends.left().large().send(PacketHeader.of(0, 1, 0, PacketHeader.FIRST), new BufferGroup(), 0);
            long sentNs = System.nanoTime();
            pair.driveUntil(() -> ends.left().losses > 0);
            assertWithin(sentNs, TIMEOUT_NS, TIMEOUT_NS * 3 / 2);
            pair.driveUntil(() -> ends.right().losses > 0);
            assertWithin(sentNs, TIMEOUT_NS / 2, TIMEOUT_NS * 3 / 2);
            assertFalse(ends.left().orderly || ends.right().orderly);
            assertTrue(ends.left().reason.contains("madeleine.peer-timeout"), ends.left().reason);
        }
    }

    private static void assertWithin(long startNs, long leastNs, long mostNs) {
        long tookNs = System.nanoTime() - startNs;
        assertTrue(tookNs >= leastNs && tookNs <= mostNs, tookNs / 1_000_000 + " ms");
    }

    /** Nobody drives the receiver for longer than the peer timeout of its own: only its sender's counts. */
    @Test
    @Tag("measures")
    void shouldStopASenderWhoseReceiverComputesAndGoOnAfterwards() {
        try (Pair pair = new Pair("madeleine.peer-timeout = 30s", "madeleine.peer-timeout = 1s")) {
            Pair.Ends ends = pair.connect("computing");
            transfer(pair, ends, 0, 100_000);
            BufferGroup out = new BufferGroup();
            MemorySegment block = random(1, BYTES);
            out.add(block, 0, BYTES);
            long header = PacketHeader.of(BYTES, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < 2_000_000_000L) { // the right end computes
                ends.left().large().send(header, out, 0);
                pair.left.poll();
            }
            assertTrue(out.remainingBytes() > BYTES / 2, "the sender did not stop");
            MemorySegment found = Arena.ofAuto().allocate(BYTES);
            BufferGroup in = new BufferGroup();
            in.add(found, 0, BYTES);
            pair.driveUntil(() -> {
                ends.left().large().send(header, out, 0);
                if (ends.right().large().front() == header) {
                    ends.right().large().receive(in, in.remainingBytes());
                }
                return in.isEmpty();
            });
            assertEquals(-1, block.mismatch(found));
            assertEquals(0, ends.left().losses + ends.right().losses);
        }
    }

    @Test
    @Tag("measures")
    void shouldTellAtOnceThatAPeerHasForgottenTheConnection() {
        try (Pair pair = new Pair("", "")) {
            Pair.Ends ends = pair.connect("forgotten");
            transfer(pair, ends, 0, 1000);
            BipConnection right = (BipConnection) ends.right().connection;
            ((BipProgress) pair.right.adapter.progress()).remove(right);
            ends.left().large().send(PacketHeader.of(0, 1, 0, PacketHeader.FIRST), new BufferGroup(), 0);
            long startNs = System.nanoTime();
            pair.driveUntil(() -> ends.left().losses > 0);
            assertWithin(startNs, 0, 1_000_000_000L);
            assertTrue(ends.left().reason.contains("no longer knows"), ends.left().reason);
        }
    }
}
