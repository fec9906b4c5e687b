package io.madeleine.nexus;

/**
 * The JVM's first search for scoped values, made by one thread before others need it. A thread whose stack or heap was
 * exhausted searches its stack when it next asks for a scoped value. In JDK 25 the first such search of a JVM sets up a
 * static variable: if two threads are there at once and one of them needs a garbage collection, it waits for the other
 * one, which waits for the variable, and all threads of the process stand still.
 *
 * <p>Threading: thread-safe.
 */
final class ScopedValueSearch {
    private static final long STACK_BYTES = 256 * 1024;
    private static final long MOST_MS = 1_000;

    private static boolean made; // guarded by the class

    private ScopedValueSearch() {}

    /** Makes the search if it was not made. Waits for its end. */
    static synchronized void ensureMade() {
        if (made) {
            return;
        }
        made = true;
        Thread first = new Thread(null, ScopedValueSearch::search, "nexus-scoped-values", STACK_BYTES, false);
        first.setDaemon(true);
        try {
            first.start();
            first.join(MOST_MS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // the search goes on beside
        } catch (OutOfMemoryError _) {
            // no thread can be had: the first search is made by whoever comes first
        }
    }

    private static void search() {
        try {
            int _ = overflow(0);
        } catch (StackOverflowError _) {
            boolean _ = ScopedValue.newInstance().isBound();
        }
    }

    @SuppressWarnings("InfiniteRecursion") // on purpose: it makes the next question a search
    private static int overflow(int depth) {
        return 1 + overflow(depth + 1);
    }
}
