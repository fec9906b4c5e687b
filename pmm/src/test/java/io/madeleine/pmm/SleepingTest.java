package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Demand;
import io.madeleine.pmm.spi.ProgressSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One leader's sleep, step by step, in a reactor that the test plays. */
@Timeout(30)
class SleepingTest {
    private static final long SECOND_NS = 1_000_000_000;

    /** Does during a sleep what the test wants, and wakes up. */
    private static final class Bed extends PlayedReactor {
        final List<Long> timeouts = new ArrayList<>();
        Runnable meanwhile = () -> {};
        BooleanSupplier mayHandle = () -> false;
        int wakeCount;

        @Override
        public int sleep(long timeoutNs) {
            timeouts.add(timeoutNs);
            meanwhile.run();
            return 0;
        }

        @Override
        public int sleep(long timeoutNs, BooleanSupplier mayHandle) {
            this.mayHandle = mayHandle;
            return sleep(timeoutNs);
        }

        @Override
        public void wakeUp() {
            wakeCount++;
        }
    }

    /** A network that knows whether it is armed. */
    private static final class Source implements ProgressSource {
        boolean armed;
        boolean quiet = true;
        boolean rearms = true;
        long longestNs = Long.MAX_VALUE;
        int forAMomentCount;

        @Override
        public int poll(long nowNs) {
            return 0;
        }

        @Override
        public boolean armForBlocking() {
            armed = true;
            return quiet;
        }

        @Override
        public boolean rearm() {
            armed = true;
            return rearms;
        }

        @Override
        public long longestSleepNs() {
            return longestNs;
        }

        @Override
        public void disarm() {
            armed = false;
        }

        @Override
        public void disarmForAMoment() {
            forAMomentCount++;
            armed = false;
        }
    }

    /** Idle: it only says that nobody else wants the lead. */
    private final SelectorReactor othersBed = new SelectorReactor();

    private final ProgressEngine engine =
            new ProgressEngine("idle", othersBed, new WaitPolicy(WaitMode.ADAPTIVE, 0, 0));
    private final Bed bed = new Bed();
    private final Source source = new Source();
    private final Rounds rounds = new Rounds(bed);
    private final Lead lead = new Lead();
    private final Demands demands = new Demands();
    private final WaitList waitList = new WaitList(bed, new WaitHintCounts(), new VirtualWakeups(lead));
    private final Sleeping sleeping = new Sleeping(engine, lead, rounds, waitList, bed, demands);
    private final Thread self = Thread.currentThread();

    /** The session's own thread, which may have fallen asleep with the lead. */
    private final Thread other = Thread.ofPlatform().unstarted(() -> {});

    private final Waitable on = new Waitable();

    SleepingTest() {
        rounds.addSource(source);
    }

    @AfterEach
    void close() {
        engine.close();
        othersBed.close();
    }

    private static long in(long ns) {
        return System.nanoTime() + ns;
    }

    // ---- a thread that leads for itself

    private boolean sleep(long deadlineNs, long longestNs) {
        boolean met = sleeping.sleep(on, () -> false, deadlineNs, longestNs);
        assertFalse(sleeping.isAsleep());
        assertFalse(source.armed);
        assertFalse(rounds.isPolling());
        return met;
    }

    private long lastTimeoutNs() {
        return bed.timeouts.getLast();
    }

    private static void assertJustBelow(long expectedNs, long foundNs) {
        assertTrue(foundNs <= expectedNs && foundNs > expectedNs / 2, foundNs + " of " + expectedNs);
    }

