package io.madeleine.mpi.collectives;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.comm.RankGroup;
import io.madeleine.mpi.device.Device;
import io.madeleine.mpi.device.Operation;
import io.madeleine.mpi.device.Payload;
import io.madeleine.mpi.device.ReceiveOperation;
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
 * <p>If a transfer fails, the receives of the step that have no message yet are cancelled, and the schedule fails when
 * the step is over.
 *
 * <p>Threading: one thread builds and starts it; then as {@link Operation}.
 */
public final class Schedule extends Operation implements Operation.Listener {
    private final String name;
    private final Device device;
    private final RankGroup group;
    private final long context;
    private final int tag;
    private final int rank;
    private final List<Step> steps = new ArrayList<>();
    private Step last = new Step();

    private final AtomicInteger missing = new AtomicInteger();
    private int at;
    private volatile @Nullable MpiFault failure;

    private int messages;
    private long bytes;

    private static final class Step {
        private final List<ReceiveOperation> receives = new ArrayList<>();
        private final List<SendOperation> sends = new ArrayList<>();
        private final List<Runnable> work = new ArrayList<>();
    }

    /**
     * An empty schedule: the next collective operation of the communicator.
     *
     * @param name the operation's name, for people
     */
    public Schedule(String name, Communicator communicator) {
        this(
                name,
                communicator.device(),
                communicator.group(),
                communicator.collectiveContext(),
                communicator.nextCollectiveTag());
    }

    /** An empty schedule with a context and tag of its own. */
    public Schedule(String name, Device device, RankGroup group, long context, int tag) {
        this.name = name;
        this.device = device;
        this.group = group;
        this.context = context;
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
        return new SendOperation(device).prepare(SendMode.STANDARD, group.sessionRank(to), context, tag);
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
        ReceiveOperation receive = new ReceiveOperation(device).prepare(group.sessionRank(from), context, tag, null);
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
        if (!last.receives.isEmpty() || !last.sends.isEmpty() || !last.work.isEmpty()) {
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

    /** Starts the operation. Never waits. */
    public void start() {
        started();
        at = 0;
        run();
    }

    private void run() {
        while (at < steps.size()) {
            Step step = steps.get(at);
            missing.set(step.receives.size() + step.sends.size() + 1);
            for (ReceiveOperation receive : step.receives) {
                device.receive(receive);
            }
            for (SendOperation send : step.sends) {
                device.send(send);
            }
            if (failure != null) { // while they started: those that started later have nothing to wait for
                step.receives.forEach(device::cancel);
            }
            if (missing.decrementAndGet() != 0) {
                return; // the thread that ends the last transfer goes on
            }
            if (!finish(step)) {
                return;
            }
        }
        complete(device);
    }

    /** Ends the current step; false if the schedule has failed. */
    private boolean finish(Step step) {
        if (failure == null) {
            try {
                step.work.forEach(Runnable::run);
            } catch (MpiFault e) {
                failure = e;
            } catch (Throwable e) { // of a program's function
                // An Error, too: it must end the operation, for which a caller waits.
                failure = new MpiFault(ErrorClass.OTHER, name + " failed at rank " + rank + ": " + e, e);
            }
        }
        at++;
        MpiFault why = failure;
        if (why != null) {
            fail(device, why);
            return false;
        }
        return true;
    }

    /** A transfer is done. */
    @Override
    public void ended(Operation operation) {
        Step step = steps.get(at);
        MpiFault why = operation.fault();
        if (why != null && failure == null) {
            failure = why;
            step.receives.forEach(device::cancel);
        }
        if (missing.decrementAndGet() == 0 && finish(step)) {
            run();
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
    public String describe() {
        return name + ", step " + (at + 1) + " of " + steps.size();
    }
}
