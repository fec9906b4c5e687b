package io.madeleine.switching;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * The only sender so far releases the lock while another thread begins to wait for it: the waiter sees the free lock,
 * or the sender sees the waiter.
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "The waiter waits for a lock that is free.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The waiter sees that the lock is free, or is signalled.")
@State
public class BiasedSendLockWaitStress {
    private volatile boolean waits;
    private final BiasedSendLock lock = new BiasedSendLock(() -> waits);

    @Actor
    public void send(ZZ_Result result) {
        lock.tryTake();
        lock.release();
        result.r1 = waits;
    }

    @Actor
    public void waitForLock(ZZ_Result result) {
        waits = true;
        lock.prepareToWait();
        result.r2 = !lock.isTaken();
    }
}
