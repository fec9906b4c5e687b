package io.madeleine.samples.mpi;

import mpi.Intracomm;
import mpi.MPI;

/**
 * A token goes round a hundred times; each process adds its rank.
 *
 * <pre>
 * ./mad run -n 4 samples/src/main/java/io/madeleine/samples/mpi/Ring.java
 *
 * [0] after 100 rounds through 4 processes the token is 600
 * </pre>
 */
public final class Ring {
    private static final int ROUNDS = 100;

    private Ring() {}

    public static void main(String[] args) {
        MPI.Init(args);
        Intracomm world = MPI.COMM_WORLD;
        int rank = world.getRank();
        int size = world.getSize();
        int right = (rank + 1) % size;
        int left = (rank + size - 1) % size;
        long[] token = new long[1];
        for (int round = 0; round < ROUNDS; round++) {
            if (rank == 0) {
                world.sendRecvReplace(token, 1, MPI.LONG, right, 0, left, 0);
            } else {
                world.recv(token, 1, MPI.LONG, left, 0);
                token[0] += rank;
                world.send(token, 1, MPI.LONG, right, 0);
            }
        }
        if (rank == 0) {
            System.out.println("after " + ROUNDS + " rounds through " + size + " processes the token is " + token[0]);
        }
        MPI.Finalize();
    }
}
