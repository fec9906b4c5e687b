package mpi;

/**
 * A communicator with a graph topology, mpiJava style. Not supported yet: programs cannot get one.
 *
 * <p>Threading: without state.
 */
@SuppressWarnings({"MemberName", "DoNotCallSuggester"}) // the names of mpiJava; members of a later version
public class Graphcomm extends Intracomm {
    Graphcomm() {}

    @Override
    public Graphcomm clone() {
        throw Left.out("Graphcomm.clone");
    }

    /** Not supported yet. */
    public GraphParms Get() {
        throw Left.out("Graphcomm.Get");
    }

    /** Not supported yet. */
    public int[] Neighbours(int rank) {
        throw Left.out("Graphcomm.Neighbours");
    }

    /** Not supported yet. */
    public int Map(int[] index, int[] edges) {
        throw Left.out("Graphcomm.Map");
    }
}
