package io.madeleine.nexus.fory;

import io.madeleine.nexus.NexusException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.apache.fory.exception.InsecureException;

/**
 * For values that lie deep within values: Fory calls itself for each level, and the stack of the thread that writes or reads may be
 * too small for as many as are allowed.
 *
 * <p>Threading: stateless.
 */
final class DeepStack {
    /** Some times what {@link ForyPool#MAX_DEPTH} levels take while the JVM interprets. */
    private static final long STACK_BYTES = 32L << 20;

    private DeepStack() {}

    /** Does it; if this thread's stack is too small, the other way by a thread with a large one. */
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
                    interrupted = true; // it is short
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
        return new NexusException("values lie within values deeper than " + ForyPool.MAX_DEPTH + ", or in a circle");
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
