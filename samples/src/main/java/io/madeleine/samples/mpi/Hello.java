package io.madeleine.samples.mpi;

import mpi.MPI;

/**
 * Each process says who it is.
 *
 * <pre>
 * ./mad run -n 4 samples/src/main/java/io/madeleine/samples/mpi/Hello.java
 *
 * [0] process 0 of 4
 * [1] process 1 of 4
 * [2] process 2 of 4
 * [3] process 3 of 4
 * </pre>
 */
public final class Hello {
    private Hello() {}

    public static void main(String[] args) {
        MPI.Init(args);
        System.out.println("process " + MPI.COMM_WORLD.getRank() + " of " + MPI.COMM_WORLD.getSize());
        MPI.Finalize();
    }
}
