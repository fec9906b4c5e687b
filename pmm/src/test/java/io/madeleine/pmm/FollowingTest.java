package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.pmm.spi.Reactor;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that waits while another leads: a test has the lead, or leaves it free. */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FollowingTest {
    private static final long NEVER = ProgressEngine.NO_DEADLINE;

    private final SelectorReactor reactor = new SelectorReactor();
    private final ProgressEngine engine = new ProgressEngine("idle", reactor, new WaitPolicy(WaitMode.ADAPTIVE, 0, 0));
    private final Lead lead = new Lead();
    private final WaitList waitList = new WaitList(reactor, new WaitHintCounts(), new VirtualWakeups(lead));
    private final Sleeping sleeping = new Sleeping(engine, lead, new Rounds(reactor), waitList, reactor, new Demands());
    private final Following following = new Following(engine, lead, waitList, sleeping);
    private final Thread leader = Thread.ofPlatform().unstarted(() -> {});
    private final Waitable on = new Waitable();

    @AfterEach
    void close() {
        assertTrue(on.waiters.isEmpty(), "nobody is left in line");
        assertFalse(waitList.hasLeadSeekers());
        engine.close();
        reactor.close();
    }

    private static long in(long milliseconds) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
    }

    /** Does this in another thread once somebody waits. */
    private void onceAwaited(Runnable action) {
        Thread.ofPlatform().daemon().start(() -> {
            while (on.waiters.isEmpty()) {
                Thread.onSpinWait();
            }
            action.run();
        });
    }

    private static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Tag("measures")
    void shouldEndWhenItsConditionHolds() {
        lead.tryTake(leader);
        for (boolean mayLead : new boolean[] {false, true}) {
            assertEquals(WaitOutcome.MET, following.follow(on, () -> true, NEVER, mayLead));
            for (long deadlineNs : new long[] {NEVER, in(20_000)}) {
                AtomicBoolean met = new AtomicBoolean();
                onceAwaited(() -> {
                    pause(10);
                    met.set(true);
                    waitList.signal(on);
                });
                AtomicInteger looks = new AtomicInteger();
                long beganNs = System.nanoTime();
                assertEquals(
                        WaitOutcome.MET,
                        following.follow(on, () -> looks.incrementAndGet() > 0 && met.get(), deadlineNs, mayLead));
                assertTrue(System.nanoTime() - beganNs < 900_000_000, "it was told");
                assertTrue(looks.get() <= 10, looks + " looks"); // it sleeps
            }
        }
    }

    @Test
    @Tag("measures")
    void shouldEndAtItsDeadline() {
        lead.tryTake(leader);
        for (boolean mayLead : new boolean[] {false, true}) {
            for (int milliseconds : new int[] {-1, 0, 20}) {
                AtomicInteger looks = new AtomicInteger();
                long deadlineNs = in(milliseconds);
                assertEquals(
                        WaitOutcome.EXPIRED,
                        following.follow(
                                on,
                                () -> {
                                    looks.incrementAndGet();
                                    return false;
                                },
                                deadlineNs,
                                mayLead));
                assertTrue(System.nanoTime() - deadlineNs >= 0);
                assertTrue(looks.get() <= 10, looks + " looks"); // it sleeps
            }
        }
    }

    @Test
    @Tag("measures")
    void shouldSayThatTheLeadIsFreeIfItMayTakeIt() {
        assertEquals(WaitOutcome.LEAD_IS_FREE, following.follow(on, () -> false, NEVER, true));
        assertEquals(WaitOutcome.EXPIRED, following.follow(on, () -> false, in(5), false), "a virtual thread");
        lead.tryTake(leader);
        onceAwaited(() -> {
            lead.holder = Lead.NOBODY;
            waitList.offerLead();
        });
        long beganNs = System.nanoTime();
        assertEquals(WaitOutcome.LEAD_IS_FREE, following.follow(on, () -> false, NEVER, true));
        assertTrue(System.nanoTime() - beganNs < 900_000_000, "it was told");
    }

    /** The stack of the last leader may have overflowed before it could tell. */
    @Test
    void shouldFindByItselfThatTheLeadIsFree() {
        for (long deadlineNs : new long[] {NEVER, in(20_000)}) {
            lead.tryTake(leader);
            onceAwaited(() -> {
                pause(20);
                lead.holder = Lead.NOBODY;
            });
            assertEquals(WaitOutcome.LEAD_IS_FREE, following.follow(on, () -> false, deadlineNs, true));
        }
    }

    @Test
    void shouldHurryALeaderThatSleepsIfItIsImpatient() {
        lead.tryTake(leader);
        for (WaitHint hint : WaitHint.values()) {
            assertEquals(WaitOutcome.MET, following.follow(new Waitable(hint), () -> true, NEVER, false));
            assertEquals(hint == WaitHint.LATENCY, sleeping.takeHurry(), hint::toString);
        }
    }

    /** Who waits behind this thread when it has just been told, at its first look. */
    private Waiter tellAndStandBehind() {
        waitList.signalOne(on);
        return waitList.enlist(on, leader, false);
    }

    /** A change that serves any one of the waiters is for another one if this one fails. */
    @Test
    void shouldTellTheNextOneWhatItWasToldAndDoesNotTake() {
        lead.tryTake(leader);
        Waiter[] behind = new Waiter[1];
        assertThrows(
                IllegalStateException.class,
                () -> following.follow(
                        on,
                        () -> {
                            behind[0] = tellAndStandBehind();
                            throw new IllegalStateException("as a test");
                        },
                        NEVER,
                        false));
        assertTrue(behind[0].chosen);
        waitList.delist(on, behind[0]);

        assertEquals(
                WaitOutcome.MET,
                following.follow(
                        on,
                        () -> {
                            behind[0] = tellAndStandBehind();
                            return true;
                        },
                        NEVER,
                        false));
        assertFalse(behind[0].chosen, "it was taken");
        waitList.delist(on, behind[0]);
    }

    /** It goes to lead, and may not look before its first round. */
    @Test
    void shouldTellTheNextOneWhatItWasToldIfItLeavesToLead() {
        Waiter[] behind = new Waiter[1];
        assertEquals(
                WaitOutcome.LEAD_IS_FREE,
                following.follow(
                        on,
                        () -> {
                            behind[0] = tellAndStandBehind();
                            return false;
                        },
                        NEVER,
                        true));
        assertTrue(behind[0].chosen);
        waitList.delist(on, behind[0]);
    }

    @Test
    void shouldTellNobodyAnythingIfItWasToldNothing() {
        Waiter other = waitList.enlist(on, leader, false);
        assertEquals(WaitOutcome.LEAD_IS_FREE, following.follow(on, () -> false, NEVER, true));
        assertEquals(WaitOutcome.EXPIRED, following.follow(on, () -> false, in(1), false));
        assertEquals(WaitOutcome.MET, following.follow(on, () -> true, NEVER, false));
        assertFalse(other.chosen || other.signalled);
        waitList.delist(on, other);
    }

    /** A reactor in which nobody can take the lead from a thread that sleeps there. */
    private static final class HoldingReactor implements Reactor {
        private final SelectorReactor selector = new SelectorReactor();
        private volatile boolean slept;

        @Override
        public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
            return selector.register(channel, operations, handler);
        }

        @Override
        public int poll() {
            return selector.poll();
        }

        @Override
        public int sleep(long timeoutNs) {
            slept = true;
            return selector.sleep(timeoutNs);
        }

        @Override
        public void wakeUp() {
            selector.wakeUp();
        }

        @Override
        public void close() {
            selector.close();
        }
    }

    /** Who leads for itself gets its message sooner than from another one that is woken for it. */
    @Test
    @Tag("measures")
    void shouldHaveTheLeadFromTheSessionsThreadThoughThatSleeps() {
        HoldingReactor bed = new HoldingReactor();
        try (ProgressEngine busy = new ProgressEngine("busy", bed, new WaitPolicy(WaitMode.BLOCK, 0, 0))) {
            FakeNetwork network = new FakeNetwork(bed);
            AtomicBoolean arrived = new AtomicBoolean();
            network.listener = () -> arrived.set(true);
            busy.addSource(network);
            Dispatcher _ = busy.addDispatcher(() -> 0, WaitHint.AUTO);
            while (!bed.slept) {
                Thread.yield();
            }
            pause(50); // so that it has fallen asleep for good
            network.arrived.incrementAndGet(); // wakes nobody
            assertTrue(busy.await(new Waitable(), arrived::get, in(5_000)));
        } finally {
            bed.close();
        }
    }

    /** As its condition did not hold, what it was told was not for it: the next change is. */
    @Test
    void shouldBeTheFirstInLineAgainIfItWasToldInVain() {
        lead.tryTake(leader);
        Waiter[] behind = new Waiter[1];
        assertEquals(
                WaitOutcome.MET,
                following.follow(
                        on,
                        () -> {
                            if (behind[0] == null) {
                                behind[0] = tellAndStandBehind();
                                return false;
                            }
                            boolean isFirst = on.waiters.first().waiter != behind[0];
                            assertFalse(behind[0].chosen);
                            return isFirst;
                        },
                        NEVER,
                        false));
        waitList.delist(on, behind[0]);
    }

    /** What it is told while it looks it might not have seen. */
    @Test
    void shouldLookAgainIfItIsToldWhileItLooks() {
        lead.tryTake(leader);
        for (boolean one : new boolean[] {false, true}) {
            AtomicInteger looks = new AtomicInteger();
            assertEquals(
                    WaitOutcome.MET,
                    following.follow(
                            on,
                            () -> {
                                if (looks.incrementAndGet() > 3) {
                                    return true;
                                }
                                if (one) {
                                    waitList.signalOne(on);
                                } else {
                                    waitList.signal(on);
                                }
                                return false;
                            },
                            NEVER,
                            false));
            assertEquals(4, looks.get());
        }
    }

    @Test
    void shouldEndForAnInterruptAndForTheEndOfTheSession() {
        lead.tryTake(leader);
        Thread.currentThread().interrupt();
        assertThrows(WaitInterruptedException.class, () -> following.follow(on, () -> false, NEVER, true));
        assertTrue(Thread.interrupted());
        engine.close();
        assertThrows(SessionException.class, () -> following.follow(on, () -> false, NEVER, true));
    }
}
