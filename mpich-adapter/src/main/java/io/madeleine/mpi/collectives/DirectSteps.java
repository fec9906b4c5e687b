package io.madeleine.mpi.collectives;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.FreedMemory;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.device.Device;
import io.madeleine.mpi.device.Operation;
import io.madeleine.mpi.device.ReceiveOperation;
import io.madeleine.mpi.device.Scratch;
import io.madeleine.mpi.device.SendMode;
import io.madeleine.mpi.device.SendOperation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Blocking barriers and allreduces, step by step in the calling thread. They send the same messages as a {@link
 * Schedule}, which takes longer to make than short messages take to travel. They fail in the same way: a member at
 * which the operation has failed tells the others in place of its messages, and takes theirs.
 *
 * <p>Threading: confined to caller, as the collective operations of a communicator are.
 */
public final class DirectSteps {
    /** Values up to this length arrive in memory that is kept for later operations. */
    private static final int SHORT_BYTES = 2048;

    private static final int NOBODY = -1;

    private final Communicator communicator;
    private final Device device;
    private final Consumer<Operation> waiting;
    private final ReceiveOperation receive;
    private final Folding folding;
    private final Area nothing = Area.allocate(0);
    private final MemorySegment arriving = Arena.ofAuto().allocate(SHORT_BYTES, 64);

    private String name = "";
    private int tag;
    private int steps;
    private int step;
    private @Nullable MpiFault fault;

    /** The session rank where the operation failed first. */
    private int culprit;

    // an allreduce

    private Area data = nothing;

    /** This member's values: the data, or its input, which stays as it is, until something is combined with it. */
    private Area own = nothing;

    private boolean isLoaded;

    /** Where values of others arrive if they cannot arrive in the data. */
    private Area coming = nothing;

