package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No two users have the same header at the same time. */
@Timeout(60)
class NowHeadersTest {
    private final NowHeaders headers = new NowHeaders();

    /** Runs code in another thread, and throws what it throws. */
    private static void in(Thread.Builder builder, Runnable code) {
        CompletableFuture.runAsync(code, builder::start).join();
    }

    private MemorySegment take() {
        MemorySegment taken = headers.take();
        assertNotNull(taken);
        return taken;
    }

    @Test
    void shouldGiveTheFirstThreadItsOwnOneForGood() {
        MemorySegment own = take();
        assertTrue(headers.isOwn(own));
        headers.give(own);
        in(Thread.ofPlatform(), () -> {
            MemorySegment shared = take();
            assertFalse(headers.isOwn(shared));
            headers.give(shared);
        });
        assertSame(own, take());
    }

    @Test
    void shouldHaveAnotherOneForAHandlerThatItsThreadCallsMeanwhile() {
        MemorySegment first = take();
        MemorySegment second = take();
        assertNotSame(first, second);
        assertNull(headers.take());
        headers.give(second);
        assertSame(second, take());
    }

    @Test
    void shouldNotBelongToAVirtualThread() {
        in(Thread.ofVirtual(), () -> {
            MemorySegment shared = take();
            assertFalse(headers.isOwn(shared));
            headers.give(shared);
        });
        assertTrue(headers.isOwn(take()));
    }

    @Test
    void shouldHaveOneUserPerHeaderAmongManyThreads() throws InterruptedException {
        Thread[] threads = new Thread[4];
        int[] failures = new int[1];
        int rounds = 100_000;
        for (int i = 0; i < threads.length; i++) {
            int mark = i + 1;
            threads[i] = Thread.ofPlatform().start(() -> {
                for (int round = 0; round < rounds; round++) {
                    MemorySegment header = headers.take();
                    if (header != null) {
                        header.fill((byte) mark);
                        for (long at = 0; at < Header.BYTES; at++) {
                            if (header.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at) != mark) {
                                failures[0]++;
                            }
                        }
                        headers.give(header);
                    }
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, failures[0]);
    }
}
