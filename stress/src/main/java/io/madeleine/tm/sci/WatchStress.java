package io.madeleine.tm.sci;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A receiver stops watching a connection while something is sent without a fence: it sees that before it has settled, or it
 * is announced to it. (With a single look, in place of those until it has settled, the forbidden outcome shows.)
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "The packet lies there and nobody looks.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "It is seen, or announced, or both.")
@State
public class WatchStress {
    private final HeapPair pair = new HeapPair();
    private boolean seen;

    public WatchStress() {
        pair.receiver.watch();
    }

    @Actor
    public void send() {
        pair.sendSmall(0, 1);
    }

    @Actor
    public void lookAway() {
        pair.receiver.unwatch();
        do {
            seen = pair.receiver.hasNews();
        } while (!seen && !pair.receiver.isSettled());
    }

    @Arbiter
    public void judge(ZZ_Result result) {
        result.r1 = seen;
        result.r2 = pair.receiverInbox.hasArrivals();
    }
}
