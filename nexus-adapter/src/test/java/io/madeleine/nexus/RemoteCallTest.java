package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The threads that work for a call: whoever has left is not interrupted, in whatever order they leave. */
@Timeout(30)
class RemoteCallTest {
    private static final Method METHOD = RemoteCallTest.class.getDeclaredMethods()[0];

    private final RemoteCall call = new RemoteCall(3, System.nanoTime() + 1_000_000_000_000L, METHOD, false);

    /** A thread that works for the call until it is interrupted or let go, and then lives on. */
    private final class Worker {
        private final CountDownLatch go = new CountDownLatch(1);
        private final CountDownLatch left = new CountDownLatch(1);
        private final CompletableFuture<Void> end = new CompletableFuture<>();
        private final CompletableFuture<Boolean> interruptedInside = new CompletableFuture<>();
        private final CompletableFuture<Boolean> interruptedAfterwards = new CompletableFuture<>();

        Worker() throws InterruptedException {
            CountDownLatch inside = new CountDownLatch(1);
            Thread.ofVirtual().start(() -> {
                call.run(() -> {
                    assertSame(call, RemoteCall.current().orElseThrow());
                    inside.countDown();
                    try {
                        go.await();
                        interruptedInside.complete(false);
                    } catch (InterruptedException e) {
                        interruptedInside.complete(true);
                        Thread.currentThread().interrupt();
                    }
                });
                assertTrue(RemoteCall.current().isEmpty());
                left.countDown();
                end.join(); // keeps an interrupt
                interruptedAfterwards.complete(Thread.currentThread().isInterrupted());
            });
            inside.await();
        }

        void leave() throws InterruptedException {
            go.countDown();
            left.await();
        }

        void assertWasInterrupted(boolean expected) throws Exception {
            assertEquals(expected, interruptedInside.get(20, TimeUnit.SECONDS));
            left.await();
            end.complete(null);
            assertFalse(interruptedAfterwards.get(20, TimeUnit.SECONDS), "the interrupt was meant for the call");
        }
    }

    @Test
    void shouldInterruptThoseThatStillWorkWhoeverHasLeft() throws Exception {
        int[][] orders = {{}, {0}, {1}, {2}, {0, 1}, {1, 0}, {1, 2}, {2, 1}, {0, 2}, {2, 0}, {0, 1, 2}, {2, 1, 0}};
        for (int[] order : orders) {
            RemoteCallTest each = new RemoteCallTest();
            List<Worker> workers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                workers.add(each.new Worker());
            }
            List<Worker> left = new ArrayList<>(workers);
            for (int index : order) {
                workers.get(index).leave();
                left.remove(workers.get(index));
            }
            each.call.cancel();
            for (Worker worker : workers) {
                worker.assertWasInterrupted(left.contains(worker));
            }
            assertEquals(3, each.call.caller());
            assertTrue(each.call.isCancelled());
        }
    }

    @Test
    void shouldInterruptAThreadThatBeginsToWorkForACancelledCall() {
        call.cancel();
        boolean[] seen = new boolean[1];
        call.run(() -> {
            seen[0] = Thread.currentThread().isInterrupted();
            call.run(() -> {}); // within itself: the same
        });
        assertTrue(seen[0]);
        assertFalse(Thread.interrupted());
    }

    @Test
    void shouldLeaveAnInterruptThatWasNotMeantForTheCall() {
        Thread.currentThread().interrupt();
        call.run(() -> {});
        assertTrue(Thread.interrupted());
    }

    @Test
    void shouldRunEachActionOnceAndNoneThatWasForgotten() throws Exception {
        BlockingQueue<String> ran = new LinkedBlockingQueue<>();
        Runnable forgotten = () -> ran.add("forgotten");
        call.forget(forgotten);
        call.onCancel(() -> ran.add("one"));
        call.onCancel(forgotten);
        call.onCancel(() -> ran.add("two"));
        call.forget(forgotten);
        assertFalse(call.isCancelled());
        call.cancel();
        call.cancel();
        call.onCancel(() -> ran.add("late"));
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.add(ran.poll(20, TimeUnit.SECONDS));
        }
        all.sort(null);
        assertEquals(List.of("late", "one", "two"), all);
        assertEquals(null, ran.poll(20, TimeUnit.MILLISECONDS));
    }

    @Test
    void shouldHandItselfToTheTasksThatItWrapsAndItsDeadlineToTheCallsMadeForIt() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        Runnable task = () -> {
            assertSame(call, RemoteCall.current().orElseThrow());
            inside.incrementAndGet();
        };
        Runnable[] wrapped = new Runnable[1];
        List<Callable<String>> made = new ArrayList<>();
        call.run(() -> {
            wrapped[0] = RemoteCall.wrap(task);
            RemoteCall.wrap((Executor) Runnable::run).execute(task);
            Supplier<String> supplier =
                    RemoteCall.wrapSupplier(() -> RemoteCall.current().isPresent() ? "made" : "");
            made.add(supplier::get);
            made.add(RemoteCall.wrap(() -> RemoteCall.current().isPresent() ? "called" : ""));
            assertEquals(call.deadlineNs(), RemoteCall.inheritedDeadlineNs(call.deadlineNs()));
            assertEquals(call.deadlineNs(), RemoteCall.inheritedDeadlineNs(call.deadlineNs() + 1));
            assertEquals(call.deadlineNs() - 1, RemoteCall.inheritedDeadlineNs(call.deadlineNs() - 1));
        });
        wrapped[0].run();
        assertEquals(2, inside.get());
        assertSame(task, RemoteCall.wrap(task), "no call: the task itself");
        assertEquals(5, RemoteCall.inheritedDeadlineNs(5));
        assertEquals("made", made.get(0).call());
        assertEquals("called", made.get(1).call());
        assertTrue(call.remainingNs() > 0 && call.remainingNs() < 1_000_000_000_000L);
    }
}
