package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.nexus.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who waits to put something is woken alone, and nobody is forgotten. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WriteQueueTest {
    private static final int WINDOW = 1_000;

    /** As a connection's writer, until it is told to end and nothing is left; how many bytes it was. */
    private static long write(WriteQueue queue, AtomicBoolean over) {
        long written = 0;
        try {
            while (!over.get() || !queue.isEmpty()) {
                byte[] piece = queue.first(TimeUnit.MILLISECONDS.toNanos(20));
                if (piece != null) {
                    queue.next(0);
                    queue.written(piece.length);
                    written += piece.length;
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return written;
    }

    private static Thread putting(WriteQueue queue, int number, AtomicLong put, AtomicInteger interrupted) {
        return Thread.ofVirtual().unstarted(() -> {
            for (int i = 0; i < 20; i++) {
                boolean isLong = (number + i) % 7 == 0;
                byte[] first = new byte[1 + (number * 31 + i * 17) % 900];
                try {
                    assertTrue(queue.put(first, isLong, false, WriteQueue.NO_TIMEOUT));
                    put.addAndGet(first.length);
                    for (int k = 0; isLong && k < 3; k++) {
                        assertTrue(queue.putPiece(first));
                        put.addAndGet(first.length);
                    }
                    if (isLong) {
                        queue.giveTurn();
                    }
                } catch (WaitInterruptedException e) {
                    boolean _ = Thread.interrupted();
                    interrupted.incrementAndGet();
                }
            }
        });
    }

    @Test
    void shouldForgetNobodyWhoWaitsForRoomThoughOthersAreInterrupted() throws Exception {
        WriteQueue queue = new WriteQueue(WINDOW, 10 * WINDOW);
        AtomicLong put = new AtomicLong();
        AtomicLong written = new AtomicLong();
        AtomicInteger interrupted = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            all.add(putting(queue, i, put, interrupted));
        }
        all.forEach(Thread::start);
        World.await(() -> put.get() > 0);
        for (int i = 0; i < 200; i += 10) {
            all.get(i).interrupt();
        }
        World.await(() -> interrupted.get() > 0); // while nothing is written, almost all of them wait
        Thread writer = Thread.ofVirtual().start(() -> written.set(write(queue, over)));
        for (int i = 5; i < 200; i += 10) {
            all.get(i).interrupt();
        }
        for (Thread each : all) {
            each.join();
        }
        assertTrue(queue.awaitEmpty(TimeUnit.SECONDS.toNanos(20)));
        over.set(true);
        writer.join();
        assertEquals(put.get(), written.get());
    }

    @Test
    void shouldTellEverybodyThatItIsClosed() throws Exception {
        WriteQueue queue = new WriteQueue(WINDOW, 10 * WINDOW);
        assertTrue(queue.put(new byte[WINDOW], true, true, WriteQueue.NO_TIMEOUT));
        AtomicInteger refused = new AtomicInteger();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            int kind = i;
            all.add(Thread.ofVirtual().start(() -> {
                boolean done = switch (kind) {
                    case 0 -> queue.putPiece(new byte[WINDOW]);
                    case 1 -> !queue.awaitEmpty(TimeUnit.SECONDS.toNanos(30));
                    default -> queue.put(new byte[1], false, false, WriteQueue.NO_TIMEOUT);
                };
                if (!done) {
                    refused.incrementAndGet();
                }
            }));
        }
        for (Thread each : all) {
            World.await(() -> each.getState() == Thread.State.WAITING || each.getState() == Thread.State.TIMED_WAITING);
        }
        assertTrue(queue.close());
        for (Thread each : all) {
            each.join();
        }
        assertEquals(20, refused.get());
    }

    /** A thread that puts a request, and already waits for room. */
    private static Thread waiting(WriteQueue queue, int bytes, long timeoutNs) throws Exception {
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                queue.put(new byte[bytes], false, false, timeoutNs);
            } catch (DeadlineExceededException _) {
                // as this thread's timeout wants it
            }
        });
        World.await(() -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
        return thread;
    }

    private static void assertEnds(Thread thread) throws InterruptedException {
        assertTrue(thread.join(Duration.ofSeconds(10)), "nobody wakes it");
    }

    /** One write wakes one thread, which wakes the next: no further write may come. */
    @Test
    void shouldLetAllInForWhomOneWriteMakesRoom() throws Exception {
        WriteQueue queue = new WriteQueue(WINDOW, 10 * WINDOW);
        assertTrue(queue.put(new byte[WINDOW], false, false, WriteQueue.NO_TIMEOUT));
        Thread first = waiting(queue, 1, WriteQueue.NO_TIMEOUT);
        Thread second = waiting(queue, 1, WriteQueue.NO_TIMEOUT);
        Thread third = waiting(queue, 1, WriteQueue.NO_TIMEOUT);
        queue.next(0);
        queue.written(WINDOW);
        assertEnds(first);
        assertEnds(second);
        assertEnds(third);
    }

    @Test
    void shouldLetTheNextInWhenARequestInPiecesIsComplete() throws Exception {
        WriteQueue queue = new WriteQueue(WINDOW, 10 * WINDOW);
        assertTrue(queue.put(new byte[1], true, false, WriteQueue.NO_TIMEOUT));
        Thread next = waiting(queue, 1, WriteQueue.NO_TIMEOUT);
        queue.giveTurn();
        assertEnds(next);
    }

    /** The first one is woken, finds too little room and gives up at its deadline; the second would fit. */
    @Test
    void shouldPassOnTheWakeUpOfAThreadWhoseDeadlineEnds() throws Exception {
        WriteQueue queue = new WriteQueue(WINDOW, 10 * WINDOW);
        assertTrue(queue.put(new byte[WINDOW / 2], false, false, WriteQueue.NO_TIMEOUT));
        assertTrue(queue.put(new byte[WINDOW / 2], false, false, WriteQueue.NO_TIMEOUT));
        Thread large = waiting(queue, WINDOW, TimeUnit.MILLISECONDS.toNanos(500));
        Thread small = waiting(queue, 1, WriteQueue.NO_TIMEOUT);
        queue.next(0);
        queue.written(WINDOW / 2);
        assertEnds(large);
        assertEnds(small);
    }
}
