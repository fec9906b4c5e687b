package io.madeleine.tm.sci.link;

import io.madeleine.tm.sci.HeapPair;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The ring is full: the sender reuses the room of a record only after the receiver has read and released it. */
@JCStressTest
@Outcome(
        id = {"true, true", "false, true"},
        expect = Expect.ACCEPTABLE,
        desc = "There was room already, or not yet; no record is lost.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A record was overwritten or lost.")
@State
public class RingReuseStress {
    private final HeapPair pair = new HeapPair();
    private final int count = pair.fillSmall();
    private boolean sent;
    private boolean inOrder = true;

    @Actor
    public void send() {
        sent = pair.sendSmall(count, count + 1L);
    }

    @Actor
    public void take() {
        inOrder = pair.takeSmall() == 1 && pair.takeSmall() == 2;
    }

    @Arbiter
    public void takeRest(ZZ_Result result) {
        int last = sent ? count + 1 : count;
        for (int i = 3; i <= last; i++) {
            inOrder &= pair.takeSmall() == i;
        }
        result.r1 = sent;
        result.r2 = inOrder && pair.takeSmall() == 0;
    }
}
