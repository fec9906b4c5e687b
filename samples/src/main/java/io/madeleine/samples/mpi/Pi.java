package io.madeleine.samples.mpi;

import java.util.Locale;
import mpi.MPI;

/**
 * The number pi as the area under 4 / (1 + x x), each process with its share of the strips (mpiJava dialect).
 *
 * <pre>
 * ./mad run -n 4 samples/src/main/java/io/madeleine/samples/mpi/Pi.java
 *
 * [0] pi is 3.1415926536
 * </pre>
 */
public final class Pi {
    private static final int STRIPS = 10_000_000;

    private Pi() {}

    public static void main(String[] args) {
        MPI.Init(args);
        int rank = MPI.COMM_WORLD.Rank();
        int[] strips = {rank == 0 ? STRIPS : 0};
        MPI.COMM_WORLD.Bcast(strips, 0, 1, MPI.INT, 0);
        double width = 1.0 / strips[0];
        double[] sum = new double[1];
        for (int i = rank; i < strips[0]; i += MPI.COMM_WORLD.Size()) {
            double x = (i + 0.5) * width;
            sum[0] += width * 4 / (1 + x * x);
        }
        double[] pi = new double[1];
        MPI.COMM_WORLD.Reduce(sum, 0, pi, 0, 1, MPI.DOUBLE, MPI.SUM, 0);
        if (rank == 0) {
            System.out.printf(Locale.ROOT, "pi is %.10f%n", pi[0]);
        }
        MPI.Finalize();
    }
}
