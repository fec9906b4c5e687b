package io.madeleine.switching;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * Two threads take turns so that each has the privilege and loses it, again and again: never do both have the turn, nor does it
 * get lost.
 */
@JCStressTest
@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "Each time one of them had it.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Both had it at a time, or nobody can have it any more.")
@State
public class TurnPrivilegeStress {
    private static final int TIMES = 4;

    private final Turn turn = new Turn(() -> false, GlobalFence::pass, 1);

    /** Counted by whoever has the turn. */
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
            if (turn.tryTake()) {
                count++;
                had++;
                turn.giveBack();
            }
        }
        return had;
    }

    @Arbiter
    public void both(Z_Result result) {
        result.r1 = count == countOfOne + countOfOther && turn.tryTake();
    }
}
