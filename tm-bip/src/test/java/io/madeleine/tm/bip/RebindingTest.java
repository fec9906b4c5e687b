package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A router between two processes translates addresses, and gives the left one another port. */
@Timeout(60)
@Tag("measures")
class RebindingTest {
    private static final String SHORT_TIMEOUT = "madeleine.peer-timeout = 2s\n";

    private static void send(BipShortLink from, int number) {
        MemorySegment block = MemorySegment.ofArray(("message " + number).getBytes(StandardCharsets.US_ASCII));
        long header = PacketHeader.of((int) block.byteSize(), number, 0, PacketHeader.FIRST | PacketHeader.LAST);
        assertTrue(from.sendPacket(header, block, 0));
        from.announce();
    }

    private static boolean receives(BipShortLink to, int number) {
        MemorySegment expected = MemorySegment.ofArray(("message " + number).getBytes(StandardCharsets.US_ASCII));
        MemorySegment found = MemorySegment.ofArray(new byte[(int) expected.byteSize()]);
        long header = PacketHeader.of((int) expected.byteSize(), number, 0, PacketHeader.FIRST | PacketHeader.LAST);
        return to.receivePacket(header, found, 0) && found.mismatch(expected) == -1;
    }

    @Test
    void shouldFollowAPeerWhoseAddressHasChanged() throws Exception {
        try (Pair pair = new Pair(SHORT_TIMEOUT, SHORT_TIMEOUT + "madeleine.tm.bip.rebinding = true");
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            Pair.Ends ends = pair.connect("moves", router.address());
            for (int i = 0; i < 10; i++) {
                int number = i;
                send(ends.left().small(), number);
                pair.driveUntil(() -> receives(ends.right().small(), number));
                router.translateAnew();
                send(ends.left().small(), 100 + number); // only now the right end can know
                pair.driveUntil(() -> receives(ends.right().small(), 100 + number));
                send(ends.right().small(), number);
                pair.driveUntil(() -> receives(ends.left().small(), number));
            }
            assertEquals(0, ends.left().losses + ends.right().losses);
        }
    }

    @Test
    void shouldCountItAsSilentUnlessToldToFollow() throws Exception {
        String timeout = "madeleine.peer-timeout = 1s\n"; // for which it waits
        try (Pair pair = new Pair(timeout, timeout);
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            Pair.Ends ends = pair.connect("stays", router.address());
            send(ends.left().small(), 0);
            pair.driveUntil(() -> receives(ends.right().small(), 0));
            router.translateAnew();
            send(ends.left().small(), 1);
            pair.driveUntil(() -> ends.left().losses > 0);
            assertTrue(ends.left().reason.contains("madeleine.peer-timeout"), ends.left().reason);
        }
    }
}
