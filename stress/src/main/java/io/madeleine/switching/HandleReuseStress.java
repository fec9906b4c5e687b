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
 * A message ends while its user closes it and waits for the end. One of the two threads begins the next message
 * with the same object as soon as that is free; a third thread would need a third processor. The user must see the end
 * of its message, whose action runs once. The action of the next message, which has not ended, must not run.
 */
public class HandleReuseStress {
    private static final ProgressEngine ENGINE =
            new ProgressEngine("stress", new SelectorReactor(), new WaitPolicy(WaitMode.BLOCK, 0, 0));

    /** Several seconds: the thread that ends the message may lose its processor meanwhile. */
    private static final int MOST_LOOKS = 2_000_000_000;

    private final MessageCompletion completion = new MessageCompletion(ENGINE, new Waitable());
    private final AtomicInteger first = new AtomicInteger();
    private final AtomicInteger second = new AtomicInteger();
    private int seen;

    HandleReuseStress() {
        completion.begin();
        completion.onDone(first::incrementAndGet);
    }

    final void end() {
        completion.end(null);
        VarHandle.fullFence();
        completion.leave();
    }

    /** The handlers that a waiting call runs may close the message. */
    final void closeWhileWaiting() {
        completion.enter();
        completion.close();
        for (int i = 0; i < MOST_LOOKS && seen == 0; i++) {
            seen = completion.isMet() ? 1 : 0;
        }
        completion.exit();
    }

    final void beginNext() {
        for (int i = 0; i < 100; i++) {
            if (completion.isFree()) {
                completion.begin();
                completion.onDone(second::incrementAndGet);
                return;
            }
        }
    }

    final void count(III_Result result) {
        result.r1 = seen;
        result.r2 = first.get();
        result.r3 = second.get();
    }

    /** The thread that ended the message begins the next one: the user may still be inside its call. */
    @JCStressTest
    @Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "The two messages do not affect each other.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The object was reused for the next message too early.")
    @State
    public static class AfterTheEnd extends HandleReuseStress {
        @Actor
        public void endAndBegin() {
            end();
            beginNext();
        }

        @Actor
        public void use() {
            closeWhileWaiting();
        }

        @Arbiter
        public void judge(III_Result result) {
            count(result);
        }
    }

    /** The user begins the next message: the thread that ended the first one may still access it. */
    @JCStressTest
    @Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "The two messages do not affect each other.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The object was reused for the next message too early.")
    @State
    public static class AfterTheWait extends HandleReuseStress {
        @Actor
        public void endOnly() {
            end();
        }

        @Actor
        public void useAndBegin() {
            closeWhileWaiting();
            beginNext();
        }

        @Arbiter
        public void judge(III_Result result) {
            count(result);
        }
    }
}
