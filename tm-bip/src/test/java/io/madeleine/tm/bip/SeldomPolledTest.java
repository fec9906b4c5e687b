package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A program that polls seldom finds what has arrived, though the reactor has not been asked for it. */
@Timeout(60)
class SeldomPolledTest {
    private static final long PAUSE_MS = 1;
    private static final int SETTLING_POLLS = 50;
    private static final int MOST_POLLS = 20;
    private static final int MOST_TRIES = 10;

    private static boolean isThere(Pair.Side side, BipShortLink link, long header) throws InterruptedException {
        for (int polls = 0; polls < MOST_POLLS; polls++) {
            Thread.sleep(PAUSE_MS);
            int _ = side.adapter.progress().poll(System.nanoTime());
            if (link.front() == header) {
                return true;
            }
        }
        return false;
    }

    @Test
    @Tag("measures")
    void shouldFindAMessageWithinAFewPollsThatAreFarApart() throws InterruptedException {
        MemorySegment block = Arena.ofAuto().allocate(8);
        try (Pair pair = new Pair("", "")) {
            Pair.Ends ends = pair.connect("seldom");
            for (int i = 0; i < SETTLING_POLLS; i++) { // the handshake is over, and the socket is quiet
                Thread.sleep(PAUSE_MS);
                pair.left.poll();
                pair.right.poll();
            }
            for (int number = 0; number < 5; number++) {
                long header = header(number);
                assertTrue(ends.left().small().sendPacket(header, block, 0));
                ends.left().small().announce();
                assertTrue(isThere(pair.right, ends.right().small(), header), "message " + number);
                assertTrue(ends.right().small().receivePacket(header, block, 0));
                for (int i = 0; i < MOST_POLLS; i++) { // acknowledgements, and a quiet socket again
                    Thread.sleep(PAUSE_MS);
                    int _ = pair.left.adapter.progress().poll(System.nanoTime());
                    int _ = pair.right.adapter.progress().poll(System.nanoTime());
                }
            }
        }
    }

    @Test
    @Tag("measures")
    void shouldTakeABurstInOnePollAfterAPause() throws InterruptedException {
        int burst = 30;
        MemorySegment block = Arena.ofAuto().allocate(8);
        try (Pair pair = new Pair("madeleine.tm.bip.coalesce-time = 0s", "")) { // each message is a datagram
            Pair.Ends ends = pair.connect("bursts");
            int taken = 0;
            for (int tries = 0; tries < MOST_TRIES && taken < burst; tries++) { // the system may deliver late
                for (int i = 0; i < SETTLING_POLLS; i++) {
                    Thread.sleep(PAUSE_MS);
                    pair.left.poll();
                    pair.right.poll();
                }
                int first = tries * burst;
                for (int number = 0; number < burst; number++) {
                    assertTrue(ends.left().small().sendPacket(header(first + number), block, 0));
                    ends.left().small().announce();
                }
                Thread.sleep(PAUSE_MS);
                int _ = pair.right.adapter.progress().poll(System.nanoTime());
                taken = take(ends.right().small(), first, block);
                int[] all = {taken};
                pair.driveUntil(() -> {
                    all[0] += take(ends.right().small(), first + all[0], block);
                    return all[0] == burst;
                });
            }
            assertEquals(burst, taken);
        }
    }

    /** Takes what has arrived, from this number on; returns how many that were. */
    private static int take(BipShortLink link, int first, MemorySegment block) {
        int taken = 0;
        while (link.receivePacket(header(first + taken), block, 0)) {
            taken++;
        }
        return taken;
    }

    @Test
    void shouldLetTheSleeperSleepOnUnlessSomethingIsLeftToDo() throws InterruptedException {
        MemorySegment block = Arena.ofAuto().allocate(8);
        try (Pair pair = new Pair("", "")) {
            Pair.Ends ends = pair.connect("rearmed");
            for (int i = 0; i < SETTLING_POLLS; i++) {
                Thread.sleep(PAUSE_MS);
                pair.left.poll();
                pair.right.poll();
            }
            BipProgress progress = (BipProgress) pair.right.adapter.progress();
            pair.driveUntil(
                    () -> { // nothing is left to do
                        progress.disarm();
                        return progress.rearm();
                    });
            assertTrue(progress.isArmed());
            progress.disarm();
            assertTrue(ends.left().small().sendPacket(header(0), block, 0));
            ends.left().small().announce();
            progress.onReady();
            assertFalse(progress.rearm(), "the socket is ready");
            progress.disarm();
        }
    }

    private static long header(int number) {
        return PacketHeader.of(8, number, 0, PacketHeader.FIRST | PacketHeader.LAST);
    }
}
