package io.madeleine.switching;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Two threads try to take the lock to send, the first of them as the only sender so far: exactly one gets it. */
@JCStressTest
@Outcome(id = "true, true", expect = Expect.FORBIDDEN, desc = "Both have the lock.")
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "Neither has the lock.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "One of them has the lock.")
@State
public class BiasedSendLockStress {
    private final BiasedSendLock lock = new BiasedSendLock(() -> false);

    @Actor
    public void one(ZZ_Result result) {
        result.r1 = lock.tryTake();
    }

    @Actor
    public void other(ZZ_Result result) {
        result.r2 = lock.tryTake();
    }
}
