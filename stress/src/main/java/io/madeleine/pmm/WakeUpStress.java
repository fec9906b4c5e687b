package io.madeleine.pmm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * The rule by which no wake-up is lost: who waits registers and looks again, who changes something changes it and looks
 * for waiters. One of the two always sees the other.
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "The waiter parks and nobody wakes it.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The waiter sees the change, or is seen.")
@State
public class WakeUpStress {
    private final Waitable waitable = new Waitable();
    private volatile boolean changed;

    @Actor
    public void waiter(ZZ_Result result) {
        waitable.waiterCount = 1;
        result.r1 = changed;
    }

    @Actor
    public void changer(ZZ_Result result) {
        changed = true;
        result.r2 = waitable.waiterCount != 0;
    }
}
