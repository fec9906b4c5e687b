package io.madeleine.samples.mpi;

/** The random numbers of the NAS parallel benchmarks: x(k+1) = 5^13 x(k) mod 2^46. Threading: confined to caller. */
final class NasRandom {
    private static final long FACTOR = 1_220_703_125L;
    private static final long MASK = (1L << 46) - 1;
    private static final double SCALE = 1.0 / (1L << 46);

    private long state;

    /** The numbers behind the first {@code skipped} ones of a seed. */
    NasRandom(long seed, long skipped) {
        long power = 1;
        long square = FACTOR;
        for (long left = skipped; left > 0; left >>= 1) {
            if ((left & 1) == 1) {
                power = power * square & MASK;
            }
            square = square * square & MASK;
        }
        state = power * seed & MASK;
    }

    double next() {
        state = state * FACTOR & MASK;
        return state * SCALE;
    }
}
