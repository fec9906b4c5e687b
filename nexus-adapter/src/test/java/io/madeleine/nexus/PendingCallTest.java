package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Signal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call that has been made, from its begin to its end: who is told, once, and in which thread. */
@Timeout(30)
class PendingCallTest {
    @RemoteService
    interface Any {
        int any();
    }

    private static final ServiceMethod METHOD =
            ServiceMethod.all(Any.class, new Codecs(10), 1).values().iterator().next();

    private final AtomicInteger signals = new AtomicInteger();
    private final List<String> seen = new ArrayList<>();

    private final Signal signal = new Signal() {
        @Override
        public void await(BooleanSupplier condition) {
            throw new AssertionError("without a deadline");
        }

        @Override
        public boolean await(BooleanSupplier condition, long timeout, TimeUnit unit) {
            seen.add("waits " + unit.toNanos(timeout) + " ns");
            return condition.getAsBoolean();
        }

        @Override
        public void signal() {
            signals.incrementAndGet();
        }
    };

    private final PendingCall.Reading reading = new PendingCall.Reading() {
        @Override
        public void read() {
            seen.add("read");
        }

        @Override
        public void drop() {
            seen.add("dropped");
        }
    };

    private PendingCall.Sync sync() {
        return new PendingCall.Sync(7, 3, METHOD, 1_000, null, signal, 3);
    }

    private static PendingCall.Async async(PendingCall.Async.Future future) {
        return new PendingCall.Async(8, 3, METHOD, 1_000, null, future);
    }

    @Test
    void shouldKnowWhatItWasMadeWith() {
        PendingCall call = sync();
        assertEquals("7 7 3 1000", call.id() + " " + call.key() + " " + call.rank() + " " + call.deadlineNs());
        assertSame(METHOD, call.method());
        assertNull(call.outgoing());
        assertNull(call.route());
        assertFalse(call.isGivenUp());
        call.givenUp();
        assertTrue(call.isGivenUp());
    }

    @Test
    void shouldRoundTheTimeToItsDeadlineToMilliseconds() {
        long[][] samples = {
            {-5_000_000, 0},
            {0, 0},
            {499_999, 0},
            {500_000, 1},
            {1_499_999, 1},
            {1_500_000, 2},
            {20_000_000, 20},
            {Long.MAX_VALUE / 4, Integer.MAX_VALUE}
        };
        for (long[] sample : samples) {
            PendingCall call = sync();
            call.begins(sample[0]);
            assertEquals(sample[1], call.givenMs(), () -> sample[0] + " ns");
        }
    }

    @Test
    void shouldWakeItsThreadOnceWithItsResultOrItsFailure() {
        PendingCall.Sync answered = sync();
        assertFalse(answered.awaitDone(11));
        assertEquals(List.of("waits 11 ns"), seen);
        answered.succeed("x");
        assertEquals(1, signals.get());
        assertTrue(answered.isDone() && answered.awaitDone(0));
        answered.take();
        assertEquals("x", answered.value());
        assertNull(answered.failure());

        PendingCall.Sync failed = sync();
        IllegalStateException why = new IllegalStateException("as a test");
        failed.fail(why);
        assertEquals(2, signals.get());
        assertTrue(failed.isDone());
        assertSame(why, failed.failure());
        assertNull(failed.value());
    }

    @Test
    void shouldLeaveTheLargePartsOfItsAnswerToItsThread() {
        for (boolean takes : new boolean[] {true, false}) {
            seen.clear();
            PendingCall.Sync call = sync();
            int before = signals.get();
            call.readLater(reading);
            assertTrue(call.isDone());
            assertEquals(before + 1, signals.get());
            assertEquals(List.of(), seen, "the receiving thread must not read");
            for (int i = 0; i < 2; i++) {
                if (takes) {
                    call.take();
                } else {
                    call.drop();
                }
            }
            call.drop();
            call.take();
            assertEquals(List.of(takes ? "read" : "dropped"), seen, "once");
        }
    }

    @Test
    void shouldReadTheLargePartsOfAFuturesAnswerInAnotherThread() throws Exception {
        CompletableFuture<Boolean> virtually = new CompletableFuture<>();
        async(new PendingCall.Async.Future()).readLater(new PendingCall.Reading() {
            @Override
            public void read() {
                virtually.complete(Thread.currentThread().isVirtual());
            }

            @Override
            public void drop() {}
        });
        assertTrue(virtually.get(20, TimeUnit.SECONDS));
    }

