package io.madeleine.switching;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Three threads come for the turn to send: while the second one takes its privilege away from the first, the third one must not
 * go on as if that were done.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "One of them has it.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Nobody has it, or several have.")
@State
public class TurnShareStress {
    private final AtomicInteger state = new AtomicInteger();
    private final AtomicInteger holders = new AtomicInteger();
    private final Turn turn = new Turn(state, 0, 1);

    @Actor
    public void one(I_Result result) {
        come();
    }

    @Actor
    public void second(I_Result result) {
        come();
    }

    @Actor
    public void third(I_Result result) {
        come();
    }

    private void come() {
        if (turn.tryTake()) {
            holders.incrementAndGet();
        }
    }

    @Arbiter
    public void count(I_Result result) {
        result.r1 = holders.get();
    }
}
