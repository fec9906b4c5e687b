package mpi;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.collectives.Area;
import io.madeleine.mpi.collectives.Combining;
import io.madeleine.mpi.collectives.DirectSteps;
import io.madeleine.mpi.collectives.Schedule;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.comm.ContextNumbers;
import io.madeleine.mpi.comm.RankGroup;
import io.madeleine.mpi.creation.Creation;
import io.madeleine.mpi.device.Device;
import io.madeleine.mpi.device.Operation;
import io.madeleine.mpi.device.ReceiveOperation;
import io.madeleine.mpi.device.SendOperation;
import java.lang.ref.Reference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import mpi.CollectiveReductions.Values;
import org.jspecify.annotations.Nullable;

/**
 * A communicator: a group of processes with a context. This class has what all kinds of communicators share; {@link
 * PointToPointCalls} has the messages between two processes, {@link CollectiveCalls} the collective operations.
 *
 * <p>Threading: thread-safe. Collective operations of one communicator are started by one thread at a time, in the same
 * order at all members.
 */
@SuppressWarnings({"MemberName", "DoNotCallSuggester"}) // the names of mpiJava; members of a later version
public class Comm extends CollectiveCalls implements Freeable, Cloneable {
    /** Split by what shares memory. */
    public static final int TYPE_SHARED = 0;

    private static final int MOST_MEMBERS = 8;

    private static final Attributes.Space KEYVALS = new Attributes.Space();

    private @Nullable Environment environment;
    private volatile @Nullable Communicator handle;
    private volatile @Nullable PointToPoint messages;

    /** The members, also when it is freed: operations that were pending then end with the ranks of their senders. */
    private @Nullable RankGroup group;

    /** The number of the communicator, also when it is freed. */
    private long identity = -1;

    /** What makes this communicator, until it is done. */
    private @Nullable Creation creation;

    private @Nullable Request request;
    private @Nullable DirectSteps steps;

    private volatile Errhandler errhandler = MPI.ERRORS_ARE_FATAL;
    private final Attributes attributes = new Attributes(KEYVALS);
    private volatile String name = "";
    private volatile Info info = new Info();

    /** Whether MPI has ended that this communicator belonged to. */
    private volatile boolean isOver;

    Comm() {}

    // ---- what it stands for

    /** Makes this object stand for a communicator. */
    final void become(Environment own, Communicator communicator, String ownName) {
        belongTo(own);
        group = communicator.group();
        identity = communicator.context() >> 1;
        handle = communicator;
        messages = new PointToPoint(this, communicator);
        name = ownName;
    }

    /** Makes this object stand for a part or a copy of another communicator. */
    final void become(Comm parent, Communicator communicator) {
        become(parent.environment(), communicator, "");
        errhandler = parent.errhandler;
    }

    /** Makes this object stand for a communicator that is being made. */
    private void become(Comm parent, Creation made, Request end) {
        belongTo(parent.environment());
        creation = made;
        request = end;
        errhandler = parent.errhandler;
    }

    final boolean isIdentifiedBy(long number) {
        return identity == number;
    }

    /** The name that the program has given; else a number, and the ranks of the members in MPI.COMM_WORLD. */
    final String describe() {
        RankGroup members = group;
        if (!name.isEmpty() || members == null) {
            return name;
        }
        int shown = Math.min(members.size(), MOST_MEMBERS);
        String ranks = IntStream.range(0, shown)
                .mapToObj(rank -> String.valueOf(members.sessionRank(rank)))
                .collect(Collectors.joining(", "));
        int more = members.size() - shown;
        return ContextNumbers.text(identity) + " of ranks " + ranks + (more == 0 ? "" : " and " + more + " more");
    }

    private void belongTo(Environment own) {
        environment = own;
        own.add(this);
    }

    /** MPI has ended. */
    final void forget() {
        isOver = true;
        environment = null;
        creation = null;
        group = null;
        handle = null;
        messages = null;
        steps = null;
    }

