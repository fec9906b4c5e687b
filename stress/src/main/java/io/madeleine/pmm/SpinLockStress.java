package io.madeleine.pmm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** The lock excludes other threads, and each holder sees the writes of the previous one. */
@JCStressTest
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "Both increments are there.")
@Outcome(expect = Expect.FORBIDDEN, desc = "An increment is lost.")
@State
public class SpinLockStress {
    private final SpinLock lock = new SpinLock();
    private int count;

    private void increment() {
        lock.lock();
        try {
            count++;
        } finally {
            lock.unlock();
        }
    }

    @Actor
    public void one() {
        increment();
    }

    @Actor
    public void other() {
        increment();
    }

    @Arbiter
    public void sum(I_Result result) {
        result.r1 = count;
    }
}
