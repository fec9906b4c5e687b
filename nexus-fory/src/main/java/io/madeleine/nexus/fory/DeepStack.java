package io.madeleine.nexus.fory;

import io.madeleine.nexus.NexusException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.apache.fory.exception.InsecureException;

/**
 * Runs tasks that may need a deep stack: Fory recurses once per nesting level of a value, and the stack of the calling
 * thread may be too small for {@link ForyPool#MAX_DEPTH} levels.
 *
 * <p>Threading: stateless.
 */
final class DeepStack {
    /** Several times the stack that {@link ForyPool#MAX_DEPTH} levels take in interpreted code. */
    private static final long STACK_BYTES = 32L << 20;

    private DeepStack() {}

    /**
     * Runs {@code task}; if this thread's stack overflows, runs {@code ifDeep} in a thread with a large one instead.
     */
    static <T> T call(Supplier<T> task, Supplier<T> ifDeep) {
        try {
            return task.get();
        } catch (RuntimeException | StackOverflowError e) {
            if (!isOverflow(e)) {
                if (isTooDeep(e)) {
                    throw tooDeep();
                }
                throw e;
            }
        }
        FutureTask<T> deep = new FutureTask<>(ifDeep::get);
        Thread.ofPlatform()
                .daemon()
                .name("nexus-fory-deep")
                .stackSize(STACK_BYTES)
                .start(deep);
        return await(deep);
    }

    private static <T> T await(FutureTask<T> deep) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return deep.get();
                } catch (InterruptedException _) {
                    interrupted = true; // the task is short: wait for it
                }
            }
        } catch (ExecutionException e) {
            Throwable why = e.getCause() == null ? e : e.getCause();
            throw isOverflow(why) || isTooDeep(why)
                    ? tooDeep()
                    : why instanceof RuntimeException known ? known : new IllegalStateException(why);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static NexusException tooDeep() {
        return new NexusException("values nest deeper than " + ForyPool.MAX_DEPTH + ", or contain themselves");
    }

    private static boolean isOverflow(Throwable thrown) {
        for (Throwable next = thrown; next != null; next = next.getCause()) {
            if (next instanceof StackOverflowError) {
                return true;
            }
        }
        return false;
    }

    private static boolean isTooDeep(Throwable thrown) {
        for (Throwable next = thrown; next != null; next = next.getCause()) {
            if (next instanceof InsecureException
                    && String.valueOf(next.getMessage()).contains("depth")) {
                return true;
            }
        }
        return false;
    }
}
