package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What was sent before the close arrives, or the log says that it may not have. */
@Timeout(60)
class ClosingTest {
    private static final int MESSAGES = 100;
    private static final int FLAGS = PacketHeader.FIRST | PacketHeader.LAST;
    private static final String CUT = "madeleine.tm.bip.faults { send { cut-after = 2s, cut-for = 3s },"
            + " receive { cut-after = 2s, cut-for = 3s } }\n";
    private static final long CUT_AFTER_NS = 2_100_000_000L;

    private final MemorySegment block = Arena.ofAuto().allocate(8);

    /** Sends messages and closes the connection while the network is cut; the caller closes the adapter. */
    private Pair.Ends sendIntoTheCut(Pair pair, long openedNs) {
        Pair.Ends ends = pair.connect("closing");
        pair.driveUntil(() -> System.nanoTime() - openedNs >= CUT_AFTER_NS);
        BipShortLink out = ends.left().small();
        for (int i = 0; i < MESSAGES; i++) {
            assertTrue(out.sendPacket(PacketHeader.of(8, i, 0, FLAGS), block, 0));
            out.announce();
        }
        ends.left().connection.finish();
        ends.left().connection.close();
        return ends;
    }

    @Test
    void shouldDeliverToAPeerOfWhichNothingIsHeardForSomeSeconds() throws InterruptedException {
        try (Pair pair = new Pair(CUT, "")) {
            Pair.Ends ends = sendIntoTheCut(pair, System.nanoTime());
            Thread closing = Thread.ofPlatform().start(pair.left.adapter::close);
            int arrived = 0;
            while (closing.isAlive()) {
                pair.right.poll();
                while (ends.right().small().receivePacket(PacketHeader.of(8, arrived, 0, FLAGS), block, 0)) {
                    arrived++;
                }
                LockSupport.parkNanos(1_000_000);
            }
            assertEquals(MESSAGES, arrived, ends.right().reason);
            closing.join();
            assertEquals(0, pair.left.log.lines().size(), String.join("\n", pair.left.log.lines()));
        }
    }

    @Test
    void shouldSayThatMessagesMayNotHaveArrived() {
        try (Pair pair = new Pair(CUT + "madeleine.tm.bip.close-linger = 300ms", "")) {
            sendIntoTheCut(pair, System.nanoTime());
            pair.left.adapter.close();
            String said = String.join("\n", pair.left.log.lines());
            assertTrue(said.contains("bytes of messages may not have arrived"), said);
            assertTrue(said.contains("madeleine.tm.bip.close-linger"), said);
        }
    }
}
