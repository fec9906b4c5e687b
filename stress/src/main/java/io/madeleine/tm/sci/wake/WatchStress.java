package io.madeleine.tm.sci.wake;

import io.madeleine.tm.sci.HeapPair;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A receiver stops watching a connection while the sender sends without a fence: the receiver sees the packet before
 * the connection has settled, or the sender announces it. (With a single check instead of the repeated ones until the
 * connection has settled, the forbidden outcome occurs.)
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "The packet is neither seen nor announced.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The packet is seen, or announced, or both.")
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
        boolean settled;
        do {
            settled = pair.receiver.isSettled(); // first: the last look has to follow the time to settle
            seen = pair.receiver.isReadable();
        } while (!seen && !settled);
    }

    @Arbiter
    public void judge(ZZ_Result result) {
        result.r1 = seen;
        result.r2 = pair.receiverInbox.hasArrivals();
    }
}
