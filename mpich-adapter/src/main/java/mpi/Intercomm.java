package mpi;

/**
 * A communicator of two groups. Not supported yet: programs cannot get one.
 *
 * <p>Threading: without state.
 */
@SuppressWarnings({"MemberName", "DoNotCallSuggester"}) // the names of mpiJava; members of a later version
public final class Intercomm extends Comm {
    Intercomm() {}

    @Override
    public Intercomm clone() {
        throw Left.out("Intercomm.clone");
    }

    @Override
    public Intercomm dup() {
        throw Left.out("Intercomm.dup");
    }

    @Override
    public Intercomm iDup() {
        throw Left.out("Intercomm.iDup");
    }

    @Override
    public Intercomm dupWithInfo(Info info) {
        throw Left.out("Intercomm.dupWithInfo");
    }

    /** Not supported yet. */
    public int getRemoteSize() {
        throw Left.out("Intercomm.getRemoteSize");
    }

    /** Not supported yet. */
    public int Remote_size() {
        throw Left.out("Intercomm.Remote_size");
    }

    /** Not supported yet. */
    public Group getRemoteGroup() {
        throw Left.out("Intercomm.getRemoteGroup");
    }

    /** Not supported yet. */
    public Group Remote_group() {
        throw Left.out("Intercomm.Remote_group");
    }

    /** Not supported yet. */
    public Intracomm merge(boolean high) {
        throw Left.out("Intercomm.merge");
    }

    /** Not supported yet. */
    public Intracomm Merge(boolean high) {
        throw Left.out("Intercomm.Merge");
    }

    /** Not supported yet. */
    public static Intercomm getParent() {
        throw Left.out("Intercomm.getParent");
    }
}
