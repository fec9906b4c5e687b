package io.madeleine.mpi;

/**
 * Handles memory of the program that is freed while an adapter's thread copies it.
 *
 * <p>Threading: without state.
 */
public final class FreedMemory {
    private FreedMemory() {}

    /**
     * Clears the thread's interrupt status if a copy has failed because its memory was freed: the JVM stops a thread
     * that accesses memory which another thread frees, and leaves it interrupted. The program did not ask for that
     * interrupt. (An interrupt that it did ask for is lost, too; the operation fails all the same.)
     */
    public static void clearInterrupt(Throwable failure) {
        if (failure instanceof IllegalStateException) {
            boolean _ = Thread.interrupted();
        }
    }
}
