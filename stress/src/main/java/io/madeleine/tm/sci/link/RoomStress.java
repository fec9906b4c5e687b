package io.madeleine.tm.sci.link;

import io.madeleine.tm.sci.HeapPair;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A sender without room falls asleep while the receiver makes room: the sender sees the room, or the receiver announces
 * it.
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "There is room and the sender does not know it.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The room is seen, or announced, or both.")
@State
public class RoomStress {
    private final HeapPair pair = new HeapPair();
    private boolean seen;

    public RoomStress() {
        pair.fillSmall();
    }

    @Actor
    public void fallAsleep() {
        seen = pair.sender.isStallOver();
    }

    @Actor
    public void take() {
        while (pair.takeSmall() != 0) {
            // until the ring is empty
        }
    }

    @Arbiter
    public void judge(ZZ_Result result) {
        result.r1 = seen;
        result.r2 = pair.senderInbox.hasArrivals();
    }
}
