package io.madeleine.switching;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A thread that sends alone gives its turn back while another begins to wait: the waiter sees that, or is seen. */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "It waits for a turn that is free.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "It sees that the turn is free, or is told.")
@State
public class TurnWaitStress {
    private volatile boolean waits;
    private final Turn turn = new Turn(() -> waits);

    @Actor
    public void send(ZZ_Result result) {
        turn.tryTake();
        turn.giveBack();
        result.r1 = waits;
    }

    @Actor
    public void waitForTurn(ZZ_Result result) {
        waits = true;
        turn.prepareToWait();
        result.r2 = !turn.isTaken();
    }
}
