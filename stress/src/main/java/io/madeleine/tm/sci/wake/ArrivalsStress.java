package io.madeleine.tm.sci.wake;

import io.madeleine.tm.sci.HeapPair;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/** A peer announces while the inbox's owner announces to itself and takes the arrivals: no flag is lost. */
@JCStressTest
@Outcome(id = "6", expect = Expect.ACCEPTABLE, desc = "Both flags were found.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A flag is lost.")
@State
public class ArrivalsStress {
    private final Inbox inbox = HeapPair.heapInbox();
    private long found;

    @Actor
    public void announce() {
        long _ = inbox.announce(1);
    }

    @Actor
    public void announceAndTake() {
        long _ = inbox.announce(2);
        takeAll();
    }

    private void takeAll() {
        if (inbox.hasArrivals() && inbox.takeSummary() != 0) {
            found |= inbox.takeWord(0);
        }
    }

    @Arbiter
    public void takeRest(J_Result result) {
        takeAll();
        result.r1 = found;
    }
}
