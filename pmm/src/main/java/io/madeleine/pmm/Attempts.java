package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * Steps that are all taken, such as those of a close, however many of them fail. An error counts for more than an
 * exception; otherwise the first failure counts, and the others are suppressed in it.
 *
 * <p>Threading: confined to caller.
 */
public final class Attempts {
    private @Nullable Throwable failure;

    /** No step has been taken. */
    public Attempts() {}

    /** Takes a step, and keeps what it throws. */
    public void take(AutoCloseable step) {
        try {
            step.close();
        } catch (Throwable e) {
            add(e);
        }
    }

    /** Keeps a failure. */
    public void add(Throwable seen) {
        Throwable kept = failure;
        if (kept == null) {
            failure = seen;
        } else if (seen instanceof Error && !(kept instanceof Error)) {
            failure = seen;
            suppress(seen, kept);
        } else {
            suppress(kept, seen);
        }
    }

    private static void suppress(Throwable kept, Throwable other) {
        try {
            if (kept != other) {
                kept.addSuppressed(other);
            }
        } catch (OutOfMemoryError _) {
            // the kept one has to do
        }
    }

    /** The failure that counts; null if no step failed. */
    public @Nullable Throwable failure() {
        return failure;
    }

    /** Throws the failure that counts, if it is an error or an unchecked exception. */
    public void rethrow() {
        if (failure instanceof Error e) {
            throw e;
        }
        if (failure instanceof RuntimeException e) {
            throw e;
        }
    }
}
