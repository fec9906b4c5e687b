package mpi;

/**
 * What happens if an operation of a communicator fails.
 *
 * <p>Threading: immutable.
 */
public final class Errhandler {
    /** Whether an error ends the job. */
    private final boolean fatal;

    private final String name;

    Errhandler(boolean fatal, String name) {
        this.fatal = fatal;
        this.name = name;
    }

    boolean isFatal() {
        return fatal;
    }

    @Override
    public String toString() {
        return name;
    }
}
