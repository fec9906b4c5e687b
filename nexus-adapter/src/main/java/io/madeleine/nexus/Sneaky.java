package io.madeleine.nexus;

/** Lets a proxy throw the checked exceptions that the method it stands for declares. */
final class Sneaky {
    private Sneaky() {}

    /**
     * Throws the exception unchanged. Callers write a throw statement with the return value, so that the compiler sees
     * the end.
     */
    static RuntimeException asUnchecked(Throwable thrown) {
        Sneaky.<RuntimeException>sneak(thrown);
        throw new AssertionError(thrown);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // erased: this is the point
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
