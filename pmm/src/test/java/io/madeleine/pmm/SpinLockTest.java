package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SpinLockTest {
    private final SpinLock lock = new SpinLock();
    private int guarded;

    @Test
    void shouldBeHeldOnce() {
        assertTrue(lock.tryLock());
        assertFalse(lock.tryLock());
        lock.unlock();
        lock.lock();
        assertFalse(lock.tryLock());
        lock.unlock();
        assertTrue(lock.tryLock());
    }

    @Test
    void shouldLetOneThreadInAtATime() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add((i % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual()).start(() -> {
                for (int k = 0; k < 20_000; k++) {
                    lock.lock();
                    guarded++;
                    lock.unlock();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(160_000, guarded);
    }

    @Test
    @Tag("measures")
    void shouldBeHadAgainByTheThreadThatAnErrorMadeLeaveItLocked() {
        assertTimeoutPreemptively(
                Duration.ofSeconds(4),
                () -> { // in a thread of its own
                    lock.lock();
                    lock.lock();
                    assertTrue(lock.tryLock(0));
                    assertFalse(lock.tryLock(), "a try is no right to what a call further up the stack may hold");
                    lock.unlock();
                });
        assertTrue(lock.tryLock());
    }

    @Test
    void shouldBeTakenFromAThreadThatDoesNotGiveItBack() throws InterruptedException {
        Thread.ofPlatform().start(lock::lock).join();
        assertFalse(lock.tryLock(1_000_000));
        Thread late = Thread.ofPlatform().unstarted(lock::unlock);
        assertTimeoutPreemptively(Duration.ofSeconds(100), lock::lock); // it counts turns, of any length
        late.start();
        late.join();
        assertFalse(lock.tryLock(), "given back by one that does not hold it");
    }

    @Test
    void shouldLetAVirtualThreadThatHoldsItHaveACarrierAgainWhileManyOthersWaitForIt() throws InterruptedException {
        SpinLock lock = new SpinLock();
        int count = 64;
        CountDownLatch done = new CountDownLatch(count);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(Thread.ofVirtual().unstarted(() -> {
                for (int j = 0; j < 5; j++) {
                    lock.lock();
                    try {
                        Thread.sleep(1); // as a monitor that is taken would, it costs the carrier
                    } catch (InterruptedException e) {
                        return;
                    } finally {
                        lock.unlock();
                    }
                }
                done.countDown();
            }));
        }
        threads.forEach(Thread::start);
        boolean ended = done.await(20, TimeUnit.SECONDS);
        threads.forEach(Thread::interrupt);
        assertTrue(ended, () -> done.getCount() + " threads wait for a lock whose holder does not run");
    }
}
