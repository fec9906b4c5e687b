package io.madeleine.samples.mpi;

import java.util.Arrays;
import mpi.Intracomm;
import mpi.MPI;

/**
 * The NAS benchmark IS (integer sort), class S or W, with its official verification: ten rankings of keys by buckets,
 * after each of which five keys must have the known ranks, and a full check of the order at the end.
 *
 * <pre>
 * ./mad run -n 4 samples/src/main/java/io/madeleine/samples/mpi/NasIs.java S
 *
 * [0] IS class S: 65536 keys, 10 iterations, verification successful
 * </pre>
 */
public final class NasIs {
    private static final long SEED = 314_159_265;
    private static final int ITERATIONS = 10;
    private static final int TESTS = 5;

    private static final int[] INDEXES_S = {48427, 17148, 23627, 62548, 4431};
    private static final int[] RANKS_S = {0, 18, 346, 64917, 65463};
    private static final int[] INDEXES_W = {357773, 934767, 875723, 898999, 404505};
    private static final int[] RANKS_W = {1249, 11698, 1039987, 1043896, 1048018};

    private final Intracomm world = MPI.COMM_WORLD;
    private final int rank = world.getRank();
    private final int size = world.getSize();
    private final boolean isS;
    private final int keyCount;
    private final int maxKey;
    private final int bucketCount;
    private final int bucketShift;
    private final int[] keys;
    private final int first;
    private int[] sorted = new int[0];
    private int passed;

    private NasIs(boolean isS) {
        this.isS = isS;
        keyCount = isS ? 1 << 16 : 1 << 20;
        maxKey = isS ? 1 << 11 : 1 << 16;
        bucketCount = isS ? 1 << 9 : 1 << 10;
        bucketShift = Integer.numberOfTrailingZeros(maxKey / bucketCount);
        first = begin(rank);
        keys = new int[begin(rank + 1) - first];
        NasRandom random = new NasRandom(SEED, 4L * first);
        for (int i = 0; i < keys.length; i++) {
            double sum = random.next() + random.next() + random.next() + random.next();
            int quarter = maxKey / 4; // maxKey is a power of two
            keys[i] = (int) (quarter * sum);
        }
    }

    private int begin(int process) {
        return (int) ((long) keyCount * process / size);
    }

    public static void main(String[] args) {
        String[] own = MPI.Init(args);
        new NasIs(own.length == 0 || own[0].equals("S")).run();
        MPI.Finalize();
    }

    private void run() {
        iterate(1);
        passed = 0;
        for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
            iterate(iteration);
        }
        int[] results = {passed, isInOrder() ? 1 : 0};
        world.reduce(results, 2, MPI.INT, MPI.SUM, 0);
        if (rank == 0) {
            boolean isVerified = results[0] == TESTS * ITERATIONS && results[1] == size;
            System.out.println("IS class " + (isS ? "S" : "W") + ": " + keyCount + " keys, " + ITERATIONS
                    + " iterations, verification " + (isVerified ? "successful" : "failed"));
        }
    }

    private void setKey(int index, int key) {
        if (index >= first && index < first + keys.length) {
            keys[index - first] = key;
        }
    }

    private void iterate(int iteration) {
        setKey(iteration, iteration);
        setKey(iteration + ITERATIONS, maxKey - iteration);
        int[] indexes = isS ? INDEXES_S : INDEXES_W;
        int[] sums = new int[bucketCount + TESTS]; // sizes of the buckets, then the keys to test
        for (int key : keys) {
            sums[key >> bucketShift]++;
        }
        int[] own = Arrays.copyOf(sums, bucketCount);
        for (int i = 0; i < TESTS; i++) {
            if (indexes[i] >= first && indexes[i] < first + keys.length) {
                sums[bucketCount + i] = keys[indexes[i] - first];
            }
        }
        world.allReduce(sums, sums.length, MPI.INT, MPI.SUM);
        int[] owner = owners(sums);
        exchange(own, owner);
        Arrays.sort(sorted);
        test(iteration, sums, owner);
    }

    /** Consecutive buckets for each process, until it has its share of the keys. */
    private int[] owners(int[] sizes) {
        int[] owner = new int[bucketCount];
        long sum = 0;
        int process = 0;
        for (int bucket = 0; bucket < bucketCount; bucket++) {
            owner[bucket] = process;
            sum += sizes[bucket];
            while (process < size - 1 && sum >= begin(process + 1)) {
                process++;
            }
        }
        return owner;
    }

    private void exchange(int[] ownSizes, int[] owner) {
        int[] out = new int[size];
        int[] next = new int[bucketCount];
        int sum = 0;
        for (int bucket = 0; bucket < bucketCount; bucket++) {
            out[owner[bucket]] += ownSizes[bucket];
            next[bucket] = sum;
            sum += ownSizes[bucket];
        }
        int[] leaving = new int[keys.length];
        for (int key : keys) {
            leaving[next[key >> bucketShift]++] = key;
        }
        int[] in = new int[size];
        world.allToAll(out, 1, MPI.INT, in, 1, MPI.INT);
        sorted = new int[Arrays.stream(in).sum()];
        world.allToAllv(leaving, out, places(out), MPI.INT, sorted, in, places(in), MPI.INT);
    }

    private static int[] places(int[] counts) {
        int[] places = new int[counts.length];
        for (int i = 1; i < counts.length; i++) {
            places[i] = places[i - 1] + counts[i - 1];
        }
        return places;
    }

    private void test(int iteration, int[] sums, int[] owner) {
        int[] expected = isS ? RANKS_S : RANKS_W;
        int smaller = 0; // keys of the processes before
        for (int bucket = 0; bucket < bucketCount && owner[bucket] < rank; bucket++) {
            smaller += sums[bucket];
        }
        for (int i = 0; i < TESTS; i++) {
            int key = sums[bucketCount + i];
            if (owner[key >> bucketShift] == rank) {
                int found = Arrays.binarySearch(sorted, key);
                while (found > 0 && sorted[found - 1] == key) {
                    found--;
                }
                passed += smaller + found == expected[i] + shift(i, iteration) ? 1 : 0;
            }
        }
    }

    private int shift(int test, int iteration) {
        if (isS) {
            return test <= 2 ? iteration : -iteration;
        }
        return test < 2 ? iteration - 2 : -iteration;
    }

    /** Whether this process's keys are in order, and not below those of the processes before. */
    private boolean isInOrder() {
        int[] largest = {sorted.length == 0 ? -1 : sorted[sorted.length - 1]};
        int[] before = {-1};
        world.exScan(largest, before, 1, MPI.INT, MPI.MAX);
        boolean isSorted = true;
        for (int i = 1; i < sorted.length; i++) {
            isSorted &= sorted[i - 1] <= sorted[i];
        }
        return isSorted && (sorted.length == 0 || before[0] <= sorted[0]);
    }
}
