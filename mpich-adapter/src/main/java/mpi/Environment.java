package mpi;

import io.madeleine.api.Session;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.comm.ContextNumbers;
import io.madeleine.mpi.comm.RankGroup;
import io.madeleine.mpi.datatypes.SegmentCache;
import io.madeleine.mpi.device.Device;
import io.madeleine.mpi.device.DeviceSettings;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * One process of an MPI program: its session, device and first communicators. {@link MPI} has one for the program;
 * tests
 * have several in one JVM.
 *
 * <p>Threading: thread-safe.
 */
final class Environment {
    private static final long QUEUES_NS = 10_000_000_000L;

    private final Session session;
    private final Device device;
    private final ContextNumbers numbers;
    private final BufferedSends buffered;
    private final SegmentCache segments = new SegmentCache();
    private final Intracomm world;

    /**
     * Starts MPI in a session.
     *
     * @param world becomes the communicator of all processes
     * @param self becomes the communicator of this process
     */
    Environment(Session session, Intracomm world, Intracomm self) {
        this.session = session;
        this.device = new Device(session, session.channel(), DeviceSettings.from(System.getProperties()));
        this.numbers = new ContextNumbers(session.rank());
        this.buffered = new BufferedSends(device);
        this.world = world;
        RankGroup all = new RankGroup(IntStream.range(0, session.size()).toArray());
        world.become(this, new Communicator(device, all, ContextNumbers.WORLD), "MPI_COMM_WORLD");
        self.become(this, new Communicator(device, new RankGroup(session.rank()), numbers.self()), "MPI_COMM_SELF");
        device.open();
    }

    Device device() {
        return device;
    }

    ContextNumbers numbers() {
        return numbers;
    }

    BufferedSends buffered() {
        return buffered;
    }

    SegmentCache segments() {
        return segments;
    }

    Intracomm world() {
        return world;
    }

    int rank() {
        return session.rank();
    }

    int size() {
        return session.size();
    }

    /** Ends all processes of the job. Does not return, unless the session was opened with another way to end. */
    void abort(int code, String reason) {
        session.abort(code & 0xff, reason);
    }

    /** An error that nobody may handle ends the job. */
    void abort(MpiFault fault) {
        String reason = "rank " + session.rank() + ": " + fault.getMessage();
        fault.printStackTrace();
        session.abort(fault.errorClass() & 0xff, reason);
    }

    /** Waits until all processes have come this far and all messages have left; then leaves the session. */
    void end() {
        buffered.awaitEmpty();
        world.barrier();
        if (!device.awaitCondition(() -> !device.hasQueues(), QUEUES_NS, TimeUnit.NANOSECONDS)) {
            throw new MPIException(
                    MPI.ERR_PENDING,
                    "Finalize of rank " + session.rank() + ": messages have not left within "
                            + QUEUES_NS / 1_000_000_000 + " s: expected all operations to be complete",
                    null);
        }
        session.close();
    }
}
