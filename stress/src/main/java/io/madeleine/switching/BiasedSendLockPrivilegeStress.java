package io.madeleine.switching;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * Two threads take the lock alternately, so that each repeatedly gains and loses the bias. The two never hold the lock
 * at the same time, and the lock is never lost.
 */
@JCStressTest
@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "One thread at a time held the lock.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Both held the lock at once, or nobody can take it any more.")
@State
public class BiasedSendLockPrivilegeStress {
    private static final int TIMES = 4;

    private final BiasedSendLock lock = new BiasedSendLock(() -> false, GlobalFence::pass, 1);

    /** Written only by the thread that holds the lock. */
    private int count;

    private int countOfOne;
    private int countOfOther;

    @Actor
    public void one() {
        countOfOne = comeOften();
    }

    @Actor
    public void other() {
        countOfOther = comeOften();
    }

    private int comeOften() {
        int had = 0;
        for (int i = 0; i < TIMES; i++) {
            if (lock.tryTake()) {
                count++;
                had++;
                lock.release();
            }
        }
        return had;
    }

    @Arbiter
    public void both(Z_Result result) {
        result.r1 = count == countOfOne + countOfOther && lock.tryTake();
    }
}
