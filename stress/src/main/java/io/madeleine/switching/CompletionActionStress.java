package io.madeleine.switching;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.Waitable;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** The action of a completion runs exactly once, whether the message ends before or after the action is registered. */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Once.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Never, or twice.")
@State
public class CompletionActionStress {
    private static final ProgressEngine ENGINE =
            new ProgressEngine("stress", new SelectorReactor(), new WaitPolicy(WaitMode.BLOCK, 0, 0));

    private final MessageCompletion completion = new MessageCompletion(ENGINE, new Waitable());
    private final AtomicInteger runs = new AtomicInteger();

    public CompletionActionStress() {
        completion.begin();
    }

    @Actor
    public void end() {
        completion.end(null);
        VarHandle.fullFence();
        completion.leave();
    }

    @Actor
    public void register() {
        completion.onDone(runs::incrementAndGet);
    }

    @Arbiter
    public void count(I_Result result) {
        result.r1 = runs.get();
    }
}
