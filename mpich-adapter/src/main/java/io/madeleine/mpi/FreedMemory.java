package io.madeleine.mpi;

/**
 * Memory of the program that is freed while a thread of ours copies it.
 *
 * <p>Threading: without state.
 */
public final class FreedMemory {
    private FreedMemory() {}

    /**
     * Clears the thread's interrupt status if a copy has failed since its memory was freed: the JVM stops a thread that
     * accesses memory which another thread frees, and leaves it interrupted. Nobody has asked for that interrupt. (One
     * that was meant is lost with it; the operation fails all the same.)
     */
    public static void clearInterrupt(Throwable failure) {
        if (failure instanceof IllegalStateException) {
            boolean _ = Thread.interrupted();
        }
    }
}
