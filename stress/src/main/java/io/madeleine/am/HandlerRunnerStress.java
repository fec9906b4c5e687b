package io.madeleine.am;

import java.util.concurrent.atomic.AtomicReference;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A thread posts steps while another enters, runs and leaves: one of the two runs each step once, never both at the
 * same time.
 */
@JCStressTest
@Outcome(id = "3", expect = Expect.ACCEPTABLE, desc = "All steps ran, one after the other.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A step was forgotten, or two ran at the same time.")
@State
public class HandlerRunnerStress {
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final HandlerRunner runner = new HandlerRunner(failure::set);
    private int runs; // plain: only the thread that runs steps accesses it

    private final HandlerRunner.Step step = new HandlerRunner.Step() {
        @Override
        protected void run() {
            runs++;
        }
    };

    @Actor
    public void post() {
        runner.post(step);
        runner.post(() -> runs++);
    }

    @Actor
    public void enter() {
        if (runner.tryEnter()) {
            runner.runPosted();
            runs++;
            runner.leave();
        } else {
            runner.post(() -> runs++);
        }
    }

    @Arbiter
    public void count(I_Result result) {
        result.r1 = failure.get() == null ? runs : -1;
    }
}
