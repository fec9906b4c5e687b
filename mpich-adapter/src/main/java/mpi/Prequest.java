package mpi;

import io.madeleine.mpi.MpiFault;
import org.jspecify.annotations.Nullable;

/**
 * A persistent request: the same operation, any number of times.
 *
 * <p>Threading: as {@link Request}.
 */
@SuppressWarnings("MemberName") // the names of mpiJava
public final class Prequest extends Request {
    private @Nullable Runnable starter;

    Prequest(Comm comm) {
        super(comm);
    }

    Prequest startedBy(Runnable start) {
        starter = start;
        return this;
    }

    @Override
    boolean isPersistent() {
        return true;
    }

    @Override
    public void free() {
        super.free();
        starter = null;
    }

    /** Starts the operation. */
    public void start() {
        Runnable start = starter;
        if (start == null || isActive()) {
            throw new MPIException(
                    MPI.ERR_REQUEST,
                    "a persistent request is started that is " + (start == null ? "freed" : "active")
                            + ": expected an inactive one",
                    null);
        }
        try {
            start.run();
        } catch (MpiFault e) { // of the buffer's content, or of a buffered send
            throw raise(e);
        }
    }

    /** As {@link #start}. */
    public void Start() {
        start();
    }

    /**
     * Starts them all.
     *
     * @throws MPIException of class {@link MPI#ERR_ARG} if the array is null; of class {@link MPI#ERR_REQUEST} if an
     *     element is null, and then none is started
     */
    public static void startAll(Prequest[] requests) {
        Requests.checkAll(requests, "startAll");
        for (Prequest request : requests) {
            request.start();
        }
    }

    /** As {@link #startAll}. */
    public static void Startall(Prequest[] requests) {
        startAll(requests);
    }
}
