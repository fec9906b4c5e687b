package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Small messages of a dense stream share datagrams, and each leaves in time all the same. A thread that loses its
 * processor sends no dense stream, so each scene may be played again.
 */
@Timeout(60)
class HoldingBackTest {
    private static final int FLAGS = PacketHeader.FIRST | PacketHeader.LAST;
    private static final int STREAM = 60; // fits in one datagram
    private static final int SENT_AT_ONCE = 8; // then the stream is dense
    private static final int MOST_TRIES = 100;
    private static final int MOST_VALID = 10;
    private static final int NOTHING_HELD = -1;
    private static final long BEFORE_OTHER_TIMERS_NS = 900_000;
    private static final long SETTLING_NS = 20_000_000;
    private static final String LONG = "madeleine.tm.bip { coalesce-time = 10ms, short.window = 16 KiB }";

    private final MemorySegment block = Arena.ofAuto().allocate(4096);
    private Pair pair;
    private Pair.Ends ends;
    private int sent;
    private int received;

    /**
     * Returns how many of the messages that were sent have arrived by the end, or {@link #NOTHING_HELD} if the thread
     * was too slow for a dense stream.
     */
    @FunctionalInterface
    private interface Scene {
        int play() throws InterruptedException;
    }

    private void allArrive(String settings, Scene scene) throws InterruptedException {
        int arrived = 0;
        int valid = 0;
        for (int tries = 0; valid < MOST_VALID; tries++) {
            assertTrue(tries < MOST_TRIES, "no stream was dense");
            sent = 0;
            received = 0;
            pair = new Pair(settings, "");
            try {
                ends = pair.connect("held");
                settle();
                arrived = scene.play();
            } finally {
                pair.close();
            }
            if (arrived == sent) {
                return;
            }
            valid += arrived == NOTHING_HELD ? 0 : 1;
        }
        assertEquals(sent, arrived);
    }

    /** Until no timer of the handshake is left. */
    private void settle() {
        long untilNs = System.nanoTime() + SETTLING_NS;
        pair.driveUntil(() -> System.nanoTime() - untilNs >= 0);
    }

    private static long send(BipShortLink link, int number, int count, MemorySegment block) {
        long beganNs = System.nanoTime();
        for (int i = 0; i < count; i++) {
            assertTrue(link.sendPacket(PacketHeader.of(8, number + i, 0, FLAGS), block, 0));
            link.announce();
        }
        return beganNs;
    }

    /** Sends a stream; returns when that began. */
    private long send(int messages) {
        long beganNs = send(ends.left().small(), sent, messages, block);
        sent += messages;
        return beganNs;
    }

    private boolean isHeld() {
        return ((BipConnection) ends.left().connection).holdsAnything();
    }

    /** Takes what arrives at the right end, which is driven alone; returns how many messages there were so far. */
    private int take() {
        for (int look = 0; look < 100; look++) {
            pair.right.poll();
            while (ends.right().small().receivePacket(PacketHeader.of(8, received, 0, FLAGS), block, 0)) {
                received++;
            }
        }
        return received;
    }

    @Test
    void shouldHoldADenseStreamBack() throws InterruptedException {
        allArrive(LONG, () -> {
            send(STREAM);
            return isHeld() && take() < STREAM ? STREAM : NOTHING_HELD;
        });
    }

    @Test
    void shouldSendWhatIsHeldBackWhenItsSenderPolls() throws InterruptedException {
        allArrive(LONG, () -> {
            long beganNs = send(STREAM);
            if (!isHeld()) {
                return NOTHING_HELD;
            }
            int _ = pair.left.adapter.progress().poll(beganNs); // nothing is old at this time
            return take();
        });
    }

    @Test
    void shouldSendWhatIsHeldBackOnceTheSenderLooksForAnAnswer() throws InterruptedException {
        allArrive(LONG, () -> {
            send(STREAM);
            if (!isHeld()) {
                return NOTHING_HELD;
            }
            assertEquals(0, ends.left().small().front());
            return take();
        });
    }

    @Test
    void shouldSendWhatIsHeldBackForOnePeerBeforeAMessageToAnother() throws InterruptedException {
        allArrive(LONG, () -> {
            Pair.Ends others = pair.connect("other");
            send(STREAM);
            if (!isHeld()) {
                return NOTHING_HELD;
            }
            send(others.left().small(), 0, 1, block);
            return take();
        });
    }

    @Test
    void shouldSendWhatIsHeldBackBeforeTheSessionSleeps() throws InterruptedException {
        allArrive(LONG, () -> {
            send(STREAM);
            if (!isHeld()) {
                return NOTHING_HELD;
            }
            boolean _ = pair.left.adapter.progress().armForBlocking();
            pair.left.adapter.progress().disarm();
            return take();
        });
    }

    @Test
    void shouldSendWhatIsHeldBackForAnotherThreadOnceItIsOld() throws InterruptedException {
        allArrive("", () -> {
            long[] beganNs = new long[1];
            Thread other = Thread.ofPlatform().start(() -> {
                send(SENT_AT_ONCE); // however long that takes
                beganNs[0] = send(STREAM - SENT_AT_ONCE);
            });
            other.join();
            if (!isHeld()) {
                return NOTHING_HELD;
            }
            int _ = pair.left.adapter.progress().poll(beganNs[0] + HeldBack.LOOK_NS / 2);
            return take();
        });
    }

    @Test
    void shouldCallForAPollOfWhatIsHeldBack() throws InterruptedException {
        allArrive(LONG, () -> {
            long[] beganNs = new long[1];
            Thread other = Thread.ofPlatform().start(() -> beganNs[0] = send(STREAM));
            other.join();
            if (!isHeld()) {
                return NOTHING_HELD;
            }
            int _ = pair.left.adapter.progress().poll(beganNs[0] + BEFORE_OTHER_TIMERS_NS);
            return take();
        });
    }

    @Test
    void shouldSendWhatIsHeldBackWhenTheWindowIsFull() throws InterruptedException {
        allArrive(LONG, () -> {
            while (ends.left().small().claim() >= 0) {
                ends.left().small().abandon();
                send(1);
                assertTrue(sent < 10_000, "there is always room");
            }
            return take();
        });
    }

    @Test
    void shouldSendTheMarkOfAMessageWithItsFirstBlock() throws InterruptedException {
        allArrive(LONG, () -> {
            long mark = PacketHeader.of(0, 0, 0, PacketHeader.FIRST);
            long header = PacketHeader.of(4096, 0, 1, 0);
            assertTrue(ends.left().small().sendPacket(mark, block, 0));
            ends.left().small().announce();
            sent = 1;
            for (int look = 0; look < 100; look++) {
                pair.right.poll();
            }
            boolean leftAlone = ends.right().small().front() == mark;
            BufferGroup out = new BufferGroup();
            out.add(block, 0, 4096);
            assertEquals(LinkStatus.COMPLETE, ends.left().large().send(header, out, 0));
            pair.driveUntil(() -> ends.right().small().front() == mark);
            ends.right().small().release();
            pair.driveUntil(() -> ends.right().large().front() == header);
            return leftAlone ? 0 : 1;
        });
    }
}
