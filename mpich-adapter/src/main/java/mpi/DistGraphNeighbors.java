package mpi;

/**
 * The neighbours in a distributed graph. Not supported yet: programs cannot get one.
 *
 * <p>Threading: without state.
 */
@SuppressWarnings("DoNotCallSuggester") // members of a later version
public final class DistGraphNeighbors {
    DistGraphNeighbors() {}

    /** Not supported yet. */
    public int getInDegree() {
        throw Left.out("DistGraphNeighbors.getInDegree");
    }

    /** Not supported yet. */
    public int getOutDegree() {
        throw Left.out("DistGraphNeighbors.getOutDegree");
    }

    /** Not supported yet. */
    public boolean isWeighted() {
        throw Left.out("DistGraphNeighbors.isWeighted");
    }

    /** Not supported yet. */
    public int getSource(int number) {
        throw Left.out("DistGraphNeighbors.getSource");
    }

    /** Not supported yet. */
    public int getSourceWeight(int number) {
        throw Left.out("DistGraphNeighbors.getSourceWeight");
    }

    /** Not supported yet. */
    public int getDestination(int number) {
        throw Left.out("DistGraphNeighbors.getDestination");
    }

    /** Not supported yet. */
    public int getDestinationWeight(int number) {
        throw Left.out("DistGraphNeighbors.getDestinationWeight");
    }
}