    @Test
    void shouldSleepWhileAllNetworksAreArmedAndSaySo() {
        List<Boolean> seen = new ArrayList<>();
        bed.meanwhile = () -> {
            seen.add(sleeping.isAsleep());
            seen.add(source.armed);
            seen.add(sleeping.lastsPast(in(3_600 * SECOND_NS)));
            seen.add(engine.isAwaited(on));
        };
        assertFalse(sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE));
        assertEquals(List.of(Long.MAX_VALUE), bed.timeouts, "nothing ends it but an event");
        assertEquals(List.of(true, true, true, true), seen);
        assertFalse(engine.isAwaited(on));
        assertFalse(sleeping.lastsPast(System.nanoTime()), "it is over");
    }

    @Test
    void shouldSleepNoLongerThanAnyoneWants() {
        sleep(in(100 * SECOND_NS), Long.MAX_VALUE);
        assertJustBelow(100 * SECOND_NS, lastTimeoutNs());
        sleep(in(100 * SECOND_NS), 50 * SECOND_NS);
        assertJustBelow(50 * SECOND_NS, lastTimeoutNs());
        sleep(ProgressEngine.NO_DEADLINE, 40 * SECOND_NS);
        assertJustBelow(40 * SECOND_NS, lastTimeoutNs());
        source.longestNs = 20 * SECOND_NS;
        sleep(in(100 * SECOND_NS), 50 * SECOND_NS);
        assertJustBelow(20 * SECOND_NS, lastTimeoutNs());
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertJustBelow(20 * SECOND_NS, lastTimeoutNs());
        Demand demand = demands.newDemand();
        demand.dueAt(in(10 * SECOND_NS));
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertJustBelow(20 * SECOND_NS, lastTimeoutNs()); // nobody holds it
        demand.hold();
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertJustBelow(10 * SECOND_NS, lastTimeoutNs());
        source.longestNs = Long.MAX_VALUE;
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertJustBelow(10 * SECOND_NS, lastTimeoutNs());
        demand.dueAt(Demand.NONE);
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertEquals(Long.MAX_VALUE, lastTimeoutNs());
    }

    /** Who sets a deadline wakes a sleeper that would miss it, and no other. */
    @Test
    void shouldSayWhetherItEndsBeforeATime() {
        List<Boolean> seen = new ArrayList<>();
        bed.meanwhile = () -> {
            seen.add(sleeping.lastsPast(in(30 * SECOND_NS)));
            seen.add(sleeping.lastsPast(in(60 * SECOND_NS)));
        };
        sleep(ProgressEngine.NO_DEADLINE, 45 * SECOND_NS);
        assertEquals(List.of(true, false), seen);
    }

    @Test
    void shouldNotSleepIfThereIsSomethingToDo() {
        assertTrue(sleeping.sleep(on, () -> true, ProgressEngine.NO_DEADLINE, Long.MAX_VALUE), "it has come");
        assertFalse(source.armed);
        assertFalse(sleep(in(-1), Long.MAX_VALUE), "its deadline has come");
        source.quiet = false;
        assertFalse(sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE), "a network has an event");
        source.quiet = true;
        assertFalse(sleeping.sleep(
                on,
                () -> {
                    waitList.signal(on); // just after it has looked
                    return false;
                },
                ProgressEngine.NO_DEADLINE,
                Long.MAX_VALUE));
        sleeping.hurry();
        assertFalse(sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE), "an impatient thread waits");
        assertTrue(sleeping.takeHurry());
        assertFalse(sleeping.takeHurry(), "it is told once");
        assertEquals(List.of(), bed.timeouts);
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertEquals(1, bed.timeouts.size());
        lead.close();
        assertFalse(sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE), "the session closes");
        assertEquals(1, bed.timeouts.size());
    }

    @Test
    void shouldKnowWhetherAChangeWasToldToItAlone() {
        bed.meanwhile = () -> waitList.signal(on);
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertFalse(sleeping.wasTold());
        bed.meanwhile = () -> waitList.signalOne(on);
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertTrue(sleeping.wasTold(), "another waiter may need it");
        assertEquals(2, bed.wakeCount);
        bed.meanwhile = () -> {};
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertFalse(sleeping.wasTold());
    }

    @Test
    void shouldBeWokenByAnImpatientThreadOnlyWhileItSleeps() {
        sleeping.hurry();
        assertEquals(0, bed.wakeCount);
        assertTrue(sleeping.takeHurry());
        bed.meanwhile = sleeping::hurry;
        sleep(ProgressEngine.NO_DEADLINE, Long.MAX_VALUE);
        assertEquals(1, bed.wakeCount);
    }

    // ---- the session's own thread, whose lead others may take

    private boolean sleepForOthers() {
        return sleeping.sleepForOthers(self, () -> false);
    }

    @Test
    void shouldHaveTheLeadAfterASleepInWhichNobodyTookIt() {
        assertTrue(lead.tryTake(self));
        List<Boolean> seen = new ArrayList<>();
        bed.meanwhile = () -> {
            seen.add(lead.isAsleep());
            seen.add(source.armed);
            seen.add(sleeping.isAsleep());
            seen.add(bed.mayHandle.getAsBoolean()); // it comes back for an event
            seen.add(lead.isHeldBy(self));
        };
        assertTrue(sleepForOthers());
        assertEquals(List.of(true, true, true, true, true), seen);
        assertTrue(lead.isHeldBy(self));
        assertFalse(lead.hasOtherSleeper());
        assertFalse(sleeping.isAsleep());
        assertFalse(source.armed);
        assertTrue(lastTimeoutNs() <= 10 * SECOND_NS, "it looks by itself now and then whether all is well");
    }

    @Test
    void shouldLeaveAllToWhoeverHasTakenTheLeadMeanwhile() {
        assertTrue(lead.tryTake(self));
        bed.meanwhile = () -> {
            assertTrue(lead.tryTake(other));
            assertFalse(bed.mayHandle.getAsBoolean());
        };
        assertFalse(sleepForOthers());
        assertTrue(source.armed, "the other one disarms it");
        assertTrue(sleeping.isAsleep(), "until the other one says otherwise");
        assertTrue(sleeping.end());
        assertFalse(sleeping.isAsleep());
        assertEquals(1, source.forAMomentCount);
        assertFalse(sleeping.end(), "nobody sleeps any more");
        assertEquals(1, source.forAMomentCount);
    }

    @Test
    void shouldNotFallAsleepForOthersIfThereIsSomethingToDo() {
        assertTrue(lead.tryTake(self));
        assertTrue(sleeping.sleepForOthers(self, () -> true));
        source.quiet = false;
        assertTrue(sleepForOthers());
        source.quiet = true;
        sleeping.hurry();
        assertTrue(sleepForOthers());
        assertTrue(sleeping.takeHurry());
        source.longestNs = 0;
        assertTrue(sleepForOthers());
        assertEquals(List.of(), bed.timeouts);
        assertFalse(source.armed);
        assertFalse(sleeping.isAsleep());
        assertTrue(lead.isHeldBy(self));
        source.longestNs = 1;
        assertTrue(sleepForOthers());
        assertEquals(List.of(1L), bed.timeouts);
    }

    // ---- giving the lead back

    /** This thread has taken the lead from a sleeper, which sleeps on; that one would have slept so long. */
    private void takeFromSleeper(long sleptNs) {
        assertTrue(lead.tryTake(other));
        source.longestNs = sleptNs;
        bed.meanwhile = () -> assertTrue(lead.tryTake(self));
        assertFalse(sleeping.sleepForOthers(other, () -> false));
        lead.fallAsleep(other); // as if it had not come back
        assertTrue(lead.tryTake(self));
        assertTrue(sleeping.end());
    }

    @Test
    void shouldGiveTheLeadBackToWhoeverSleepsOn() {
        takeFromSleeper(Long.MAX_VALUE);
        assertTrue(sleeping.giveBack());
        assertTrue(lead.isAsleep());
        assertTrue(sleeping.isAsleep());
        assertTrue(source.armed);
        assertEquals(0, bed.wakeCount);
    }

    @Test
    void shouldKeepTheLeadThatNobodyCanHaveBack() {
        assertTrue(lead.tryTake(self));
        assertFalse(sleeping.giveBack());
        assertFalse(source.armed);
        assertTrue(lead.isHeldBy(self));
    }

    private void assertKeepsTheLead() {
        assertFalse(sleeping.giveBack());
        assertTrue(lead.isHeldBy(self));
        assertFalse(sleeping.isAsleep());
        assertFalse(source.armed);
        assertFalse(rounds.isPolling());
    }

    /** A network that cannot be armed cheaply, an impatient thread, a deadline, or the end. */
    @Test
    void shouldKeepTheLeadIfTheSleeperWouldHaveToWakeUp() {
        takeFromSleeper(2 * SECOND_NS);
        source.rearms = false;
        assertKeepsTheLead();
        source.rearms = true;
        sleeping.hurry();
        assertKeepsTheLead();
        assertTrue(sleeping.takeHurry());
        Demand demand = demands.newDemand();
        demand.hold();
        demand.dueAt(in(SECOND_NS / 2));
        assertKeepsTheLead();
        demand.dueAt(in(60 * SECOND_NS));
        assertTrue(sleeping.giveBack(), "the sleeper looks before that");
        assertTrue(lead.tryTake(self));
        assertTrue(sleeping.end());
        lead.close();
        assertKeepsTheLead();
    }
}