    @Test
    void shouldTellOnceThatItsUserHasGivenItUp() {
        List<PendingCall.Async.Future> futures = new ArrayList<>();
        AtomicInteger givenUp = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            PendingCall.Async.Future future = new PendingCall.Async.Future();
            future.whenGivenUp(givenUp::incrementAndGet);
            futures.add(future);
        }
        assertTrue(futures.get(0).cancel(true));
        assertEquals(1, givenUp.get());
        assertTrue(futures.get(1).complete("mine"));
        assertEquals(2, givenUp.get());
        assertTrue(futures.get(2).completeExceptionally(new IllegalStateException("mine")));
        assertEquals(3, givenUp.get());
        for (PendingCall.Async.Future future : futures) {
            assertEquals(future.isCancelled(), future.cancel(true), "as of the JDK's futures");
            assertFalse(future.complete("again"));
            assertFalse(future.completeExceptionally(new IllegalStateException("again")));
            assertFalse(future.answer("late"));
            assertFalse(future.fail(new IllegalStateException("late")));
        }
        assertEquals("mine", futures.get(1).join());
        assertTrue(new PendingCall.Async.Future().cancel(true), "nobody wants to know");
    }

    @Test
    void shouldNotTakeItsAnswerForAGivingUp() {
        AtomicInteger givenUp = new AtomicInteger();
        PendingCall.Async.Future answered = new PendingCall.Async.Future();
        answered.whenGivenUp(givenUp::incrementAndGet);
        async(answered).succeed("x");
        assertEquals("x", answered.join());
        PendingCall.Async.Future failed = new PendingCall.Async.Future();
        failed.whenGivenUp(givenUp::incrementAndGet);
        async(failed).fail(new IllegalStateException("as a test"));
        assertEquals(
                "as a test",
                assertThrows(CompletionException.class, failed::join).getCause().getMessage());
        assertEquals(0, givenUp.get());
        assertTrue(new PendingCall.Async.Future().answer("x"));
        assertTrue(new PendingCall.Async.Future().fail(new IllegalStateException("as a test")));
    }

    @Test
    void shouldCompleteInTheReceivingThreadUnlessItsUserHasAttachedActions() throws Exception {
        PendingCall.Async.Future plain = new PendingCall.Async.Future();
        List<Thread> threads = new ArrayList<>();
        plain.finish(() -> threads.add(Thread.currentThread()));
        assertEquals(List.of(Thread.currentThread()), threads);

        PendingCall.Async.Future withAction = new PendingCall.Async.Future();
        CompletableFuture<Boolean> virtually =
                withAction.thenApply(_ -> Thread.currentThread().isVirtual());
        async(withAction).succeed("x");
        assertTrue(virtually.get(20, TimeUnit.SECONDS), "the action might block the receiving thread");
    }

    @Test
    void shouldStandInALineUntilItsFailureCanBeTold() {
        PendingCall first = sync();
        PendingCall second = sync();
        assertNull(first.nextUntold());
        assertNull(first.untold());
        OutOfMemoryError why = new OutOfMemoryError("as a test");
        first.standsBefore(null, why);
        second.standsBefore(first, why);
        assertNull(first.nextUntold());
        assertSame(first, second.nextUntold());
        assertSame(why, second.untold());
    }

    @Test
    void shouldEndWithTheCallThatItIsMadeForUnlessItHasEndedBefore() throws Exception {
        BlockingQueue<String> told = new LinkedBlockingQueue<>(); // by threads of their own
        RemoteCall parent = new RemoteCall(
                3,
                System.nanoTime() + TimeUnit.HOURS.toNanos(1),
                PendingCallTest.class.getDeclaredMethods()[0],
                false);
        PendingCall.Async alone = async(new PendingCall.Async.Future());
        alone.leaveParent(); // it has none
        PendingCall.Async ended = async(new PendingCall.Async.Future());
        ended.madeFor(parent, () -> told.add("ended"));
        PendingCall.Async open = async(new PendingCall.Async.Future());
        open.madeFor(parent, () -> told.add("open"));
        ended.leaveParent();
        parent.cancel();
        assertEquals("open", told.poll(20, TimeUnit.SECONDS));
        assertNull(told.poll(50, TimeUnit.MILLISECONDS));
    }
}
