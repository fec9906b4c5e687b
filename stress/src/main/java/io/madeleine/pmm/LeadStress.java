package io.madeleine.pmm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A thread takes the lead from a sleeping leader and gives it back, while the sleeper wakes up. Afterwards exactly one
 * of them has the lead and knows it.
 */
@JCStressTest
@Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "The sleeper has the lead; the taker came too late.")
@Outcome(id = "1, 2, 1", expect = Expect.ACCEPTABLE, desc = "The sleeper has the lead back.")
@Outcome(id = "0, 1, 2", expect = Expect.ACCEPTABLE, desc = "The taker has the lead and knows the sleeper is awake.")
@Outcome(id = ".*, .*, 3", expect = Expect.FORBIDDEN, desc = "The lead went to a sleeper that is awake.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Two threads have the lead, or no thread knows that it has it.")
@State
public class LeadStress {
    private static final Thread SLEEPER = Thread.ofPlatform().unstarted(() -> {});
    private static final Thread TAKER = Thread.ofPlatform().unstarted(() -> {});

    private final Lead lead = new Lead();

    public LeadStress() {
        boolean _ = lead.tryTake(SLEEPER);
        lead.fallAsleep(SLEEPER);
    }

    @Actor
    public void sleeper(III_Result result) {
        result.r1 = lead.comeBack(SLEEPER) ? 1 : 0;
    }

    @Actor
    public void taker(III_Result result) {
        if (lead.tryTake(TAKER)) {
            result.r2 = lead.giveBack(TAKER) ? 2 : 1;
        }
    }

    @Arbiter
    public void holder(III_Result result) {
        if (lead.isHeldBy(SLEEPER)) {
            result.r3 = 1;
        } else if (lead.isHeldBy(TAKER)) {
            result.r3 = 2;
        } else {
            result.r3 = lead.isAsleep() ? 3 : 0;
        }
    }
}
