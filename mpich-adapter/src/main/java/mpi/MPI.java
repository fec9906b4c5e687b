package mpi;

import io.madeleine.mpi.comm.RankGroup;
import io.madeleine.mpi.device.DeviceSettings;
import io.madeleine.mpi.report.Reporter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The start and end of MPI in a program, its constants and predefined objects. A process that {@code mad run} started
 * joins the others in {@link #Init}; a process that was started otherwise is alone.
 *
 * <p>Threading: thread-safe; one thread calls {@link #Init} and {@link #Finalize}.
 */
@SuppressWarnings("MemberName") // the names of mpiJava
public class MPI extends Memory {
    /** All processes. */
    public static final Intracomm COMM_WORLD = new Intracomm();

    /** This process. */
    public static final Intracomm COMM_SELF = new Intracomm();

    /** No communicator. */
    public static final Comm COMM_NULL = new Comm();

    /** The group without members. */
    public static final Group GROUP_EMPTY = new Group(RankGroup.EMPTY, -1);

    /** No group. */
    public static final Group GROUP_NULL = new Group(null, -1);

    /** No request. */
    public static final Request REQUEST_NULL = Request.ofNull();

    /** The status of no message. */
    public static final Status EMPTY_STATUS = new Status();

    /** No hints. */
    public static final Info INFO_NULL = Info.ofNull();

    /** What is known about the start of the program. */
    public static final Info INFO_ENV = new Info();

    /** Not used. */
    public static final boolean DEBUG = false;

    /** Not used. */
    public static final boolean isOldSelected = false;

    private static @Nullable Environment environment;
    private static @Nullable Reporter reporter;
    private static boolean initialized;
    private static boolean finalized;
    private static @Nullable Thread main;

    /** For programs that make an object of it; it has only static members. */
    public MPI() {}

    // ---- start and end

    /**
     * Starts MPI: joins the other processes.
     *
     * @param args the arguments of the program; may be null
     * @return the arguments
     * @throws MPIException of class {@link #ERR_ARG} if a setting is wrong; of class {@link #ERR_OTHER} if processes
     *     were not reached in time, or if it is not the first call
     */
    public static synchronized String[] Init(String @Nullable [] args) {
        if (initialized) {
            boolean hasFailed = environment == null && !finalized;
            throw new MPIException(
                    ERR_OTHER,
                    hasFailed
                            ? "MPI.Init has failed before, and cannot be repeated: expected one call per process; see"
                                    + " the error of the first call"
                            : "MPI.Init is called a second time: expected one call per process",
                    null);
        }
        DeviceSettings settings = Arguments.unhandled(() -> DeviceSettings.from(System.getProperties()));
        initialized = true;
        main = Thread.currentThread();
        Environment own = Environment.open(settings, COMM_WORLD, COMM_SELF);
        environment = own;
        takeFrom(own.buffers());
        reporter = new Reporter(own.rank(), own.size(), own::awaited);
        return args == null ? new String[0] : args;
    }

    /** As {@link #Init}; returns the level of thread support, always THREAD_MULTIPLE. */
    public static int InitThread(String @Nullable [] args, int required) {
        String[] _ = Init(args);
        return THREAD_MULTIPLE;
    }

    /** As {@link #Init}; MPJ Express. */
    public static String[] initThread(int required, int provided, String @Nullable [] args) {
        return Init(args);
    }

    /** Ends MPI: waits until all processes have called it, and leaves the session. */
    public static synchronized void Finalize() {
        Environment own = environment();
        finalized = true;
        takeFrom(null);
        own.end();
        environment = null;
        Reporter told = reporter;
        if (told != null) {
            told.close();
        }
    }

    static MPIException notInitialized() {
        return finalized
                ? isFinalizedError()
                : new MPIException(ERR_OTHER, "MPI is not initialized: expected MPI.Init first", null);
    }

    static MPIException isFinalizedError() {
        return new MPIException(ERR_OTHER, "MPI has been finalized: expected no call after MPI.Finalize", null);
    }

    private static synchronized Environment environment() {
        Environment own = environment;
        if (own == null || finalized) {
            throw notInitialized();
        }
        return own;
    }

    /** Whether Init has been called. */
    public static synchronized boolean isInitialized() {
        return initialized;
    }

    /** Whether Init has been called, and Finalize has not. */
    public static synchronized boolean Initialized() {
        return initialized && !finalized;
    }

    /** Whether Finalize has been called. */
    public static synchronized boolean isFinalized() {
        return finalized;
    }

    /** The level of thread support. */
    public static int queryThread() {
        Environment _ = environment();
        return THREAD_MULTIPLE;
    }

    /** Whether this thread has called Init. */
    public static boolean isThreadMain() {
        Environment _ = environment();
        return isMainThread();
    }

    /** Whether this thread has called Init. */
    public static synchronized boolean isMainThread() {
        return Thread.currentThread() == main;
    }

    // ---- environment

    /** Seconds since some time in the past; also before {@link #Init} and after {@link #Finalize}. */
    public static double wtime() {
        return System.nanoTime() * 1e-9;
    }

    /** As {@link #wtime}. */
    public static double Wtime() {
        return wtime();
    }

    /** The resolution of {@link #wtime} in seconds; also before {@link #Init} and after {@link #Finalize}. */
    public static double wtick() {
        return 1e-9;
    }

    /** As {@link #wtick}. */
    public static double Wtick() {
        return wtick();
    }

    /** The version of the standard. */
    public static Version getVersion() {
        return new Version(VERSION, SUBVERSION);
    }

    /** The name of this implementation. */
    public static String getLibVersion() {
        return "Madeleine MPI for Java";
    }

    /** The name of the host. */
    public static String getProcessorName() {
        Environment _ = environment();
        return hostName();
    }

    /** As {@link #getProcessorName}. */
    public static String Get_processor_name() {
        return getProcessorName();
    }

    static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }

    /** Does nothing. */
    public static void pControl(int level, @Nullable Object value) {
        // nothing to control
    }

    /** Bounds buffered sends: as many bytes may wait as the array has. */
    public static void attachBuffer(byte[] buffer) {
        byte[] own = Arguments.required(buffer, ERR_BUFFER, "the buffer to attach", "an array");
        environment().buffered().attach(own, own.length);
    }

    /** As {@link #attachBuffer}. */
    public static void Buffer_attach(byte[] buffer) {
        attachBuffer(buffer);
    }

    /** As {@link #attachBuffer}. */
    public static void Buffer_attach(ByteBuffer buffer) {
        ByteBuffer own = Arguments.required(buffer, ERR_BUFFER, "the buffer to attach", "a ByteBuffer or an array");
        environment().buffered().attach(own, own.capacity());
    }

    /**
     * Waits until all buffered sends have left or failed; returns the attached array, or null. Failures of buffered
     * sends are logged and do not reach the error handler.
     */
    public static byte @Nullable [] detachBuffer() {
        return environment().buffered().detach() instanceof byte[] array ? array : null;
    }

    /** As {@link #detachBuffer}. */
    public static byte @Nullable [] Buffer_detach() {
        return detachBuffer();
    }

    /** Sets the error handler of COMM_WORLD. */
    public static void Errorhandler_set(Errhandler handler) {
        COMM_WORLD.setErrhandler(handler);
    }

    /** The error handler of COMM_WORLD. */
    public static Errhandler Errorhandler_get() {
        return COMM_WORLD.getErrhandler();
    }
}