    final Environment environment() {
        Environment own = environment;
        if (own == null && isOver) {
            throw MPI.isFinalizedError();
        } else if (own == null) {
            throw this == MPI.COMM_WORLD || this == MPI.COMM_SELF ? MPI.notInitialized() : isNullCommunicator();
        }
        return own;
    }

    private static MPIException isNullCommunicator() {
        return new MPIException(
                MPI.ERR_COMM, "the communicator is null: expected one that exists and is not freed", null);
    }

    /** Returns the communicator if it is not null. */
    static Comm given(@Nullable Comm comm) {
        return Arguments.required(comm, MPI.ERR_COMM, "the communicator", "one such as MPI.COMM_WORLD");
    }

    @Override
    final Communicator handle() {
        Communicator own = handle;
        return own == null ? handleSlowPath() : own;
    }

    private Communicator handleSlowPath() {
        Environment own = environment();
        Creation made = creation;
        if (made == null) {
            throw isNullCommunicator();
        }
        if (!made.schedule().isDone() || made.schedule().fault() != null) {
            throw new MPIException(
                    MPI.ERR_COMM, "the communicator is still being made: wait for the request of iDup first", null);
        }
        Communicator communicator = made.result();
        become(own, communicator, name);
        creation = null;
        return communicator;
    }

    @Override
    final PointToPoint messages() {
        PointToPoint own = messages;
        if (own == null) {
            handle();
            own = messages;
        }
        if (own == null) {
            throw isNullCommunicator();
        }
        return own;
    }

    final Device device() {
        return environment().device();
    }

    // ---- errors and waiting

    /** The exception for an error, after the error handler has done its part. */
    @Override
    final MPIException raise(MpiFault fault) {
        Environment own = environment;
        if (own != null && errhandler.isFatal()) {
            own.abort(fault);
        }
        return new MPIException(fault.errorClass(), fault.getMessage(), fault);
    }

