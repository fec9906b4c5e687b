package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * The protocol that prevents lost wake-ups. A waiter registers and then checks the condition; a thread that changes the
 * condition then checks for waiters. At least one of the two sees the other.
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "The waiter parks and no thread wakes it.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The waiter sees the change, or is signalled.")
@State
public class WakeUpStress {
    static final Reactor REACTOR = new SelectorReactor();

    private final WaitList list = new WaitList(REACTOR, new WaitHintCounts(), new VirtualWakeups(new Lead()));
    private final Waitable waitable = new Waitable();
    private @Nullable Waiter waiter;
    private volatile boolean changed;

    @Actor
    public void waiter(ZZ_Result result) {
        waiter = list.enlist(waitable, Thread.currentThread(), true);
        result.r1 = changed;
    }

    @Actor
    public void changer() {
        changed = true;
        if (!waitable.waiters.isEmpty()) {
            list.signalOne(waitable);
        }
    }

    @Arbiter
    public void told(ZZ_Result result) {
        result.r2 = waiter != null && waiter.signalled;
    }
}
