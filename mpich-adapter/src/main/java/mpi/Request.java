package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.collectives.Schedule;
import io.madeleine.mpi.device.Operation;
import io.madeleine.mpi.device.ReceiveOperation;
import io.madeleine.mpi.device.SendOperation;
import org.jspecify.annotations.Nullable;

/**
 * A non-blocking operation. It is null when it is complete and a wait or test has said so, or when it is freed;
 * persistent ones become inactive instead.
 *
 * <p>In the arrays of the methods for several requests, null elements count as null requests. An array that is null is
 * an {@link MPIException} of class {@link MPI#ERR_ARG}.
 *
 * <p>Threading: one thread at a time; different requests by any number of threads.
 */
@SuppressWarnings("MemberName") // the names of mpiJava
public class Request implements Freeable {
    private final @Nullable Comm comm;

    private @Nullable Operation operation;
    private @Nullable Finisher finisher;

    /** The result of an operation that was complete from the start. */
    private @Nullable Status ready;

    private boolean isNull;

    /** Whether the operation was a send that has left at once. */
    private boolean isSent;

    /** Whether the operation goes back to the device when this request has taken its result. */
    private boolean isPooled;

    /** Handles what was received, in the thread that learns of the end. */
    @FunctionalInterface
    interface Finisher {
        void finish(Status status);
    }

    Request(@Nullable Comm comm) {
        this.comm = comm;
    }

    /** A request for a running operation. */
    static Request of(Comm comm, Operation operation, @Nullable Finisher finisher) {
        Request request = new Request(comm);
        request.begin(operation, finisher);
        return request;
    }

    /** A request for a running operation of the device's pool. */
    static Request ofPooled(Comm comm, Operation operation) {
        Request request = new Request(comm);
        request.operation = operation;
        request.isPooled = true;
        return request;
    }

    /** A request of a send that has left already. */
    static Request ofSent(Comm comm) {
        Request request = new Request(comm);
        request.isSent = true;
        return request;
    }

    /** A request that is complete. */
    static Request of(Comm comm, Status status) {
        Request request = new Request(comm);
        request.begin(status);
        return request;
    }

    /** The null request. */
    static Request ofNull() {
        Request request = new Request(null);
        request.isNull = true;
        return request;
    }

    final void begin(Operation started, @Nullable Finisher after) {
        operation = started;
        finisher = after;
    }

    final void begin(Status status) {
        ready = status;
    }

    /** Whether the object stays usable after its operation. */
    boolean isPersistent() {
        return false;
    }

    final boolean isActive() {
        return operation != null || ready != null || isSent;
    }

    /** Whether the operation has ended; false for inactive requests. */
    final boolean isOver() {
        Operation running = operation;
        return ready != null || isSent || (running != null && running.isDone());
    }

    /** Takes the result of an operation that has ended. */
    final Status take() {
        Operation done = operation;
        Finisher after = finisher;
        Status status = ready != null ? ready : done == null ? new Status() : statusOf(done);
        clear();
        if (after != null && status.getError() == MPI.SUCCESS && !status.isCancelled()) {
            after.finish(status);
        }
        return status;
    }

    /** Drops the result of an operation that has ended. */
    final void clear() {
        Operation done = operation;
        ready = null;
        isSent = false;
        operation = null;
        finisher = null;
        isNull = !isPersistent();
        if (isPooled && done != null && comm != null) {
            comm.device().give(done);
        }
    }

    /** Whether there is nothing to learn from the result but that the operation has ended. */
    final boolean isPlain() {
        Operation done = operation;
        return finisher == null && (done == null || done.fault() == null);
    }

    /** Takes the result of an operation that has ended, without a status. */
    final void end() {
        if (isPlain()) {
            clear();
        } else {
            Status _ = finish();
        }
    }

    private Status statusOf(Operation done) {
        MpiFault fault = done.fault();
        int error = fault == null ? MPI.SUCCESS : fault.errorClass();
        if (comm != null && done instanceof ReceiveOperation receive) {
            return comm.statusOf(receive, error);
        }
        return new Status(MPI.ANY_SOURCE, MPI.ANY_TAG, 0, done.isCancelled(), error);
    }

    /** Takes the result, and raises the error if there is one. */
    private Status finish() {
        Operation done = operation;
        try {
            MpiFault fault = done == null ? null : done.fault();
            Status status = take();
            if (comm != null && fault != null) {
                throw comm.raise(fault);
            }
            return status;
        } catch (MpiFault e) { // of the finisher
            throw raise(e);
        }
    }

