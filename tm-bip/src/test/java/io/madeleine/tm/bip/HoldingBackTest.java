package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Small messages of a dense stream share datagrams, and each leaves in time all the same. */
@Timeout(60)
class HoldingBackTest {
    private static final int FLAGS = PacketHeader.FIRST | PacketHeader.LAST;
    private static final int STREAM = 500;

    /** Long enough for a thread that is kept from its processor. */
    private static final String LONG = "madeleine.tm.bip.coalesce-time = 10ms";

    private final MemorySegment block = Arena.ofAuto().allocate(4096);
    private Pair pair;
    private Pair.Ends ends;
    private int received;

    @BeforeEach
    void connect() {
        pair = new Pair(LONG, LONG);
        ends = pair.connect("held");
    }

    @AfterEach
    void close() {
        pair.close();
    }

    private void send(int messages) {
        for (int i = 0; i < messages; i++) {
            long header = PacketHeader.of(8, i, 0, FLAGS);
            assertTrue(ends.left().small().sendPacket(header, block, 0));
            ends.left().small().announce();
        }
    }

    /** Takes what has arrived at the right end, which is driven alone. */
    private int take() {
        for (int look = 0; look < 200; look++) {
            pair.right.poll();
            while (ends.right().small().receivePacket(PacketHeader.of(8, received, 0, FLAGS), block, 0)) {
                received++;
            }
        }
        return received;
    }

    @Test
    void shouldHoldADenseStreamBackUntilItsSenderPolls() {
        send(STREAM);
        int atOnce = take();
        assertTrue(atOnce < STREAM, "all left at once");
        pair.left.poll();
        assertEquals(STREAM, take());
    }

    @Test
    void shouldSendWhatIsHeldBackOnceTheSenderLooksForAnAnswer() {
        send(STREAM);
        assertEquals(0, ends.left().small().front());
        assertEquals(STREAM, take());
    }

    @Test
    void shouldSendWhatIsHeldBackForOnePeerBeforeAMessageToAnother() {
        Pair.Ends others = pair.connect("other");
        send(STREAM);
        assertTrue(others.left().small().sendPacket(PacketHeader.of(8, 0, 0, FLAGS), block, 0));
        others.left().small().announce();
        assertEquals(STREAM, take());
    }

    @Test
    void shouldSendWhatIsHeldBackBeforeTheSessionSleeps() {
        send(STREAM);
        boolean _ = pair.left.adapter.progress().armForBlocking();
        pair.left.adapter.progress().disarm();
        assertEquals(STREAM, take());
    }

    @Test
    void shouldSendWhatIsHeldBackForAnotherThreadOnceItIsOld() throws InterruptedException {
        Thread other = Thread.ofPlatform().start(() -> send(STREAM));
        other.join();
        long startNs = System.nanoTime();
        while (take() < STREAM) {
            pair.left.poll();
            assertTrue(System.nanoTime() - startNs < Pair.PATIENCE.toNanos(), "it never left");
        }
    }

    @Test
    void shouldSendWhatIsHeldBackWhenTheWindowIsFull() {
        for (int sent = 0; ends.left().small().claim() >= 0; sent++) {
            ends.left().small().abandon();
            send(1);
            assertTrue(sent < 100_000, "there is always room");
        }
        int all = take();
        assertTrue(all > 100, "the whole window arrives without a poll of the sender: " + all);
        pair.driveUntil(() -> {
            int before = take();
            pair.left.poll();
            return take() == before;
        });
        assertEquals(all, received, "nothing had been held back");
    }

    @Test
    void shouldSendTheMarkOfAMessageWithItsFirstBlock() {
        long mark = PacketHeader.of(0, 0, 0, PacketHeader.FIRST);
        long header = PacketHeader.of(4096, 0, 1, 0);
        assertTrue(ends.left().small().sendPacket(mark, block, 0));
        ends.left().small().announce();
        for (int look = 0; look < 200; look++) {
            pair.right.poll();
        }
        assertEquals(0, ends.right().small().front(), "the mark left alone");
        BufferGroup out = new BufferGroup();
        out.add(block, 0, 4096);
        assertEquals(LinkStatus.COMPLETE, ends.left().large().send(header, out, 0));
        pair.left.poll();
        pair.driveUntil(() -> ends.right().small().front() == mark);
        ends.right().small().release();
        pair.driveUntil(() -> ends.right().large().front() == header);
    }
}
