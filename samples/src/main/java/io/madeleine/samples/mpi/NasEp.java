package io.madeleine.samples.mpi;

import mpi.Intracomm;
import mpi.MPI;

/**
 * The NAS benchmark EP (embarrassingly parallel), class S or W, with its official verification: pairs of normally
 * distributed numbers, their sums, and how many lie in each square ring.
 *
 * <pre>
 * ./mad run -n 4 samples/src/main/java/io/madeleine/samples/mpi/NasEp.java S
 *
 * [0] EP class S: 2^24 pairs, 13176389 inside the circle, verification successful
 * </pre>
 */
public final class NasEp {
    private static final long SEED = 271_828_183;
    private static final int BATCH_BITS = 16;
    private static final double TOLERANCE = 1e-8;

    private NasEp() {}

    public static void main(String[] args) {
        String[] own = MPI.Init(args);
        boolean isS = own.length == 0 || own[0].equals("S");
        int bits = isS ? 24 : 25;
        double sumX = isS ? -3.247834652034740e+3 : -2.863319731645753e+3;
        double sumY = isS ? -6.958407078382297e+3 : -6.320053679109499e+3;
        Intracomm world = MPI.COMM_WORLD;
        double[] sums = new double[2];
        long[] rings = new long[10];
        for (int batch = world.getRank(); batch < 1 << bits - BATCH_BITS; batch += world.getSize()) {
            compute(batch, sums, rings);
        }
        world.allReduce(sums, 2, MPI.DOUBLE, MPI.SUM);
        world.allReduce(rings, 10, MPI.LONG, MPI.SUM);
        if (world.getRank() == 0) {
            boolean isVerified =
                    Math.abs((sums[0] - sumX) / sumX) <= TOLERANCE && Math.abs((sums[1] - sumY) / sumY) <= TOLERANCE;
            long inside = java.util.Arrays.stream(rings).sum();
            System.out.println("EP class " + (isS ? "S" : "W") + ": 2^" + bits + " pairs, " + inside
                    + " inside the circle, verification " + (isVerified ? "successful" : "failed"));
        }
        MPI.Finalize();
    }

    private static void compute(int batch, double[] sums, long[] rings) {
        NasRandom random = new NasRandom(SEED, 2L * batch << BATCH_BITS);
        for (int i = 0; i < 1 << BATCH_BITS; i++) {
            double x = 2 * random.next() - 1;
            double y = 2 * random.next() - 1;
            double square = x * x + y * y;
            if (square <= 1) {
                double factor = Math.sqrt(-2 * Math.log(square) / square);
                rings[(int) Math.max(Math.abs(x * factor), Math.abs(y * factor))]++;
                sums[0] += x * factor;
                sums[1] += y * factor;
            }
        }
    }
}