    final MPIException raise(MpiFault fault) {
        return comm == null ? new MPIException(fault.errorClass(), fault.getMessage(), fault) : comm.raise(fault);
    }

    private void await() {
        Operation running = operation;
        if (running != null && comm != null && ready == null) {
            comm.awaitRequest(running);
        }
    }

    /** Waits for the end as a blocking call does: an interrupted thread withdraws an operation that is not matched. */
    final Status endBlocking() {
        Operation running = operation;
        if (running != null && comm != null && ready == null) {
            comm.await(running);
        }
        return isActive() ? finish() : new Status();
    }

    /** Withdraws the operation if it is not matched, else waits for its end: then the caller has its buffer back. */
    final void withdraw() {
        cancel();
        awaitEnd();
    }

    /** Waits for the end, even if the thread is interrupted. */
    final void awaitEnd() {
        Operation running = operation;
        if (running != null && comm != null && ready == null) {
            comm.awaitToEnd(running);
        }
    }

    private void progress() {
        if (comm != null && !isOver()) {
            comm.device().progress();
        }
    }

    @Nullable
    MpiFault fault() {
        return operation == null ? null : operation.fault();
    }

    @Nullable
    Comm comm() {
        return comm;
    }

    // ---- one request

    /**
     * Lets the send or receive end by itself, and makes this the null request.
     *
     * @throws MPIException of class {@link MPI#ERR_REQUEST} if it is the request of a non-blocking collective
     *     operation, as {@code iBcast} or {@code iDup}: MPI allows to free none of them; wait for it instead
     */
    @Override
    public void free() {
        if (operation instanceof Schedule collective) {
            throw raise(new MpiFault(
                    ErrorClass.REQUEST,
                    "the request of a collective operation is freed (" + collective.describe()
                            + "): expected a wait for it, as MPI lets nobody free it"));
        }
        operation = null; // it is not given back: it may be running
        isSent = false;
        finisher = null;
        ready = null;
        isNull = true;
    }

    /** As {@link #free}. */
    public void Free() {
        free();
    }

    /** Asks for cancellation; the request must still be completed. */
    public final void cancel() {
        if (comm != null && operation instanceof ReceiveOperation receive) {
            comm.device().cancel(receive);
        } else if (comm != null && operation instanceof SendOperation send) {
            comm.device().cancel(send);
        }
    }

    /** As {@link #cancel}. */
    public void Cancel() {
        cancel();
    }

    /** Whether this is the null request. */
    public final boolean isNull() {
        return isNull;
    }

    /** As {@link #isNull}. */
    public boolean Is_null() {
        return isNull;
    }

    /** Waits for the end; returns an empty status if the request is null or inactive. */
    public final Status waitStatus() {
        await();
        return isActive() ? finish() : new Status();
    }

    /** As {@link #waitStatus}, without the status. */
    public final void waitFor() {
        await();
        if (isActive()) {
            end();
        }
    }

    /** As {@link #waitStatus}. */
    public Status Wait() {
        return waitStatus();
    }

    /** The status if the operation has ended, else null. */
    public final @Nullable Status testStatus() {
        if (!isActive()) {
            return new Status();
        }
        progress();
        return isOver() ? finish() : null;
    }

    /** As {@link #testStatus}. */
    public @Nullable Status Test() {
        return testStatus();
    }

    /** Whether the operation has ended. */
    public final boolean test() {
        if (!isActive()) {
            return true;
        }
        progress();
        if (!isOver()) {
            return false;
        }
        end();
        return true;
    }

    /** The status if the operation has ended, else null; the request stays as it is. */
    public final @Nullable Status getStatus() {
        if (!isActive()) {
            return new Status();
        }
        progress();
        if (!isOver()) {
            return null;
        }
        Operation done = operation;
        return ready != null ? ready : done == null ? new Status() : statusOf(done);
    }

    // ---- several requests

    /** As {@link #waitAny}, with a status whose index is set. */
    public static Status waitAnyStatus(Request[] requests) {
        Requests.check(requests, "waitAny");
        int place = Requests.awaitAny(requests);
        return place == MPI.UNDEFINED
                ? new Status().at(place)
                : requests[place].finish().at(place);
    }

