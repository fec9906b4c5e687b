package io.madeleine.bench.measure;

/**
 * Computes instead of communicating, until an instant that both processes of a host know.
 *
 * <p>Threading: confined to caller.
 */
public final class Computing {
    /** Between two looks at the clock; both together take some tens of nanoseconds. */
    private static final int STEPS = 8;

    private long state = 88_172_645_463_325_252L;

    /** Nothing has been computed yet. */
    public Computing() {}

    /** Computes until then, in {@link System#nanoTime()} terms. */
    public void until(long instantNs) {
        while (System.nanoTime() - instantNs < 0) {
            for (int i = 0; i < STEPS; i++) {
                state ^= state << 13;
                state ^= state >>> 7;
                state ^= state << 17;
            }
        }
    }
}
