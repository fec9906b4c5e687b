package mpi;

/** A version of the MPI standard. Threading: immutable. */
public final class Version {
    private final int version;
    private final int subversion;

    Version(int version, int subversion) {
        this.version = version;
        this.subversion = subversion;
    }

    /** The number before the point. */
    public int getVersion() {
        return version;
    }

    /** The number behind the point. */
    public int getSubVersion() {
        return subversion;
    }
}
