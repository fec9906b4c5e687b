package io.madeleine.tm.sci;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** Who sees a record's header sees all of the record, and records come in their order. */
@JCStressTest
@Outcome(
        id = {"0, 0", "0, 1", "1, 0", "1, 2"},
        expect = Expect.ACCEPTABLE,
        desc = "What has been sent so far.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A part of a record, or another record.")
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
