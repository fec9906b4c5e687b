package io.madeleine.tm.sci.link;

import io.madeleine.tm.sci.HeapPair;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A receiver that sees a record's header sees the whole record, and records arrive in order. */
@JCStressTest
@Outcome(
        id = {"0, 0", "0, 1", "1, 0", "1, 2"},
        expect = Expect.ACCEPTABLE,
        desc = "The records sent so far.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A partial record, or a record out of order.")
@State
public class RingPublishStress {
    private final HeapPair pair = new HeapPair();

    @Actor
    public void send() {
        pair.sendSmall(0, 1);
        pair.sendSmall(1, 2);
    }

    @Actor
    public void take(JJ_Result result) {
        result.r1 = pair.takeSmall();
        result.r2 = pair.takeSmall();
    }
}
