package mpi;

import java.nio.charset.StandardCharsets;

/**
 * Which processes of a communicator are on one host.
 *
 * <p>Threading: without state.
 */
final class Hosts {
    private static final int NAME_BYTES = 256;

    private Hosts() {}

    /** The lowest rank on this process's host. Collective. */
    static int colour(Intracomm comm) {
        byte[] names = new byte[NAME_BYTES * comm.getSize()];
        byte[] own = MPI.hostName().getBytes(StandardCharsets.UTF_8);
        System.arraycopy(own, 0, names, NAME_BYTES * comm.getRank(), Math.min(own.length, NAME_BYTES));
        comm.allGather(names, NAME_BYTES, MPI.BYTE);
        int rank = 0;
        while (!java.util.Arrays.equals(
                names,
                NAME_BYTES * rank,
                NAME_BYTES * (rank + 1),
                names,
                NAME_BYTES * comm.getRank(),
                NAME_BYTES * (comm.getRank() + 1))) {
            rank++;
        }
        return rank;
    }
}