    /**
     * The steps of a communicator's operations.
     *
     * @param waiting waits until an operation is done
     */
    public DirectSteps(Communicator communicator, Consumer<Operation> waiting) {
        this.communicator = communicator;
        this.device = communicator.device();
        this.waiting = waiting;
        this.receive = device.newReceive().needAll().needWhole();
        this.folding = new Folding(communicator.size(), -1);
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

    // ---- allreduce

    /**
     * Allreduce; see {@link Reductions#allreduce}.
     *
     * @param input this member's values; may be the memory of the result
     */
    public void allreduce(Area input, Area result, Combining combining) {
        int size = communicator.size();
        boolean isHalved = Reductions.isHalved(size, result, combining);
        begin("allreduce", rounds() * (isHalved ? 2 : 1) + (folding.isPaired(communicator.rank()) ? 2 : 0));
        long bytes = result.bytes();
        data = result;
        isLoaded =
                bytes <= SHORT_BYTES || size == 1 || !combining.operation().isCommutative() || input.overlaps(result);
        if (isLoaded) {
            result.copyFrom(input);
        }
        own = isLoaded ? result : input;
        Scratch.Block block = null;
        if (bytes <= SHORT_BYTES) {
            coming = new Area(arriving, 0, bytes);
        } else if (size > (isLoaded ? 1 : 2)) {
            boolean isHalf = isHalved && !folding.isPaired(communicator.rank());
            block = device.scratch().take(isHalf ? Reductions.halfBytes(result, combining) : bytes);
            coming = new Area(block.segment(), 0, bytes);
        }
        receive.keep(block);
        reduce(combining, isHalved);
        if (block != null && fault == null) { // else something may still be on its way there
            device.scratch().give(block);
        }
        own = nothing;
        data = nothing;
        coming = nothing;
        end();
    }

    private int rounds() {
        return folding.place(communicator.rank()) == Folding.PAUSES
                ? 0
                : Integer.numberOfTrailingZeros(folding.count());
    }

    private void reduce(Combining combining, boolean isHalved) {
        int rank = communicator.rank();
        int partner = folding.partner(rank);
        int place = folding.place(rank);
        if (place == Folding.PAUSES) {
            exchange(partner, own, NOBODY, nothing);
            exchange(NOBODY, nothing, partner, data);
            return;
        }
        boolean isPaired = folding.isPaired(rank);
        if (isPaired) {
            combineWith(partner, null, own, data, combining);
        }
        if (isHalved) {
            halve(place, combining);
            spread(place, combining);
        } else {
            for (int distance = 1; distance < folding.count(); distance *= 2) {
                combineWith(folding.rank(place ^ distance), own, own, data, combining);
            }
        }
        if (isPaired) {
            exchange(partner, data, NOBODY, nothing);
        }
    }

    private void halve(int place, Combining combining) {
        int count = folding.count();
        for (int distance = count / 2; distance >= 1; distance /= 2) {
            int kept = place & -distance;
            int given = kept ^ distance;
            combineWith(
                    folding.rank(place ^ distance),
                    Reductions.share(own, combining, given, given + distance, count),
                    Reductions.share(own, combining, kept, kept + distance, count),
                    Reductions.share(data, combining, kept, kept + distance, count),
                    combining);
        }
    }

    private void spread(int place, Combining combining) {
        int count = folding.count();
        for (int distance = 1; distance < count; distance *= 2) {
            int kept = place & -distance;
            int other = kept ^ distance;
            int partner = folding.rank(place ^ distance);
            exchange(
                    partner,
                    Reductions.share(data, combining, kept, kept + distance, count),
                    partner,
                    Reductions.share(data, combining, other, other + distance, count));
        }
    }

    /**
     * Combines values of this member with those that another one sends.
     *
     * @param given what the other one gets; null for nothing
     * @param values this member's
     * @param result their place in the data
     */
    private void combineWith(int partner, @Nullable Area given, Area values, Area result, Combining combining) {
        boolean isInData = isLoaded;
        Area theirs = isInData ? coming.slice(0, result.bytes()) : result; // as long as the data holds nothing
        exchange(given == null ? NOBODY : partner, given == null ? nothing : given, partner, theirs);
        own = data;
        isLoaded = true;
        if (fault != null) {
            return;
        }
        try {
            if (isInData) {
                Reductions.combine(combining, result, theirs, partner < communicator.rank());
            } else {
                combining.intoUpper(values, result); // commutative
            }
        } catch (MpiFault e) {
            failed(e, device.rank());
        } catch (Throwable e) { // thrown by a program's function; an Error, too: the others wait for a message
            FreedMemory.clearInterrupt(e);
            failed(
                    new MpiFault(ErrorClass.OTHER, name + " failed at rank " + device.rank() + ": " + e, e),
                    device.rank());
        }
    }

    // ---- steps

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

    /** Sends to one member, or {@link #NOBODY}, and receives from another, or from nobody. */
    private void exchange(int to, Area out, int from, Area in) {
        step++;
        MpiFault before = fault;
        boolean isAwaited =
                from != NOBODY && (before == null || before.errorClass() != ErrorClass.PROC_ABORTED); // else pointless
        if (isAwaited) {
            receive.prepare(
                            communicator.group().sessionRank(from),
                            communicator.collectiveContext(),
                            tag,
                            communicator.group())
                    .asPartOf(name, step, steps);
            receive.payload().set(in.segment(), in.offset(), in.bytes());
            device.receive(receive);
        }
        SendOperation send = to == NOBODY ? null : before == null ? send(to, out) : tell(to, before);
        if (isAwaited) {
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
            failed(named(e), device.rank());
            device.cancel(receive);
            return null;
        }
        SendOperation send = device.newSend()
                .prepare(SendMode.STANDARD, target, context, tag)
                .needAll(communicator.group());
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
                device.newSend().prepare(SendMode.STANDARD, target, communicator.collectiveContext(), tag),
                culprit,
                why.errorClass());
        return null;
    }

    private void noteEnd(Operation operation, int where) {
        MpiFault why = operation.fault();
        if (why != null) {
            failed(named(why), where < 0 ? device.rank() : where);
        }
    }

    /** The error of a transfer, with the name of the operation; {@link #receive} knows the name itself. */
    private MpiFault named(MpiFault why) {
        String text = String.valueOf(why.getMessage());
        return text.startsWith(name) ? why : new MpiFault(why.errorClass(), name + ": " + text, why);
    }
}
