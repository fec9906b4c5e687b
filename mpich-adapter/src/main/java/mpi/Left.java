package mpi;

/** What this version leaves out. */
final class Left {
    private Left() {}

    /** The exception for members that are left out. */
    static MPIException out(String member) {
        return new MPIException(
                MPI.ERR_UNSUPPORTED_OPERATION,
                member + " is not supported yet: intercommunicators, graph topologies, neighbour collectives, dynamic"
                        + " processes, files and windows are left to a later version (see the README of mpich-adapter)",
                null);
    }
}