    /** Makes a call whose faults the error handler handles. */
    private void raising(Runnable call) {
        try {
            call.run();
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /**
     * Waits for the end of a send or a receive. If the thread is interrupted, an operation that has not been matched is
     * cancelled, and the call fails; another one goes on to its end. So its buffer is the caller's afterwards.
     */
    final void await(Operation operation) {
        WaitInterruptedException interrupt = awaitToEnd(operation, true);
        if (interrupt != null && operation.isCancelled()) {
            throw gaveUp("gave up " + operation.describe(), interrupt);
        }
    }

    /** Waits for the end, whoever interrupts the thread: other ranks count on this one. */
    final void awaitToEnd(Operation operation) {
        WaitInterruptedException _ = awaitToEnd(operation, false);
    }

    /** Waits for the end of the operation of a request, which stays active if the thread is interrupted. */
    final void awaitRequest(Operation operation) {
        if (isOver && !operation.isDone()) {
            throw endedBefore(operation.describe(), null);
        }
        Environment own = environment();
        try {
            own.device().await(operation);
        } catch (MadeleineException e) { // interrupted, or the session was closed
            throw stoppedWaiting(own, operation.describe(), ", which goes on", e);
        }
    }

    /** The exception of a wait that an interrupt has ended, so that its operations go on, or the end of MPI. */
    final MPIException stoppedWaiting(Environment own, String what, String goesOn, MadeleineException why) {
        return own.isEnding() && !(why instanceof WaitInterruptedException)
                ? endedBefore(what, why)
                : gaveUp("stopped waiting for " + what + goesOn, why);
    }

    private static MPIException endedBefore(String what, @Nullable Throwable cause) {
        return new MPIException(
                MPI.ERR_OTHER,
                "MPI was finalized before " + what + " had ended: expected a wait for it before MPI.Finalize",
                cause);
    }

    /** Returns the first interrupt; the thread is left interrupted then. */
    private @Nullable WaitInterruptedException awaitToEnd(Operation operation, boolean cancels) {
        WaitInterruptedException first = null;
        try {
            while (true) {
                try {
                    device().await(operation);
                    return first;
                } catch (WaitInterruptedException e) {
                    boolean _ = Thread.interrupted();
                    if (first == null) {
                        first = e;
                        if (cancels) {
                            cancel(operation);
                        }
                    }
                }
            }
        } catch (MadeleineException e) { // the session was closed
            throw gaveUp("gave up " + operation.describe(), e);
        } finally {
            if (first != null) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void cancel(Operation operation) {
        if (operation instanceof ReceiveOperation receive) {
            device().cancel(receive);
        } else if (operation instanceof SendOperation send) {
            device().cancel(send);
        }
    }

    final MPIException gaveUp(String what, MadeleineException why) {
        return raise(
                new MpiFault(ErrorClass.OTHER, "rank " + device().rank() + " " + what + ": " + why.getMessage(), why));
    }

    final Status statusOf(ReceiveOperation receive, int error) {
        RankGroup members = group == null ? handle().group() : group;
        int source = receive.source() == Device.ANY_SOURCE ? MPI.ANY_SOURCE : members.rankOf(receive.source());
        return new Status(source, receive.tag(), receive.bytes(), receive.isCancelled(), error);
    }

    @Override
    final void run(Supplier<Plan> made) {
        try {
            Plan plan = made.get();
            plan.schedule.keep(made); // which refers to the buffers
            run(plan.schedule);
            plan.finish();
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** The steps of short collective operations; made again after one was given up. */
    private DirectSteps steps() {
        Communicator current = handle();
        DirectSteps own = steps;
        if (own == null || own.communicator() != current) {
            own = new DirectSteps(current, this::awaitToEnd);
            steps = own;
        }
        return own;
    }

    @Override
    final void runBarrier() {
        try {
            steps().barrier();
        } catch (MpiFault e) {
            throw raise(e);
        } catch (RuntimeException | Error e) { // the session was closed, or memory is short
            steps = null;
            throw e;
        }
    }

    @Override
    final void runAllreduce(
            @Nullable Object send,
            int sendOffset,
            @Nullable Object receive,
            int receiveOffset,
            int count,
            Datatype type,
            Op op) {
        Values values = values(send, sendOffset, receive, receiveOffset, type, op);
        try {
            Communicator own = handle();
            boolean isInPlace = values.isInPlace();
            if (receive == null
                    || !PointToPoint.isPlain(receive, type)
                    || (send != null && !isInPlace && !PointToPoint.isPlain(send, type))) {
                run(() -> CollectiveReductions.allreduce(own, values, count));
                return;
            }
            Combining combining = values.combining();
            PointToPoint buffers = messages();
            Area result = buffers.resultArea(receive, receiveOffset, count, type);
            Area input = send == null || isInPlace ? result : buffers.area(send, sendOffset, count, type);
            steps().allreduce(input, result, combining);
        } catch (MpiFault e) {
            throw raise(e);
        } catch (RuntimeException | Error e) { // the session was closed, or memory is short
            steps = null;
            throw e;
        } finally {
            Reference.reachabilityFence(send);
            Reference.reachabilityFence(receive);
        }
    }

    private Values values(
            @Nullable Object send, int sendOffset, @Nullable Object receive, int receiveOffset, Datatype type, Op op) {
        try {
            return new Values(send, sendOffset, receive, receiveOffset, type, op);
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    final void run(Schedule schedule) {
        schedule.start();
        awaitToEnd(schedule);
        if (schedule.fault() != null) {
            throw schedule.fault();
        }
    }

    @Override
    final Request start(Supplier<Plan> made) {
        try {
            Plan plan = made.get();
            plan.schedule.keep(made);
            plan.schedule.start();
            return Request.of(this, plan.schedule, _ -> plan.finish());
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    // ---- the communicator

    /** An object of the same class for another communicator. */
    Comm another() {
        return new Comm();
    }

    /** As {@link #dup}. */
    @Override
    public Comm clone() {
        return dup();
    }

    /** The same group with another context, and copies of the attributes. Collective. */
    public Comm dup() {
        Comm copy = iDup();
        Request end = copy.request;
        if (end != null) {
            end.awaitEnd();
            end.waitFor();
        }
        copy.request = null;
        return copy;
    }

    /** As {@link #dup}, non-blocking: the copy may be used when the request of {@link #getRequest} is complete. */
    public Comm iDup() {
        Creation made = Creation.duplicate(handle(), environment().numbers());
        made.schedule().start();
        Comm copy = another();
        copy.become(this, made, Request.of(this, made.schedule(), null));
        copy.attributes().copyFrom(attributes);
        return copy;
    }

    /** As {@link #dup}, with other hints. */
    public Comm dupWithInfo(Info hints) {
        Comm copy = dup();
        copy.setInfo(hints);
        return copy;
    }

    final Attributes attributes() {
        return attributes;
    }

    /** The request of {@link #iDup}; the null request for other communicators. */
    public final Request getRequest() {
        Request end = request;
        return end == null ? MPI.REQUEST_NULL : end;
    }

    /** The number of processes. */
    public final int getSize() {
        return handle().size();
    }

    /** As {@link #getSize}. */
    public int Size() {
        return getSize();
    }

    /** The rank of this process. */
    public final int getRank() {
        return handle().rank();
    }

    /** As {@link #getRank}. */
    public int Rank() {
        return getRank();
    }

    /** IDENT, CONGRUENT, SIMILAR or UNEQUAL. */
    public static int compare(Comm comm1, Comm comm2) {
        Communicator one = given(comm1).handle();
        Communicator other = given(comm2).handle();
        if (one.context() == other.context()) {
            return MPI.IDENT;
        }
        if (one.group().equals(other.group())) {
            return MPI.CONGRUENT;
        }
        return one.group().hasSameMembers(other.group()) ? MPI.SIMILAR : MPI.UNEQUAL;
    }

    /** As {@link #compare}. */
    public static int Compare(Comm comm1, Comm comm2) {
        return compare(comm1, comm2);
    }

    /**
     * Makes this the null communicator. Pending operations go on: their requests and matched messages are completed as
     * before, and the error handler stays theirs. Collective.
     */
    @Override
    public final void free() {
        if (environment != null && (this == environment.world() || this == MPI.COMM_WORLD)) {
            throw raise(new MpiFault(ErrorClass.COMM, "MPI.COMM_WORLD is freed: expected another communicator"));
        }
        handle();
        attributes.clear();
        handle = null;
        messages = null;
    }

    /** As {@link #free}. */
    public void Free() {
        free();
    }

    /** As {@link #free}, after all operations of this process are complete. */
    public final void disconnect() {
        run(() -> Collectives.barrier(handle()));
        free();
    }

    /** Whether it stands for no communicator. */
    public final boolean isNull() {
        return handle == null && creation == null;
    }

    /** As {@link #isNull}. */
    public boolean Is_null() {
        return isNull();
    }

    /** Sets the hints; none has a meaning yet. */
    public final void setInfo(Info hints) {
        info = hints.isNull() ? new Info() : hints.dup();
    }

    /** A copy of the hints. */
    public final Info getInfo() {
        return info.dup();
    }

    /** The group. */
    public final Group getGroup() {
        return new Group(handle().group(), device().rank());
    }

    /** As {@link #getGroup}. */
    public Group Group() {
        return getGroup();
    }

    /** False: intercommunicators are not supported yet. */
    public final boolean isInter() {
        return false;
    }

    /** As {@link #isInter}. */
    public boolean Test_inter() {
        return isInter();
    }

    /** Not supported yet. */
    public final Intercomm createIntercomm(Comm local, int localLeader, int remoteLeader, int tag) {
        throw Left.out("Comm.createIntercomm");
    }

    /** Not supported yet. */
    public Intercomm Create_intercomm(Comm local, int localLeader, int remoteLeader, int tag) {
        throw Left.out("Comm.Create_intercomm");
    }

    /** What kind of topology it has; UNDEFINED if none. */
    public int getTopology() {
        return MPI.UNDEFINED;
    }

    /** As {@link #getTopology}. */
    public int Topo_test() {
        return getTopology();
    }

    /** Ends the whole job. Its exit code is the last 8 bits of this one: 0 and 256 end it as a success does. */
    public final void abort(int code) {
        environment().abort(code, "rank " + environment().rank() + " called abort with code " + code);
    }

    /** As {@link #abort}. */
    public void Abort(int code) {
        abort(code);
    }

    // ---- error handlers, names, attributes

    /** Sets what happens if an operation fails. */
    public final void setErrhandler(Errhandler handler) {
        raising(() -> errhandler = Arguments.present(
                handler, ErrorClass.ARG, "the error handler", "MPI.ERRORS_ARE_FATAL or MPI.ERRORS_RETURN"));
    }

    /** As {@link #setErrhandler}. */
    public void Errhandler_set(Errhandler handler) {
        setErrhandler(handler);
    }

    /** As {@link #setErrhandler}. */
    public void Errorhandler_set(Errhandler handler) {
        setErrhandler(handler);
    }

    /** What happens if an operation fails. */
    public final Errhandler getErrhandler() {
        return errhandler;
    }

    /** As {@link #getErrhandler}. */
    public Errhandler Errorhandler_get() {
        return errhandler;
    }

    /** Has the error handler handle an error: it ends the job, or nothing happens. */
    public void callErrhandler(int error) {
        if (errhandler.isFatal()) {
            environment().abort(error, "rank " + environment().rank() + " called its error handler with code " + error);
        }
    }

    /** Sets the name. */
    public final void setName(String text) {
        raising(() -> name = Attributes.checkName(text));
    }

    /** The name; empty if it was never set. */
    public final String getName() {
        return name;
    }

    /** Makes a key for attributes of communicators. */
    public static int createKeyval() {
        return KEYVALS.create();
    }

    /** Makes a key unusable for further attributes. */
    public static void freeKeyval(int keyval) {
        Arguments.unhandled(() -> KEYVALS.free(keyval));
    }

    /** Sets an attribute: a serialized copy of the value. */
    public final void setAttr(int keyval, Object value) {
        raising(() -> attributes.set(keyval, value));
    }

    /** A copy of an attribute, or a predefined one; null if it is not set. */
    public final @Nullable Object getAttr(int keyval) {
        if (keyval == MPI.WTIME_IS_GLOBAL) {
            return false;
        }
        Integer predefined = Attr_get(keyval);
        if (predefined != null || keyval <= MPI.WIN_DISP_UNIT) {
            return predefined;
        }
        try {
            return attributes.get(keyval);
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** A predefined attribute; null if it is not set. */
    public @Nullable Integer Attr_get(int keyval) {
        if (keyval == MPI.TAG_UB) {
            return Integer.MAX_VALUE;
        } else if (keyval == MPI.HOST) {
            return MPI.PROC_NULL;
        } else if (keyval == MPI.IO) {
            return MPI.ANY_SOURCE;
        } else if (keyval == MPI.UNIVERSE_SIZE) {
            return environment().size();
        } else if (keyval == MPI.LASTUSEDCODE) {
            return MPI.ERR_LASTCODE;
        }
        return keyval == MPI.APPNUM ? Integer.valueOf(0) : null;
    }

    /** Removes an attribute. */
    public final void deleteAttr(int keyval) {
        raising(() -> attributes.delete(keyval));
    }

    /** As {@link #deleteAttr}. */
    public void Attr_delete(int keyval) {
        deleteAttr(keyval);
    }

    @Override
    public String toString() {
        return name.isEmpty() ? "a communicator" : name;
    }
}
