package io.madeleine.bench.mpi;

import io.madeleine.bench.measure.Pattern;

/**
 * One benchmark. All processes of the communicator run it at the same time; {@code osu.c} has the same in C.
 *
 * <p>Threading: without state, shared.
 */
interface MpiBenchmark {
    /** What it measures. */
    Pattern pattern();

    /** How many processes take part, at least; the others wait in the barrier. */
    default int leastRanks() {
        return 2;
    }

    /** Whether it can be run with messages of this size, this many processes and these buffers. */
    default boolean has(long bytes, int ranks, MpiBuffers buffers) {
        return ranks >= leastRanks();
    }

    /** Whether its buffers hold floating-point numbers. */
    default boolean isOfFloats() {
        return false;
    }

    /** Whether a sample is always one round. */
    default boolean isSingle() {
        return false;
    }

    /** How many messages or calls of this process a round is, for what they allocate. */
    default int messages() {
        return 1;
    }

    /** Runs it once with contents that are checked. */
    void verify(Scene scene);

    /** Runs this many rounds; returns the figure of all of them as rank 0 sees it. */
    double sample(Scene scene, long rounds);
}
