package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestThreads.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Completion;
import io.madeleine.api.MadeleineException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** How a caller observes that a completion is done. {@link LossContract} tests {@code await}. */
enum CompletionLook {
    IS_DONE,
    ON_DONE;

    static final int LONGEST_S = 20;

    /** Waits until a completion is done; returns its failure, or null. */
    @Nullable
    MadeleineException outcome(Completion completion) throws Exception {
        try {
            switch (this) {
                case IS_DONE -> eventually("the completion is done", completion::isDone);
                case ON_DONE -> {
                    CompletableFuture<Void> done = new CompletableFuture<>();
                    completion.onDone(() -> done.complete(null));
                    done.get(LONGEST_S, TimeUnit.SECONDS);
                }
            }
            completion.await();
            return null;
        } catch (MadeleineException e) {
            assertTrue(completion.isDone());
            assertEquals(
                    e.getMessage(),
                    assertThrows(e.getClass(), completion::await).getMessage());
            return e;
        }
    }
}
