package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import java.io.IOException;
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
    private static final long CUT_FOR_NS = 3_000_000_000L;

    private final MemorySegment block = Arena.ofAuto().allocate(8);

    /** Cuts the network, sends messages and closes the connection; the caller closes the adapter. */
    private Pair.Ends sendIntoTheCut(Pair pair, TranslatingRouter router) throws IOException {
        Pair.Ends ends = pair.connect("closing", router.address());
        router.show(datagram -> datagram[DatagramLayout.KIND_OFFSET] ^= 4); // nothing arrives intact any more
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
    void shouldDeliverToAPeerOfWhichNothingIsHeardForSomeSeconds() throws Exception {
        try (Pair pair = new Pair("", "");
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            Pair.Ends ends = sendIntoTheCut(pair, router);
            long cutNs = System.nanoTime();
            boolean isCut = true;
            Thread closing = Thread.ofPlatform().start(pair.left.adapter::close);
            int arrived = 0;
            while (closing.isAlive()) {
                if (isCut && System.nanoTime() - cutNs >= CUT_FOR_NS) {
                    assertEquals(0, arrived, "the network was not cut");
                    router.show(_ -> {});
                    isCut = false;
                }
                pair.right.poll();
                while (ends.right().small().receivePacket(PacketHeader.of(8, arrived, 0, FLAGS), block, 0)) {
                    arrived++;
                }
                LockSupport.parkNanos(1_000_000);
            }
            assertEquals(MESSAGES, arrived, ends.right().reason);
            closing.join();
            assertFalse(isCut, "it closed before anything could arrive");
            assertEquals(0, pair.left.log.lines().size(), String.join("\n", pair.left.log.lines()));
        }
    }

    @Test
    void shouldSayThatMessagesMayNotHaveArrived() throws Exception {
        try (Pair pair = new Pair("madeleine.tm.bip.close-linger = 300ms", "");
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            sendIntoTheCut(pair, router);
            pair.left.adapter.close();
            String said = String.join("\n", pair.left.log.lines());
            assertTrue(said.contains("bytes of messages may not have arrived"), said);
            assertTrue(said.contains("madeleine.tm.bip.close-linger"), said);
        }
    }
}
