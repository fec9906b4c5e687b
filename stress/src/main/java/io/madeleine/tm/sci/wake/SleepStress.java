package io.madeleine.tm.sci.wake;

import io.madeleine.tm.sci.HeapPair;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A receiver falls asleep while a sender announces a packet: the receiver sees the announcement, or the sender sees
 * that it has to ring the doorbell.
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "The receiver sleeps and the sender does not ring.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The receiver sees the announcement, or the sender rings.")
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
