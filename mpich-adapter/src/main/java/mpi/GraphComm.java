package mpi;

/**
 * A communicator with a graph topology. Not supported yet: programs cannot get one.
 *
 * <p>Threading: without state.
 */
@SuppressWarnings("DoNotCallSuggester") // members of a later version
public final class GraphComm extends Graphcomm {
    GraphComm() {}

    @Override
    public GraphComm clone() {
        throw Left.out("GraphComm.clone");
    }

    @Override
    public GraphComm dup() {
        throw Left.out("GraphComm.dup");
    }

    @Override
    public GraphComm iDup() {
        throw Left.out("GraphComm.iDup");
    }

    @Override
    public GraphComm dupWithInfo(Info info) {
        throw Left.out("GraphComm.dupWithInfo");
    }

    /** Not supported yet. */
    public GraphParms getDims() {
        throw Left.out("GraphComm.getDims");
    }

    /** Not supported yet. */
    public int[] getNeighbors(int rank) {
        throw Left.out("GraphComm.getNeighbors");
    }

    /** Not supported yet. */
    public DistGraphNeighbors getDistGraphNeighbors() {
        throw Left.out("GraphComm.getDistGraphNeighbors");
    }

    /** Not supported yet. */
    public int map(int[] index, int[] edges) {
        throw Left.out("GraphComm.map");
    }
}
