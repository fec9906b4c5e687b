package mpi;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.Session;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.comm.ContextNumbers;
import io.madeleine.mpi.comm.RankGroup;
import io.madeleine.mpi.datatypes.BufferPool;
import io.madeleine.mpi.datatypes.SegmentCache;
import io.madeleine.mpi.device.Device;
import io.madeleine.mpi.device.DeviceSettings;
import io.madeleine.mpi.device.Pending;
import io.madeleine.mpi.device.Scratch;
import io.madeleine.mpi.report.Awaited;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;

/**
 * One process of an MPI program: its session, device and first communicators. {@link MPI} has one for the program;
 * tests have several in one JVM.
 *
 * <p>Threading: thread-safe.
 */
final class Environment {
    private static final int MOST_UNEXPECTED = 5;
    private static final long QUEUES_NS = 10_000_000_000L;
    private static final long FAREWELL_NS = 1_000_000_000L;

    private final Session session;
    private final BufferPool buffers;
    private final Device device;
    private final ContextNumbers numbers;
    private final BufferedSends buffered;
    private final SegmentCache segments = new SegmentCache();
    private final Intracomm world;

    /** The communicators that the program still refers to. */
    private final Set<Comm> comms = Collections.newSetFromMap(new WeakHashMap<>());

    private volatile boolean isEnding;

    /**
     * Starts MPI in a session.
     *
     * @param world becomes the communicator of all processes
     * @param self becomes the communicator of this process
     */
    Environment(Session session, DeviceSettings settings, Intracomm world, Intracomm self) {
        this.session = session;
        this.buffers = new BufferPool(session::allocateKept, settings.bufferBytes());
        this.device = new Device(session, session.channel(), settings, new Scratch(buffers::take));
        this.numbers = new ContextNumbers(session.rank());
        this.buffered = new BufferedSends(device);
        this.world = world;
        RankGroup all = new RankGroup(IntStream.range(0, session.size()).toArray());
        world.become(this, new Communicator(device, all, ContextNumbers.WORLD), "MPI_COMM_WORLD");
        self.become(this, new Communicator(device, new RankGroup(session.rank()), numbers.self()), "MPI_COMM_SELF");
        device.open();
    }

    /** As the constructor, in a session that is opened for it. */
    static Environment open(DeviceSettings settings, Intracomm world, Intracomm self) {
        try {
            return new Environment(Session.open(), settings, world, self);
        } catch (ConfigurationException e) {
            throw notOpened(MPI.ERR_ARG, e);
        } catch (MadeleineException e) {
            throw notOpened(MPI.ERR_OTHER, e);
        }
    }

    private static MPIException notOpened(int errorClass, MadeleineException why) {
        return new MPIException(errorClass, "MPI.Init cannot open the session: " + why.getMessage(), why);
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

    /** The buffers in memory of the session, which stay readable after its end. */
    BufferPool buffers() {
        return buffers;
    }

    /** A communicator that must learn of the end. */
    void add(Comm comm) {
        synchronized (comms) {
            comms.add(comm);
        }
    }

    /** Whether this process has begun to finalize MPI. */
    boolean isEnding() {
        return isEnding;
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

    /** What this process waits for, and what waits here. */
    List<Awaited> awaited() {
        List<Awaited> all = new ArrayList<>();
        for (Pending each : device.pending()) {
            all.add(new Awaited(each.rank(), each.what() + place(each)));
        }
        for (int rank = 0; rank < size(); rank++) {
            int waiting = device.queuedTo(rank);
            if (waiting > 0) {
                all.add(new Awaited(rank, messages(waiting) + " to rank " + rank + " that cannot leave yet"));
            }
        }
        // the messages of collective operations are left out: the program has not sent them
        LongPredicate own = context -> !Communicator.isCollective(context);
        int count = device.arrivedCount(own);
        if (count > 0) {
            String some = count > MOST_UNEXPECTED ? ", among them" : "";
            all.add(new Awaited(Awaited.NOBODY, "not asked for yet: " + messages(count) + some));
            device.unexpected(MOST_UNEXPECTED, own)
                    .forEach(each -> all.add(new Awaited(Awaited.NOBODY, "  " + each.what() + place(each))));
        }
        return all;
    }

    private static String messages(int count) {
        return count == 1 ? "1 message" : count + " messages";
    }

    private String place(Pending operation) {
        long identity = operation.context() >> 1;
        if (identity == ContextNumbers.WORLD) {
            return "";
        }
        return identity == ContextNumbers.FINALIZE ? " in MPI_Finalize" : " in communicator " + nameOf(identity);
    }

    /** What the program calls a communicator; else its identity. */
    private String nameOf(long identity) {
        synchronized (comms) {
            return comms.stream()
                    .filter(each -> each.isIdentifiedBy(identity))
                    .map(Comm::describe)
                    .findAny()
                    .orElseGet(() -> ContextNumbers.text(identity));
        }
    }

    /** Ends all processes of the job. Does not return, unless the session was opened with another way to end. */
    void abort(int code, String reason) {
        session.abort(code & 0xff, reason);
    }

    /** Ends the job because of an error that no handler may handle. */
    void abort(MpiFault fault) {
        String reason = "rank " + session.rank() + ": " + fault.getMessage();
        new MPIException(fault.errorClass(), fault.getMessage(), fault).printStackTrace();
        session.abort(fault.errorClass() & 0xff, reason);
    }

    /**
     * Waits until all processes have come this far and all messages have left; then leaves the session, even if the
     * wait fails. No communicator can be used afterwards.
     */
    void end() {
        isEnding = true;
        int errorClass = ErrorClass.OTHER;
        boolean isInOrder = false;
        try {
            leaving().barrier(); // a process that has come this far receives nothing more
            if (!device.awaitCondition(this::haveAllLeft, QUEUES_NS, TimeUnit.NANOSECONDS)) {
                throw new MPIException(
                        MPI.ERR_PENDING,
                        "Finalize of rank " + session.rank() + ": messages have not left within "
                                + QUEUES_NS / 1_000_000_000
                                + " s: expected all operations to be complete, and a receive for each buffered send",
                        null);
            }
            isInOrder = true;
        } catch (MPIException e) {
            errorClass = e.getErrorClass();
            throw e;
        } finally {
            if (!isInOrder) {
                leave(errorClass);
            }
            try {
                session.close();
            } finally {
                synchronized (comms) {
                    comms.forEach(Comm::forget);
                }
            }
        }
    }

    /** A communicator of all processes, without what a failed collective operation has left in the world's. */
    private Intracomm leaving() {
        Intracomm leaving = new Intracomm();
        RankGroup all = new RankGroup(IntStream.range(0, size()).toArray());
        leaving.become(this, new Communicator(device, all, ContextNumbers.FINALIZE), "MPI_Finalize");
        leaving.setErrhandler(world.getErrhandler());
        return leaving;
    }

    /** Others may still wait for this process, which will not answer any more. */
    void leave(int errorClass) {
        try {
            device.leave(errorClass);
            boolean _ = device.awaitCondition(() -> !device.hasQueues(), FAREWELL_NS, TimeUnit.NANOSECONDS);
        } catch (MadeleineException _) {
            // interrupted, or the session is over: those who wait learn of it by the end of the process
        }
    }

    private boolean haveAllLeft() {
        return buffered.isEmpty() && !device.hasQueues();
    }
}
