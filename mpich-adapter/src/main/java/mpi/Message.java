package mpi;

import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.device.Arrived;
import java.nio.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * A message that a matched probe has taken, so that no other receive gets it. May be used again for the next probe.
 *
 * <p>Threading: confined to caller.
 */
public final class Message {
    private @Nullable Comm comm;

    /** The parts of the communicator, which may be freed before the message is received. */
    private @Nullable PointToPoint messages;

    private @Nullable Arrived arrived;
    private boolean isNoProcess;

    /** The null message. */
    public Message() {}

    /** Whether there is no message to receive. */
    public boolean isNull() {
        return arrived == null && !isNoProcess;
    }

    /** Whether the message is that of MPI.PROC_NULL. */
    public boolean isNoProc() {
        return isNoProcess;
    }

    /** Waits for a message and takes it. */
    public Status mProbe(int source, int tag, Comm from) {
        Status status = probe(source, tag, from, true);
        return status == null ? new Status() : status;
    }

    /** Takes a message; null if there is none. */
    public @Nullable Status imProbe(int source, int tag, Comm from) {
        return probe(source, tag, from, false);
    }

    private @Nullable Status probe(int source, int tag, Comm from, boolean waits) {
        comm = Comm.given(from);
        isNoProcess = source == MPI.PROC_NULL;
        if (isNoProcess) {
            return Status.ofNoProcess();
        }
        try {
            PointToPoint all = from.messages();
            Arrived taken = waits ? all.take(source, tag) : all.takeNow(source, tag);
            messages = all;
            arrived = taken;
            return taken == null ? null : all.statusOf(taken.envelope());
        } catch (MpiFault e) {
            throw from.raise(e);
        }
    }

    /** Receives the message. */
    public Status mRecv(@Nullable Object buf, int count, Datatype type) {
        return receive(buf, count, type).endBlocking();
    }

    /** Starts to receive the message. */
    public Request imRecv(Buffer buf, int count, Datatype type) {
        return receive(PointToPointCalls.direct(buf), count, type);
    }

    private Request receive(@Nullable Object buf, int count, Datatype type) {
        Comm from = comm;
        PointToPoint all = messages;
        Arrived taken = arrived;
        if (from == null || isNull()) {
            throw new MPIException(MPI.ERR_REQUEST, "the message is null: expected one of a matched probe", null);
        }
        if (isNoProcess || taken == null || all == null) {
            isNoProcess = false;
            return Request.of(from, Status.ofNoProcess());
        }
        try {
            Environment _ = from.environment(); // throws if MPI has ended
            Request request = all.receiveTaken(taken, new PointToPoint.Data(buf, 0, count, type));
            arrived = null; // not before: with wrong arguments the message is still to be received
            return request;
        } catch (MpiFault e) {
            throw from.raise(e);
        }
    }
}