    /** Waits for one of them; returns its place, or UNDEFINED if none is active. */
    public static int waitAny(Request[] requests) {
        Requests.check(requests, "waitAny");
        int place = Requests.awaitAny(requests);
        if (place != MPI.UNDEFINED) {
            requests[place].end();
        }
        return place;
    }

    /** As {@link #waitAnyStatus}. */
    public static Status Waitany(Request[] requests) {
        return waitAnyStatus(requests);
    }

    /** As {@link #testAny}, with a status whose index is set; null if none has ended. */
    public static @Nullable Status testAnyStatus(Request[] requests) {
        Requests.check(requests, "testAny");
        Requests.progress(requests);
        int place = Requests.firstOver(requests);
        if (place != MPI.UNDEFINED) {
            return requests[place].finish().at(place);
        }
        return Requests.hasActive(requests) ? null : new Status().at(MPI.UNDEFINED);
    }

    /** The place of one that has ended, or UNDEFINED. */
    public static int testAny(Request[] requests) {
        Requests.check(requests, "testAny");
        Requests.progress(requests);
        int place = Requests.firstOver(requests);
        if (place != MPI.UNDEFINED) {
            requests[place].end();
        }
        return place;
    }

    /** As {@link #testAnyStatus}. */
    public static @Nullable Status Testany(Request[] requests) {
        return testAnyStatus(requests);
    }

    /** Waits for all. */
    public static Status[] waitAllStatus(Request[] requests) {
        awaitAll(requests);
        return Requests.takeAll(requests);
    }

    /** As {@link #waitAllStatus}, without the statuses. */
    public static void waitAll(Request[] requests) {
        awaitAll(requests);
        Requests.endAll(requests);
    }

    /** Waits for the last one first: this wait sees most of the others end. */
    private static void awaitAll(Request[] requests) {
        Requests.check(requests, "waitAll");
        for (int i = requests.length - 1; i >= 0; i--) {
            Request request = requests[i];
            if (request != null) {
                request.await();
            }
        }
    }

    /** As {@link #waitAllStatus}. */
    public static Status[] Waitall(Request[] requests) {
        return waitAllStatus(requests);
    }

    /** The statuses if all have ended, else null. */
    public static Status @Nullable [] testAllStatus(Request[] requests) {
        Requests.check(requests, "testAll");
        Requests.progress(requests);
        return Requests.areAllOver(requests) ? Requests.takeAll(requests) : null;
    }

    /** Whether all have ended. */
    public static boolean testAll(Request[] requests) {
        Requests.check(requests, "testAll");
        Requests.progress(requests);
        if (!Requests.areAllOver(requests)) {
            return false;
        }
        Requests.endAll(requests);
        return true;
    }

    /** As {@link #testAllStatus}. */
    public static Status @Nullable [] Testall(Request[] requests) {
        return testAllStatus(requests);
    }

    /** As {@link #waitSome}, with statuses whose index is set. */
    public static Status @Nullable [] waitSomeStatus(Request[] requests) {
        Requests.check(requests, "waitSome");
        if (Requests.awaitAny(requests) == MPI.UNDEFINED) {
            return null;
        }
        return Requests.takeSome(requests);
    }

    /** Waits for at least one; returns the places of those that have ended, null if none is active. */
    public static int @Nullable [] waitSome(Request[] requests) {
        return Requests.places(waitSomeStatus(requests));
    }

    /** As {@link #waitSomeStatus}. */
    public static Status @Nullable [] Waitsome(Request[] requests) {
        return waitSomeStatus(requests);
    }

    /** As {@link #testSome}, with statuses whose index is set. */
    public static Status @Nullable [] testSomeStatus(Request[] requests) {
        Requests.check(requests, "testSome");
        if (!Requests.hasActive(requests)) {
            return null;
        }
        Requests.progress(requests);
        return Requests.takeSome(requests);
    }

    /** The places of those that have ended; null if none is active. */
    public static int @Nullable [] testSome(Request[] requests) {
        return Requests.places(testSomeStatus(requests));
    }

    /** As {@link #testSomeStatus}. */
    public static Status @Nullable [] Testsome(Request[] requests) {
        return testSomeStatus(requests);
    }

    /** The error of several requests of which one has failed. */
    static MPIException raiseOfSeveral(Comm comm, MpiFault first) {
        return comm.raise(
                new MpiFault(ErrorClass.IN_STATUS, "one of several requests has failed: " + first.getMessage(), first));
    }
}
