package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waits of handlers: in a thread that leads, in one that does not, and in the session's own. */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandlerWaitsTest {
    private static final long BOUND_NS = 20_000_000;

    private final SelectorReactor reactor = new SelectorReactor();
    private final ProgressEngine engine =
            new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.ADAPTIVE, 20_000, 1, BOUND_NS));
    private final FakeNetwork network = new FakeNetwork(reactor);
    private final AtomicInteger received = new AtomicInteger();

    /** What the handler may wait for as long as it takes: the arrivals of its message. */
    private final Waitable own = new Waitable();

    private final Waitable reply = new Waitable(null, "use something else");
    private volatile @Nullable Thread receiver;
    private volatile @Nullable Thread caller;
    private volatile @Nullable Runnable next;
    private volatile @Nullable Throwable failure;
    private final Dispatcher dispatcher = engine.addDispatcher(
            "channel 7", this::handle, () -> next != null && Thread.currentThread() == caller, WaitHint.AUTO);

    HandlerWaitsTest() {
        network.listener = () -> {
            receiver = Thread.currentThread();
            received.incrementAndGet();
            engine.signal(own);
        };
        engine.addSource(network);
    }

    @AfterEach
    void close() {
        assertEquals(1, engine.demand(), "the dispatcher's; a wait leaves none behind");
        engine.close();
        network.freed = true;
        reactor.close();
        assertNull(network.violation.get());
    }

    private static long in(long microseconds) {
        return System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(microseconds);
    }

    private static void awaitThat(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.yield();
        }
    }

    private int handle() {
        Runnable handler = next;
        dispatcher.handling(own);
        try {
            handler.run();
        } catch (Throwable e) {
            failure = e;
        }
        next = null;
        return 1;
    }

    private void checkFailure() {
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
    }

    // ---- where handlers run

    private void asLeader(Runnable handler) {
        caller = Thread.currentThread();
        next = handler;
        while (next != null) {
            int _ = engine.progress();
        }
        checkFailure();
    }

    private void beside(Runnable handler) {
        awaitThat(engine::isLeadAsleep);
        assertTrue(dispatcher.tryEnter());
        try {
            dispatcher.handling(own);
            handler.run();
        } finally {
            dispatcher.leave();
        }
    }

    private void inTheSessionsThread(Runnable handler) {
        caller = engine.ownThreadOnDuty();
        next = handler;
        engine.requestRound();
        awaitThat(() -> next == null);
        checkFailure();
    }

    private List<Consumer<Runnable>> everywhere() {
        return List.of(this::asLeader, this::beside, this::inTheSessionsThread);
    }

    // ---- the bound

    @Test
    void shouldWaitForItsOwnMessageAsLongAsItTakes() {
        for (Consumer<Runnable> place : everywhere()) {
            place.accept(() -> {
                int before = received.get();
                long atNs = System.nanoTime() + 2 * BOUND_NS;
                Thread sender = Thread.ofPlatform().daemon().start(() -> {
                    awaitThat(() -> System.nanoTime() - atNs >= 0);
                    network.send();
                });
                assertTrue(engine.await(own, () -> received.get() > before, ProgressEngine.NO_DEADLINE));
                assertTrue(System.nanoTime() - atNs >= 0);
                assertFalse(engine.await(own, () -> false, System.nanoTime() + 2 * BOUND_NS), "its deadline came");
                awaitThat(() -> !sender.isAlive());
            });
        }
    }

    @Test
    void shouldFailALongWaitForAnythingElseAndSayWhoWaitedAndWhatMendsIt() {
        for (Consumer<Runnable> place : everywhere()) {
            for (long deadlineNs : new long[] {ProgressEngine.NO_DEADLINE, System.nanoTime() + 60_000_000_000L}) {
                place.accept(() -> {
                    long startNs = System.nanoTime();
                    IllegalStateException e = assertThrows(
                            IllegalStateException.class, () -> engine.await(reply, () -> false, deadlineNs));
                    assertTrue(System.nanoTime() - startNs >= BOUND_NS);
                    String text = String.valueOf(e.getMessage());
                    assertTrue(text.startsWith("a handler of channel 7 waited for 20 ms"), text);
                    assertTrue(text.contains("madeleine.wait.in-handlers"), text);
                    assertTrue(text.endsWith("use something else"), text);
                });
            }
        }
    }

    @Test
    void shouldHeedADeadlineThatComesBeforeTheBound() {
        for (Consumer<Runnable> place : everywhere()) {
            for (long microseconds : new long[] {0, 20, 1_000, 8_000}) {
                place.accept(() -> {
                    long deadlineNs = in(microseconds);
                    assertFalse(engine.await(reply, () -> false, deadlineNs));
                    assertTrue(System.nanoTime() - deadlineNs >= 0);
                });
            }
        }
    }

    // ---- interrupts

    /** It is meant for what the thread does itself, not for the handler that it happens to run. */
    @Test
    void shouldNotEndForAnInterruptAndGiveItBack() {
        for (Consumer<Runnable> place : List.<Consumer<Runnable>>of(this::asLeader, this::beside)) {
            place.accept(() -> {
                Thread.currentThread().interrupt();
                assertFalse(engine.await(reply, () -> false, in(5_000)));
                assertTrue(Thread.interrupted());
                Thread.currentThread().interrupt();
                assertThrows(
                        IllegalStateException.class,
                        () -> engine.await(reply, () -> false, ProgressEngine.NO_DEADLINE));
                assertTrue(Thread.interrupted());
            });
        }
    }

    // ---- who leads

    /** A message that is there already costs no change of the leader. */
    @Test
    void shouldLookByItselfForWhatHasArrived() {
        for (Consumer<Runnable> place : everywhere()) {
            place.accept(() -> {
                Thread self = Thread.currentThread();
                boolean looked = false;
                for (int i = 0; i < 1_000 && !looked; i++) { // the session's thread may lead just now
                    network.lastVisitor.set(null);
                    looked = engine.await(own, () -> network.lastVisitor.get() == self, in(1_000));
                }
                assertTrue(looked);
                assertFalse(dispatcher.hasReleasedLead());
            });
        }
    }

    @Test
    @Tag("measures")
    void shouldKeepTheLeadForAMomentOnly() {
        asLeader(() -> {
            assertFalse(engine.await(reply, () -> false, in(1)));
            assertFalse(dispatcher.hasReleasedLead());
            assertTrue(engine.await(own, dispatcher::hasReleasedLead, in(10_000_000)));
        });
    }

    /** Others may wait for what this handler's channel does not bring: the session's thread leads for them. */
    @Test
    @Tag("measures")
    void shouldLeadForAMomentOnlyIfItDidNotLeadBefore() {
        Thread onDuty = engine.ownThreadOnDuty();
        for (boolean hasDeadline : new boolean[] {true, false}) {
            receiver = null;
            for (int i = 0; i < 20 && receiver != onDuty; i++) { // a busy machine may make the moment longer
                beside(() -> {
                    int before = received.get();
                    long sendNs = in(5_000);
                    Thread.ofPlatform().daemon().start(() -> {
                        awaitThat(() -> System.nanoTime() - sendNs >= 0);
                        network.send();
                    });
                    long deadlineNs = hasDeadline ? in(10_000_000) : ProgressEngine.NO_DEADLINE;
                    assertTrue(engine.await(own, () -> received.get() > before, deadlineNs));
                });
            }
            assertSame(onDuty, receiver);
        }
    }

    /** One who only called the handler has no lead to release: it goes on calling handlers. */
    @Test
    void shouldReleaseNoLeadThatItDidNotHave() {
        beside(() -> {
            assertFalse(engine.await(reply, () -> false, in(5_000)));
            assertFalse(dispatcher.hasReleasedLead());
        });
    }

    /** Whoever led before the wait: the session's own thread does after it. */
    @Test
    @Tag("measures")
    void shouldLeaveTheLeadToWhoeverHandlesWhatComesNext() {
        for (Consumer<Runnable> place : everywhere()) {
            place.accept(() -> assertFalse(engine.await(reply, () -> false, in(3_000))));
            int before = received.get();
            long beganNs = System.nanoTime();
            network.send();
            awaitThat(() -> received.get() > before);
            assertTrue(System.nanoTime() - beganNs < 2_000_000_000L, "not only when a thread looked by itself");
        }
    }

    /** Nothing else demands progress: no handler of a channel, no other thread. */
    @Test
    void shouldHaveTheSessionsThreadPollForASendTaskThatWaits() {
        SelectorReactor bed = new SelectorReactor();
        try (ProgressEngine idle = new ProgressEngine("idle", bed, new WaitPolicy(WaitMode.ADAPTIVE, 0, 0))) {
            AtomicBoolean arrived = new AtomicBoolean();
            Waitable arrival = new Waitable();
            FakeNetwork other = new FakeNetwork(bed);
            other.listener = () -> {
                arrived.set(true);
                idle.signal(arrival);
            };
            idle.addSource(other);
            AtomicBoolean isWaiting = new AtomicBoolean();
            AtomicBoolean met = new AtomicBoolean();
            Dispatcher sends = idle.addDispatcher(
                    "sends",
                    () -> {
                        long sendNs = in(5_000);
                        Thread.ofPlatform().daemon().start(() -> {
                            awaitThat(() -> System.nanoTime() - sendNs >= 0);
                            other.send();
                        });
                        isWaiting.set(true);
                        met.set(idle.await(arrival, arrived::get, in(4_000_000)));
                        return 1;
                    },
                    () -> !isWaiting.get());
            idle.dispatch(sends, true);
            assertTrue(met.get());
            assertEquals(0, idle.demand());
        } finally {
            bed.close();
        }
    }

    /** Handlers of other channels must run, and this one keeps the thread that would call them. */
    @Test
    @Tag("measures")
    void shouldHaveAnotherThreadOnDutyIfItKeepsTheOneThatIsAndNotForAShortWait() {
        for (int i = 0; i < 3; i++) {
            Thread onDuty = engine.ownThreadOnDuty();
            inTheSessionsThread(() -> {
                assertFalse(engine.await(reply, () -> false, in(500)));
                assertSame(onDuty, engine.ownThreadOnDuty());
                assertTrue(engine.await(own, () -> engine.ownThreadOnDuty() != onDuty, in(10_000_000)));
            });
        }
    }
}
