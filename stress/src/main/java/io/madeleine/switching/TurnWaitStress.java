package io.madeleine.switching;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * The only sender so far returns its turn while another thread begins to wait for it: the waiter sees the free turn, or
 * the sender sees the waiter.
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "The waiter waits for a turn that is free.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The waiter sees that the turn is free, or is signalled.")
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
