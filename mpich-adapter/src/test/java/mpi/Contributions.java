package mpi;

import java.util.Random;
import java.util.stream.IntStream;

/** What the members of a collective operation contribute, and the loop over lengths and roots. */
final class Contributions {
    /** Items per member: short, and long enough for the algorithms for long data. */
    static final int[] LENGTHS = {0, 1, 3, 100, 6000};

    private Contributions() {}

    /** Numbers of members. */
    static IntStream sizes() {
        return IntStream.rangeClosed(1, 17);
    }

    /** The values that a rank contributes: the same at all ranks that ask. */
    static int[] values(int rank, int count, int seed) {
        return new Random(seed * 1000L + rank).ints(count, -100, 100).toArray();
    }

    static int[] sum(int size, int count, int seed) {
        int[] sum = new int[count];
        for (int rank = 0; rank < size; rank++) {
            int[] own = values(rank, count, seed);
            for (int i = 0; i < count; i++) {
                sum[i] += own[i];
            }
        }
        return sum;
    }

    static int[] all(int size, int count, int seed) {
        int[] all = new int[size * count];
        for (int rank = 0; rank < size; rank++) {
            System.arraycopy(values(rank, count, seed), 0, all, rank * count, count);
        }
        return all;
    }

    interface Check {
        void run(Intracomm comm, int size, int rank, int count, int root) throws Exception;
    }

    static void forAll(int size, Check check) {
        try (World world = new World("sci", size)) {
            world.run(comm -> {
                for (int count : LENGTHS) {
                    for (int root : new int[] {0, size - 1, size / 2}) {
                        check.run(comm, size, comm.getRank(), count, root);
                    }
                }
            });
        }
    }
}
