package io.madeleine.linux;

/** What all downcalls share. */
final class Downcalls {
    private Downcalls() {}

    /** Returns the exception to throw for a throwable of a downcall, since no downcall declares one; throws errors. */
    static RuntimeException unexpected(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return e instanceof RuntimeException known
                ? known
                : new IllegalStateException("a downcall threw a checked exception", e);
    }
}
