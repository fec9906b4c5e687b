package io.madeleine.pmm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The leader calls a handler that releases the lead, while another thread calls handlers right after it. The leader
 * learns that the lead is gone: if it did not, two threads would poll.
 */
@JCStressTest
@Outcome(id = "-1, 0", expect = Expect.ACCEPTABLE, desc = "The leader called the handler; the other came too early.")
@Outcome(id = "-1, 1", expect = Expect.ACCEPTABLE, desc = "Both called the handler, one after the other.")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "The other thread called the handler; the leader skipped it.")
@Outcome(expect = Expect.FORBIDDEN, desc = "The leader believes that it still has the lead.")
@State
public class DispatcherStress {
    private static final Thread LEADER = Thread.ofPlatform().unstarted(() -> {});
    private static final Thread OTHER = Thread.ofPlatform().unstarted(() -> {});

    private final Dispatcher dispatcher = new Dispatcher("stress", this::handle, () -> true, true);

    private int handle() {
        if (dispatcher.isRunBy(LEADER)) {
            dispatcher.releaseFromHandler();
        }
        return 1;
    }

    @Actor
    public void leader(II_Result result) {
        result.r1 = dispatcher.run(LEADER);
    }

    @Actor
    public void other(II_Result result) {
        result.r2 = dispatcher.run(OTHER);
    }
}
