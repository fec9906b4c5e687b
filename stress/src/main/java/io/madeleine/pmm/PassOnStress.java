package io.madeleine.pmm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/** One of two waiters gives up while one of them is signalled: the signal reaches the other waiter. */
@JCStressTest
@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "The remaining waiter was signalled.")
@Outcome(id = "false", expect = Expect.FORBIDDEN, desc = "The signal was lost with the waiter that left.")
@State
public class PassOnStress {
    private final WaitList list =
            new WaitList(WakeUpStress.REACTOR, new WaitHintCounts(), new VirtualWakeups(new Lead()));
    private final Waitable waitable = new Waitable();
    private final Waiter leaving = list.enlist(waitable, Thread.currentThread(), true);
    private final Waiter staying = list.enlist(waitable, Thread.currentThread(), false);

    @Actor
    public void changer() {
        list.signalOne(waitable);
    }

    @Actor
    public void leaver() {
        if (list.delist(waitable, leaving)) {
            list.signalOne(waitable);
        }
    }

    @Arbiter
    public void told(Z_Result result) {
        result.r1 = staying.signalled;
    }
}
