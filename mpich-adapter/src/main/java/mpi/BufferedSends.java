package mpi;

import io.madeleine.api.MadeleineException;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.device.Device;
import io.madeleine.mpi.device.Operation;
import io.madeleine.mpi.device.Payload;
import io.madeleine.mpi.device.SendMode;
import io.madeleine.mpi.device.SendOperation;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Buffered sends (MPI 4.1, section 3.6): a copy of the message leaves when it can. The attached buffer bounds how many
 * bytes may wait; the copies lie in other memory.
 *
 * <p>Threading: thread-safe.
 */
final class BufferedSends {
    private final Device device;
    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicLong free = new AtomicLong();
    private volatile @Nullable Object attached;

    BufferedSends(Device device) {
        this.device = device;
    }

    synchronized void attach(Object buffer, long bytes) {
        if (attached != null) {
            throw new MPIException(MPI.ERR_BUFFER, "a buffer is attached already: detach it first", null);
        }
        attached = buffer;
        free.set(bytes);
    }

    /** Waits until all buffered sends have left; returns the buffer, or null. */
    synchronized @Nullable Object detach() {
        awaitEmpty();
        Object buffer = attached;
        attached = null;
        free.set(0);
        return buffer;
    }

    private void awaitEmpty() {
        if (!isEmpty()) {
            try {
                device.awaitCondition(this::isEmpty, -1);
            } catch (MadeleineException e) { // interrupted, or the session was closed
                throw new MPIException(
                        MPI.ERR_OTHER,
                        "rank " + device.rank() + " stopped waiting for its buffered sends, which go on; the buffer"
                                + " stays attached: " + e.getMessage(),
                        e);
            }
        }
    }

    /** Whether all buffered sends have left. */
    boolean isEmpty() {
        return pending.get() == 0;
    }

    /** Sends a copy of the payload. */
    void send(Payload payload, int target, long context, int tag) {
        long cost = payload.bytes() + MPI.BSEND_OVERHEAD;
        if (free.addAndGet(-cost) < 0) {
            long left = free.addAndGet(cost);
            String needs = "a buffered send of " + payload.bytes() + " bytes needs " + cost + " bytes of ";
            throw new MpiFault(
                    ErrorClass.BUFFER,
                    attached == null
                            ? needs + "an attached buffer, and none is attached: expected a call of MPI.attachBuffer"
                                    + " before, with an array of as many bytes for each send that may wait"
                            : needs + "the attached buffer, " + left
                                    + " are free: expected a larger one (MPI.attachBuffer)");
        }
        MemorySegment copy = MemorySegment.ofArray(new byte[Math.toIntExact(payload.bytes())]);
        payload.copyTo(copy, 0, payload.bytes());
        SendOperation send = device.newSend().prepare(SendMode.STANDARD, target, context, tag);
        send.payload().set(copy, 0, payload.bytes());
        pending.incrementAndGet();
        send.tell(done -> left(done, cost, target, tag));
        device.send(send);
    }

    /** A send has ended. Its caller has long gone on, so only the log tells of a failure. */
    private void left(Operation send, long cost, int target, int tag) {
        MpiFault why = send.fault();
        if (why != null) {
            System.getLogger("io.madeleine.mpi")
                    .log(
                            System.Logger.Level.ERROR,
                            "a buffered send of " + (cost - MPI.BSEND_OVERHEAD) + " bytes to rank " + target
                                    + " with tag " + tag + " has failed: " + why.getMessage());
        }
        free.addAndGet(cost);
        pending.decrementAndGet();
        device.signal();
    }
}
