package mpi;

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
        return values(rank, 0, count, seed);
    }

    /** A part of them, so that a reference need not compute what it does not compare. */
    static int[] values(int rank, int from, int count, int seed) {
        int[] values = new int[count];
        for (int i = 0; i < count; i++) {
            values[i] = value(rank, from + i, seed);
        }
        return values;
    }

    /** A hash, as members compute each other's values, often a million per operation. */
    private static int value(int rank, int index, int seed) {
        int mixed = (seed * 1000 + rank) * 0x9E3779B1 + index * 0x85EBCA6B;
        mixed = (mixed ^ mixed >>> 15) * 0x2C1B3C6D;
        mixed = (mixed ^ mixed >>> 12) * 0x297A2D39;
        return (mixed >>> 16) % 200 - 100;
    }

    static int[] sum(int size, int count, int seed) {
        return sum(size, 0, count, seed);
    }

    static int[] sum(int size, int from, int count, int seed) {
        int[] sum = new int[count];
        for (int rank = 0; rank < size; rank++) {
            for (int i = 0; i < count; i++) {
                sum[i] += value(rank, from + i, seed);
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

    static void forAll(World world, int size, Check check) {
        int[] roots = IntStream.of(0, size - 1, size / 2).distinct().toArray();
        world.run(comm -> {
            for (int count : LENGTHS) {
                for (int root : roots) {
                    check.run(comm, size, comm.getRank(), count, root);
                }
            }
        });
    }
}
