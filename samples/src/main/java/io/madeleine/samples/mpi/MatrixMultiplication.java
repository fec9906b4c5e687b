package io.madeleine.samples.mpi;

import mpi.Intracomm;
import mpi.MPI;

/**
 * The product of two matrices, each process with some rows (mpiJava dialect). Rank 0 compares it with its own product.
 *
 * <pre>
 * ./mad run -n 4 samples/src/main/java/io/madeleine/samples/mpi/MatrixMultiplication.java
 *
 * [0] the product of two matrices of 203 x 203 is right
 * </pre>
 */
public final class MatrixMultiplication {
    private static final int EDGE = 203;

    private MatrixMultiplication() {}

    private static double[] matrix(int seed) {
        double[] matrix = new double[EDGE * EDGE];
        for (int i = 0; i < matrix.length; i++) {
            matrix[i] = (i * 7L + seed) % 13 - 6; // small integers: sums are exact in any order
        }
        return matrix;
    }

    private static double[] multiply(double[] rows, double[] right) {
        int count = rows.length / EDGE;
        double[] product = new double[rows.length];
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < EDGE; k++) {
                double factor = rows[i * EDGE + k];
                for (int j = 0; j < EDGE; j++) {
                    product[i * EDGE + j] += factor * right[k * EDGE + j];
                }
            }
        }
        return product;
    }

    public static void main(String[] args) {
        MPI.Init(args);
        Intracomm world = MPI.COMM_WORLD;
        int rank = world.Rank();
        int size = world.Size();
        int[] counts = new int[size];
        int[] places = new int[size];
        for (int i = 0; i < size; i++) {
            places[i] = EDGE * i / size * EDGE;
            counts[i] = EDGE * (i + 1) / size * EDGE - places[i];
        }
        double[] left = rank == 0 ? matrix(1) : new double[0];
        double[] right = rank == 0 ? matrix(2) : new double[EDGE * EDGE];
        double[] rows = new double[counts[rank]];
        world.Bcast(right, 0, right.length, MPI.DOUBLE, 0);
        world.Scatterv(left, 0, counts, places, MPI.DOUBLE, rows, 0, rows.length, MPI.DOUBLE, 0);
        double[] part = multiply(rows, right);
        double[] product = new double[rank == 0 ? EDGE * EDGE : 0];
        world.Gatherv(part, 0, part.length, MPI.DOUBLE, product, 0, counts, places, MPI.DOUBLE, 0);
        if (rank == 0) {
            boolean isRight = java.util.Arrays.equals(product, multiply(left, right));
            System.out.println(
                    "the product of two matrices of " + EDGE + " x " + EDGE + " is " + (isRight ? "right" : "wrong"));
        }
        MPI.Finalize();
    }
}
