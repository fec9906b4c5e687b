package io.madeleine.tm.sci;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Who falls asleep sees what was announced before, or who announces sees that he has to ring. */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "It sleeps over the news and nobody rings.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "It sees the news, or is rung for.")
@State
public class SleepStress {
    private final Inbox inbox = HeapPair.heapInbox();

    @Actor
    public void fallAsleep(ZZ_Result result) {
        inbox.fallAsleep();
        result.r1 = inbox.hasArrivals();
    }

    @Actor
    public void announce(ZZ_Result result) {
        result.r2 = inbox.announce(HeapPair.SLOT) != 0;
    }
}
