package io.madeleine.switching;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Two threads come for the turn to send, the first of them as if it were alone: one of them gets it. */
@JCStressTest
@Outcome(id = "true, true", expect = Expect.FORBIDDEN, desc = "Both have it.")
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "Nobody has it.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "One of them has it.")
@State
public class TurnStress {
    private final Turn turn = new Turn(() -> false);

    @Actor
    public void one(ZZ_Result result) {
        result.r1 = turn.tryTake();
    }

    @Actor
    public void other(ZZ_Result result) {
        result.r2 = turn.tryTake();
    }
}
