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
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A message ends while its user waits for the end and closes the message. A third thread begins the next message with
 * the same object as soon as that is free. The user must see the end of its message, whose action runs once. The action
 * of the next message, which has not ended, must not run.
 */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "The two messages do not affect each other.")
@Outcome(expect = Expect.FORBIDDEN, desc = "The object was reused for the next message too early.")
@State
public class HandleReuseStress {
    private static final ProgressEngine ENGINE =
            new ProgressEngine("stress", new SelectorReactor(), new WaitPolicy(WaitMode.BLOCK, 0, 0));

    /** Several seconds: the thread that ends the message may lose its processor meanwhile. */
    private static final int MOST_LOOKS = 2_000_000_000;

    private final MessageCompletion completion = new MessageCompletion(ENGINE, new Waitable());
    private final AtomicInteger first = new AtomicInteger();
    private final AtomicInteger second = new AtomicInteger();
    private final AtomicInteger seen = new AtomicInteger();

    public HandleReuseStress() {
        completion.begin();
        completion.onDone(first::incrementAndGet);
    }

    @Actor
    public void end() {
        completion.end(null);
        VarHandle.fullFence();
        completion.leave();
    }

    @Actor
    public void waitAndClose() {
        completion.enter();
        for (int i = 0; i < MOST_LOOKS && seen.getPlain() == 0; i++) {
            seen.setPlain(completion.isMet() ? 1 : 0);
        }
        completion.exit();
        completion.close();
    }

    @Actor
    public void beginNext() {
        for (int i = 0; i < 100; i++) {
            if (completion.isFree()) {
                completion.begin();
                completion.onDone(second::incrementAndGet);
                return;
            }
        }
    }

    @Arbiter
    public void count(III_Result result) {
        result.r1 = seen.get();
        result.r2 = first.get();
        result.r3 = second.get();
    }
}
