package io.madeleine.mpi.collectives;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.FreedMemory;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.comm.RankGroup;
import io.madeleine.mpi.device.Device;
import io.madeleine.mpi.device.Operation;
import io.madeleine.mpi.device.Payload;
import io.madeleine.mpi.device.ReceiveOperation;
import io.madeleine.mpi.device.Scratch;
import io.madeleine.mpi.device.SendMode;
import io.madeleine.mpi.device.SendOperation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A collective operation: steps, one after the other. The transfers of a step run at the same time; when all are done,
 * its local work runs, and the next step begins, in whichever thread ended the last transfer. The transfers of two
 * members match in the order of their steps.
 *
 * <p>If work or a transfer fails, the operation fails here, but goes on: in place of each message that it would send it
 * tells the receiver of the failure, and it takes the messages of the others. So no member waits without end, and each
 * member that needed a value from here fails, too. The next operation of the communicator finds no message of this one.
 * If a member of the group is lost, nothing is received any more.
 *
 * <p>Threading: one thread builds and starts it; then as {@link Operation}.
 */
public final class Schedule extends Operation implements Operation.Listener {
    /** Shorter temporary memory is that of the heap: networks copy short blocks in any case. */
    private static final long SHORT_BYTES = 8 << 10;

    private final String name;
    private final Device device;
    private final RankGroup group;
    private final long context;
    private final @Nullable Communicator communicator;
    private int tag;
    private final int rank;
    private final List<Step> steps = new ArrayList<>();
    private Step last = new Step();
    private final List<Scratch.Block> temporaries = new ArrayList<>();

    private final AtomicInteger missing = new AtomicInteger();
    private int at;
    private volatile @Nullable Failure failure;

    private int messages;
    private long bytes;

    /** Why the operation has failed, and the session rank where it failed first. */
    private record Failure(MpiFault fault, int culprit) {
        /** Whether no message can be expected any more, since a member is lost. */
        boolean isHopeless() {
            return fault.errorClass() == ErrorClass.PROC_ABORTED;
        }
    }

    private static final class Step {
        private final List<ReceiveOperation> receives = new ArrayList<>();
        private final List<SendOperation> sends = new ArrayList<>();
        private final List<Runnable> work = new ArrayList<>();

        boolean isEmpty() {
            return receives.isEmpty() && sends.isEmpty() && work.isEmpty();
        }
    }

    /**
     * An empty schedule. When it starts it becomes the next collective operation of the communicator.
     *
     * @param name the operation's name, for people
     */
    public Schedule(String name, Communicator communicator) {
        this(name, communicator.device(), communicator.group(), communicator.collectiveContext(), communicator, 0);
    }

    /** An empty schedule with a context and tag of its own. */
    public Schedule(String name, Device device, RankGroup group, long context, int tag) {
        this(name, device, group, context, null, tag);
    }

    private Schedule(
            String name, Device device, RankGroup group, long context, @Nullable Communicator communicator, int tag) {
        super(device.waiting());
        this.name = name;
        this.device = device;
        this.group = group;
        this.context = context;
        this.communicator = communicator;
        this.tag = tag;
        this.rank = group.rankOf(device.rank());
        steps.add(last);
    }

    // ---- building

    /** The rank of this process in the group. */
    public int rank() {
        return rank;
    }

    /** The number of members. */
    public int size() {
        return group.size();
    }

    /** Memory with any content, until the operation has ended. */
    public Area temporary(long wanted) {
        if (wanted < SHORT_BYTES) {
            return Area.allocate(wanted);
        }
        Scratch.Block block = device.scratch().take(wanted);
        temporaries.add(block);
        return new Area(block.segment(), 0, wanted);
    }

    /** Adds a send to the step. */
    public void send(int to, Area area) {
        beforeTransfer();
        SendOperation send = newSend(to);
        send.payload().set(area.segment(), area.offset(), area.bytes());
        add(send);
    }

    /** Adds a send to the step. */
    public void send(int to, Payload payload) {
        beforeTransfer();
        SendOperation send = newSend(to);
        send.payload().set(payload);
        add(send);
    }

    private SendOperation newSend(int to) {
        return device.newSend()
                .prepare(SendMode.STANDARD, group.sessionRank(to), context, tag)
                .needAll(group);
    }

    private void add(SendOperation send) {
        send.tell(this);
        last.sends.add(send);
        messages++;
        bytes += send.payload().bytes();
    }

    /** Adds a receive to the step. */
    public void receive(int from, Area area) {
        beforeTransfer();
        newReceive(from).payload().set(area.segment(), area.offset(), area.bytes());
    }

    /** Adds a receive to the step. */
    public void receive(int from, Payload payload) {
        beforeTransfer();
        newReceive(from).payload().set(payload);
    }

