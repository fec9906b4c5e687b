package io.madeleine.mpi.collectives;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.device.Device;
import io.madeleine.mpi.device.Operation;
import io.madeleine.mpi.device.ReceiveOperation;
import io.madeleine.mpi.device.SendMode;
import io.madeleine.mpi.device.SendOperation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Short blocking collective operations, step by step in the calling thread. They send the same messages as a
 * {@link Schedule}, which would take longer to make than the messages to travel, and fail in the same way: a member at
 * which the operation has failed tells the others in place of its messages, and takes theirs.
 *
 * <p>Threading: confined to caller, as the collective operations of a communicator are.
 */
public final class DirectSteps {
    /** The longest values that are reduced here. */
    public static final int MOST_BYTES = 2048;

    private final Communicator communicator;
    private final Device device;
    private final Consumer<Operation> waiting;
    private final ReceiveOperation receive;
    private final Area nothing = Area.allocate(0);
    private final MemorySegment arriving = Arena.ofAuto().allocate(MOST_BYTES, 64);

    private String name = "";
    private int tag;
    private int steps;
    private int step;
    private @Nullable MpiFault fault;

    /** The session rank where the operation failed first. */
    private int culprit;

    /**
     * The steps of a communicator's operations.
     *
     * @param waiting waits until an operation is done
     */
    public DirectSteps(Communicator communicator, Consumer<Operation> waiting) {
        this.communicator = communicator;
        this.device = communicator.device();
        this.waiting = waiting;
        this.receive = new ReceiveOperation(device).needAll();
    }

    /** The communicator whose operations these are. */
    public Communicator communicator() {
        return communicator;
    }

    /** Barrier; see {@link Exchanges#barrier}. */
    public void barrier() {
        int size = communicator.size();
        begin("barrier", Integer.SIZE - Integer.numberOfLeadingZeros(size - 1));
        for (int distance = 1; distance < size; distance *= 2) {
            int to = communicator.rank() + distance;
            int from = communicator.rank() - distance;
            exchange(to < size ? to : to - size, nothing, from < 0 ? from + size : from, nothing);
        }
        end();
    }

    /** Whether {@link #allreduce} takes values of this length. */
    public static boolean isAllreduced(Communicator communicator, long bytes) {
        int size = communicator.size();
        return bytes <= MOST_BYTES && size > 1 && Integer.bitCount(size) == 1;
    }

    /** Allreduce by recursive doubling; see {@link Reductions#allreduce}. */
    public void allreduce(Area data, Combining combining) {
        int size = communicator.size();
        int rank = communicator.rank();
        begin("allreduce", Integer.numberOfTrailingZeros(size));
        Area coming = new Area(arriving, 0, data.bytes());
        for (int distance = 1; distance < size; distance *= 2) {
            int partner = rank ^ distance;
            exchange(partner, data, partner, coming);
            if (fault == null) {
                combine(combining, data, coming, partner < rank);
            }
        }
        end();
    }

    private void combine(Combining combining, Area own, Area coming, boolean isLower) {
        try {
            Reductions.combine(combining, own, coming, isLower);
        } catch (MpiFault e) {
            failed(e, device.rank());
        } catch (Throwable e) { // of a program's function; an Error, too: the others wait for its news
            failed(
                    new MpiFault(ErrorClass.OTHER, name + " failed at rank " + device.rank() + ": " + e, e),
                    device.rank());
        }
    }

    private void begin(String operation, int count) {
        name = operation;
        steps = count;
        step = 0;
        fault = null;
        tag = communicator.nextCollectiveTag();
    }

    private void end() {
        MpiFault why = fault;
        fault = null;
        if (why != null) {
            throw why;
        }
    }

    private void failed(MpiFault why, int where) {
        MpiFault before = fault;
        if (before == null || before.errorClass() == ErrorClass.PROC_ABORTED) {
            fault = why;
            culprit = where;
        }
    }

    /** Sends to one member and receives from another; in the order of the ranks of the communicator. */
    private void exchange(int to, Area out, int from, Area in) {
        step++;
        MpiFault before = fault;
        boolean isHopeless = before != null && before.errorClass() == ErrorClass.PROC_ABORTED;
        if (!isHopeless) {
            receive.prepare(
                            communicator.group().sessionRank(from),
                            communicator.collectiveContext(),
                            tag,
                            communicator.group())
                    .asPartOf(name, step, steps);
            receive.payload().set(in.segment(), in.offset(), in.bytes());
            device.receive(receive);
        }
        SendOperation send = before == null ? send(to, out) : tell(to, before);
        if (!isHopeless) {
            waiting.accept(receive);
            receive.payload().clear();
            noteEnd(receive, receive.culprit());
        }
        if (send != null) {
            waiting.accept(send);
            noteEnd(send, -1);
        }
    }

    /** Sends; returns the operation if the message could not leave at once. */
    private @Nullable SendOperation send(int to, Area out) {
        int target = communicator.group().sessionRank(to);
        long context = communicator.collectiveContext();
        try {
            if (device.sendNow(out.segment(), out.offset(), out.bytes(), target, context, tag)) {
                return null;
            }
        } catch (MpiFault e) { // the member is lost, and so is the operation
            failed(e, device.rank());
            device.cancel(receive);
            return null;
        }
        SendOperation send = new SendOperation(device).prepare(SendMode.STANDARD, target, context, tag);
        send.payload().set(out.segment(), out.offset(), out.bytes());
        device.send(send);
        if (send.isDone() && send.fault() != null) {
            device.cancel(receive);
        }
        return send;
    }

    private @Nullable SendOperation tell(int to, MpiFault why) {
        int target = communicator.group().sessionRank(to);
        device.sendFailure(
                new SendOperation(device).prepare(SendMode.STANDARD, target, communicator.collectiveContext(), tag),
                culprit,
                why.errorClass());
        return null;
    }

    private void noteEnd(Operation operation, int where) {
        MpiFault why = operation.fault();
        if (why != null) {
            failed(
                    where < 0 ? why : new MpiFault(why.errorClass(), name + ": " + why.getMessage(), why),
                    where < 0 ? device.rank() : where);
        }
    }
}
