package mpi;

/** The neighbours at a distance in a grid. Threading: confined to caller. */
@SuppressWarnings("MemberName") // the names of mpiJava
public class ShiftParms {
    /** The rank to receive from, or MPI.PROC_NULL. */
    public int rank_source;

    /** The rank to send to, or MPI.PROC_NULL. */
    public int rank_dest;

    ShiftParms(int source, int dest) {
        rank_source = source;
        rank_dest = dest;
    }

    /** The rank to receive from, or MPI.PROC_NULL. */
    public int getRankSource() {
        return rank_source;
    }

    /** The rank to send to, or MPI.PROC_NULL. */
    public int getRankDest() {
        return rank_dest;
    }
}