    private ReceiveOperation newReceive(int from) {
        ReceiveOperation receive = device.newReceive()
                .prepare(group.sessionRank(from), context, tag, group)
                .needAll()
                .needWhole();
        receive.tell(this);
        last.receives.add(receive);
        return receive;
    }

    private void beforeTransfer() {
        if (!last.work.isEmpty()) {
            next();
        }
    }

    /** Adds work that follows the transfers of the step. It must not wait. */
    public void then(Runnable work) {
        last.work.add(work);
    }

    /** Begins the next step. */
    public void next() {
        if (!last.isEmpty()) {
            last = new Step();
            steps.add(last);
        }
    }

    /** How many messages this process sends. */
    public int messages() {
        return messages;
    }

    /** How many bytes this process sends. */
    public long bytes() {
        return bytes;
    }

    // ---- running

    /** Starts the operation, once. Never waits. */
    public void start() {
        started();
        Communicator whole = communicator;
        if (whole != null) {
            // Only now: an operation that is not started, since an argument is wrong, does not count.
            tag = whole.nextCollectiveTag();
        }
        run();
    }

    private void run() {
        while (at < steps.size()) {
            Step step = steps.get(at);
            Failure before = failure;
            if (before == null) {
                begin(step);
            } else {
                beginAfter(before, step);
            }
            if (missing.decrementAndGet() != 0) {
                return; // the thread that ends the last transfer goes on
            }
            finish(step);
        }
        end();
    }

    private void begin(Step step) {
        missing.set(step.receives.size() + step.sends.size() + 1);
        for (ReceiveOperation receive : step.receives) {
            receive.useTag(tag);
            device.receive(receive);
        }
        for (SendOperation send : step.sends) {
            send.useTag(tag);
            device.send(send);
        }
        cancelIfHopeless(step); // a member was lost while they started: the later ones have nothing to wait for
    }

    /** Begins a step of a failed operation: tells members that wait for a message, and takes what the others send. */
    private void beginAfter(Failure before, Step step) {
        for (SendOperation send : step.sends) {
            send.useTag(tag);
            device.sendFailure(send, before.culprit, before.fault.errorClass());
        }
        if (before.isHopeless()) {
            missing.set(1);
            return;
        }
        missing.set(step.receives.size() + 1);
        for (ReceiveOperation receive : step.receives) {
            receive.useTag(tag);
            device.receive(receive);
        }
        cancelIfHopeless(step);
    }

    private void cancelIfHopeless(Step step) {
        Failure seen = failure;
        if (seen != null && seen.isHopeless()) {
            step.receives.forEach(device::cancel);
        }
    }

    /** Ends the current step. */
    private void finish(Step step) {
        if (failure == null) {
            try {
                step.work.forEach(Runnable::run);
            } catch (MpiFault e) {
                failure = new Failure(e, device.rank());
            } catch (Throwable e) { // of a program's function
                // An Error, too: it must end the operation, for which a caller waits.
                FreedMemory.clearInterrupt(e);
                failure = new Failure(
                        new MpiFault(ErrorClass.OTHER, name + " failed at rank " + device.rank() + ": " + e, e),
                        device.rank());
            }
        }
        at++;
    }

    private void end() {
        Failure seen = failure;
        if (seen == null) {
            temporaries.forEach(device.scratch()::give); // after a failure, something may still be on its way there
            temporaries.clear();
            complete();
        } else {
            fail(seen.fault);
        }
    }

    /** A transfer is done. */
    @Override
    public void ended(Operation operation) {
        Step step = steps.get(at);
        MpiFault why = operation.fault();
        if (why != null) {
            note(why, operation instanceof ReceiveOperation receive ? receive.culprit() : -1);
            cancelIfHopeless(step);
        }
        if (missing.decrementAndGet() == 0) {
            finish(step);
            run();
        }
    }

    private void note(MpiFault why, int culprit) {
        MpiFault named = new MpiFault(why.errorClass(), name + ": " + why.getMessage(), why);
        Failure seen = new Failure(named, culprit < 0 ? device.rank() : culprit);
        if (failure == null || seen.isHopeless()) {
            failure = seen;
        }
    }

    @Override
    public int expected() {
        int current = at; // a hint: another thread may go on meanwhile
        if (current >= steps.size()) {
            return -1;
        }
        List<ReceiveOperation> receives = steps.get(current).receives;
        return receives.isEmpty() ? -1 : receives.getFirst().expected();
    }

    @Override
    protected long context() {
        return context;
    }

    @Override
    public String describe() {
        int count = steps.size() - (last.isEmpty() ? 1 : 0);
        return name + ", step " + Math.min(at + 1, count) + " of " + count;
    }
}
