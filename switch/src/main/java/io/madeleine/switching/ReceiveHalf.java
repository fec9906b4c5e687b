package io.madeleine.switching;

import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a connection: one incoming message after the other. Each block is asked of the link that the
 * selection table names, as the sender did; blocks are gathered and filled as bytes arrive, by whoever polls.
 *
 * <p>A message that is not mirrored, aborted or lost fails for its user, and what is left of it is dropped as it arrives.
 *
 * <p>Threading: while a message is HELD it is its user's alone, who needs no lock: most small messages are begun, taken and
 * ended like that. In all other states everything is guarded by the lock; the state may be looked at without it.
 */
final class ReceiveHalf {
    private static final int IDLE = 0;
    private static final int ARRIVED = 1;

    /** Open, and no block waits for its data. */
    private static final int HELD = 2;

    /** Open, and whoever polls fills blocks. */
    private static final int OPEN = 3;

    private static final int ENDING = 4;
    private static final int DISCARDING = 5;

    private final SwitchedConnection connection;
    private final ProgressEngine engine;
    private final ProtocolConnection protocol;
    private final boolean worthLooking;
    private final TransmissionLink primary;
    private final Extraction extraction;
    private final Unpacking unpacking;
    private final Attention attention;
    private final HeldMessage held;
    private final SpinLock lock = new SpinLock();
    private final AtomicInteger state = new AtomicInteger(IDLE);
    private final Waitable news;
    private final Waitable arrivals; // one of those who want to receive is enough
    private final Condition hasArrived;

    /** The connection is lost, and no further message can be begun. */
    private volatile boolean exhausted;

    private IncomingHandle handle;
    private boolean confined;
    private @Nullable MessageCompletion ended;

    ReceiveHalf(
            SwitchedConnection connection, List<TransmissionLink> links, SelectionTable table, boolean selfDescribed) {
        this.connection = connection;
        this.engine = connection.engine();
        this.news = connection.newWaitable();
        this.arrivals = connection.newWaitable();
        this.protocol = connection.protocol();
        this.worthLooking = protocol.showsArrivals();
        this.attention = new Attention(engine, protocol);
        this.primary = links.getFirst();
        this.extraction = new Extraction(links, table.modules());
        this.unpacking =
                new Unpacking(this, extraction, table, selfDescribed ? new SelfDescription(table.modules()) : null);
        this.held = new HeldMessage(state, HELD, extraction);
        this.hasArrived = () -> state.get() == ARRIVED || exhausted;
        this.handle = newHandle();
    }

    private IncomingHandle newHandle() {
        return new IncomingHandle(this, new MessageCompletion(engine, news));
    }

    SwitchedConnection connection() {
        return connection;
    }

    /** What the user of an open message calls. */
    Unpacking unpacking() {
        return unpacking;
    }

    // ---- arrival

    /** Looks at the links if nobody else does just now. Called by who polls. */
    int onReadable() {
        if (!lock.tryLock()) {
            return 0;
        }
        try {
            return advance();
        } finally {
            unlock();
        }
    }

    /** Lets the lock go, and then runs what a message that ended meanwhile has to be followed by. */
    private void unlock() {
        boolean newlyExhausted = connection.isLost() && !exhausted && isExhaustedNow();
        MessageCompletion completion = ended;
        ended = null;
        lock.unlock();
        if (newlyExhausted) {
            engine.signal(news);
            engine.signal(arrivals);
            connection.channel().signalLoss();
        }
        if (completion != null) {
            completion.runAction();
        }
    }

    /**
     * Of a lost connection: takes in what had arrived, and says whether all messages have been begun. As long as one is
     * open, others may stand behind it.
     */
    private boolean isExhaustedNow() {
        while (advance() > 0) {
            // on to what stands behind
        }
        if (state.get() == ENDING && (!confined || mayTouchBlocks())) {
            fail(connection.failure()); // and becomes DISCARDING
        }
        if (state.get() != IDLE && state.get() != DISCARDING) {
            return false;
        }
        attention.lowerDemand();
        exhausted = true;
        return true;
    }

    /** Whether no message will ever arrive any more. */
    boolean isExhausted() {
        return exhausted;
    }

    /** Opens the message that has arrived, if there is one and nobody else has. Looks for it if that costs next to nothing. */
    @Nullable
    IncomingHandle tryBegin() {
        int seen = state.get();
        if (seen != ARRIVED && (seen != IDLE || !protocol.hasArrivals())) {
            return null;
        }
        handle.completion().settle();
        if (!lock.tryLock()) {
            if (seen == IDLE) {
                return null; // who holds it looks
            }
            lock.lock();
        }
        try {
            if (state.get() != ARRIVED && (state.get() != IDLE || !isMessageInFront())) {
                return null;
            }
            if (!handle.isReusable()) {
                handle = newHandle();
            }
            handle.begin();
            state.setRelease(HELD);
            return handle;
        } finally {
            lock.unlock();
        }
    }

    private boolean isMessageInFront() {
        long header = primary.front();
        return header > 0
                && PacketHeader.has(header, PacketHeader.FIRST)
                && extraction.ledger().isNext(header);
    }

    /** Whether looking again and again, by {@link #tryBegin()}, may find a message that comes meanwhile. */
    boolean isWorthLooking() {
        return worthLooking;
    }

    boolean hasArrived() {
        return state.get() == ARRIVED;
    }

    /** Whether the rest of a message that its user has done with is still coming in, to be dropped. */
    boolean isDropping() {
        return state.get() == DISCARDING;
    }

    /** Waits until a message has arrived; false at the deadline. */
    boolean awaitArrival(long deadlineNs) {
        return engine.await(arrivals, hasArrived, deadlineNs);
    }

    /** Waits for something that this half signals; false at the deadline. */
    boolean await(Condition condition, long deadlineNs) {
        return engine.await(news, condition, deadlineNs);
    }

    /** Does what can be done now, in any state. Under the lock. */
    private int advance() {
        int work = 0;
        while (true) {
            int seen = state.get();
            switch (seen) {
                case IDLE -> {
                    return work + lookForMessage();
                }
                case OPEN -> {
                    return work + extract();
                }
                case ENDING -> {
                    work += extract();
                    if (state.get() != DISCARDING && (!judgeEnd() || state.get() == IDLE)) {
                        return work; // the next message is left to the next poll: looking may be a system call
                    }
                }
                case DISCARDING -> {
                    work += drop();
                    if (!extraction.ledger().isEnded()) {
                        attention.setInterest(true);
                        return work;
                    }
                    becomeIdle();
                    return work + 1;
                }
                default -> { // ARRIVED, HELD: up to its user
                    attention.setInterest(false);
                    if (seen == state.get()) {
                        return work;
                    }
                    attention.setInterest(true); // the user has ended it without seeing that
                }
            }
        }
    }

    private int lookForMessage() {
        long header = primary.front();
        if (header <= 0) {
            attention.setInterest(true);
            return 0;
        }
        if (!isMessageInFront()) {
            connection.breakUp("it broke the protocol: expected the first packet of the next message, found "
                    + PacketHeader.describe(header));
            return 0;
        }
        state.set(ARRIVED);
        connection.messageArrived();
        engine.signalOne(arrivals);
        return 1;
    }

    private int extract() {
        if (confined && !mayTouchBlocks()) {
            attention.setInterest(false); // until their owner, who has to move them, has looked
            engine.signal(news);
            return 0;
        }
        long moved;
        try {
            moved = extraction.extract();
        } catch (IllegalStateException | WrongThreadException e) {
            fail(Failures.memoryGone(connection, e));
            return 1;
        }
        if (extraction.ledger().isAborted()) {
            fail(Failures.aborted(connection));
            return 1;
        }
        if (confined) {
            confined = !extraction.isDrained();
        }
        if (moved > 0) {
            engine.signal(news);
        }
        return moved > 0 ? 1 : 0;
    }

    private boolean mayTouchBlocks() {
        return handle.isUsedBy(Thread.currentThread());
    }

    private int drop() {
        return extraction.drop() > 0 ? 1 : 0;
    }

    // ---- blocks

    /** Asks for a block; returns whether it need not be waited for, because it is there or will never be. */
    boolean append(IncomingHandle using, int link, MemorySegment block, long offset, long bytes, boolean express) {
        if (using.isOpen() && held.enter()) {
            boolean there = held.take(link, block, offset, bytes, express);
            held.leave();
            return there || share(using, !block.isAccessibleBy(engine.foreignThread()));
        }
        lock.lock();
        try {
            if (!using.isOpen()) {
                return true;
            }
            confined |= !block.isAccessibleBy(engine.foreignThread());
            using.setUser(confined);
            extraction.append(link, block, offset, bytes, express);
            extract();
            if (!using.isOpen()) {
                return true;
            }
            attention.setInterest(!extraction.isDrained());
            return extraction.isCheckedOut();
        } finally {
            unlock();
        }
    }

    /** From now on whoever polls fills the blocks of the held message; returns whether the last need not be waited for. */
    private boolean share(IncomingHandle using, boolean withConfinedBlock) {
        lock.lock();
        try {
            confined = withConfinedBlock;
            using.setUser(withConfinedBlock);
            state.set(OPEN);
            extract();
            if (!using.isOpen()) {
                return true;
            }
            attention.setInterest(!extraction.isDrained());
            return extraction.isCheckedOut();
        } finally {
            unlock();
        }
    }

    /** Condition of an EXPRESS block: it is there, or will never be. */
    boolean isCheckedOut(IncomingHandle waiting) {
        lock.lock();
        try {
            if (!waiting.isOpen()) {
                return true;
            }
            boolean lost = connection.isLost(); // before the look: what came before the loss is there
            if (confined || lost) {
                while (extract() > 0 && lost && waiting.isOpen()) {
                    // what came before the loss counts
                }
            }
            if (!waiting.isOpen() || extraction.isCheckedOut()) {
                return true;
            }
            if (confined) {
                attention.setInterest(true);
            }
            return judgeWait(lost);
        } finally {
            unlock();
        }
    }

    /** Whether what is waited for can never come; the message has failed then. */
    private boolean judgeWait(boolean lost) {
        String vain = extraction.whyWaitIsVain();
        if (vain != null) {
            fail(Failures.notMirrored(connection, vain));
            return true;
        }
        if (lost) {
            fail(connection.failure());
            return true;
        }
        return false;
    }

    // ---- ending

    /**
     * Asks for the end of the message; returns whether it need not be waited for. Unattended, whoever polls brings it
     * about.
     */
    boolean startEnd(IncomingHandle ending, boolean unattended) {
        if (ending.isOpen() && held.enter()) {
            boolean over = held.isOver();
            held.leave();
            if (over) {
                release(ending);
                return true;
            }
            share(ending, false);
        }
        lock.lock();
        try {
            if (!ending.isOpen() || state.get() == ENDING) {
                return !ending.isOpen();
            }
            ending.setUser(confined);
            extraction.checkOutAll();
            extract();
            if (unattended && confined && !extraction.isDrained()) {
                throw new IllegalStateException("endUnpackingAsync of the message " + connection.toHere()
                        + ": a block in memory confined to a thread has not arrived, and another thread may have to"
                        + " fill it; use endUnpacking, or memory of a shared arena or of Session.allocate");
            }
            if (state.get() == OPEN) {
                state.setRelease(ENDING); // only looked at under the lock
                advance();
            }
            if (unattended && state.get() == ENDING) {
                attention.raiseDemand();
            }
            return !ending.isOpen();
        } finally {
            unlock();
        }
    }

    /** Condition of the end. */
    boolean hasEnded(IncomingHandle waiting) {
        if (!waiting.isOpen()) {
            return true;
        }
        boolean lost = connection.isLost(); // before the look: what came before the loss is there
        if (!confined && !lost) {
            return false; // who polls brings the end about
        }
        lock.lock();
        try {
            if (waiting.isOpen()) {
                advance();
            }
        } finally {
            unlock(); // which settles what a lost connection leaves
        }
        return !waiting.isOpen();
    }

    /** Whether the message, whose end is asked for, has come to it: well, or as a failure. */
    private boolean judgeEnd() {
        if (extraction.isDrained() && extraction.ledger().isEnded()) {
            conclude();
            return true;
        }
        String wrong = extraction.whyEndIsWrong();
        if (wrong != null) {
            fail(Failures.notMirrored(connection, wrong));
            return true;
        }
        attention.setInterest(true);
        return false;
    }

    /** The held message ends well. Nobody else waits for that, nor has its completion. */
    private void release(IncomingHandle ending) {
        ending.end(null);
        extraction.nextMessage();
        state.set(IDLE); // a full fence: who has changed something since sees that, or is seen
        if (!attention.isInterested() || connection.isLost()) {
            lock.lock();
            attention.setInterest(true);
            unlock(); // which is where a loss is settled
        }
        if (engine.isAwaited(arrivals) || connection.channel().isAwaited()) {
            onReadable(); // the next message is there already, perhaps: no need that the leader finds it
        }
    }

    private void conclude() {
        handle.end(null);
        ended = handle.completion();
        becomeIdle();
        engine.signal(news);
    }

    private void becomeIdle() {
        extraction.nextMessage();
        confined = false;
        attention.lowerDemand();
        attention.setInterest(true);
        state.set(IDLE);
    }

    /** The message fails for its user; what is left of it is dropped as it arrives. Under the lock. */
    private void fail(MadeleineException failure) {
        startDiscarding();
        handle.end(failure);
        ended = handle.completion();
        VarHandle.fullFence(); // who waits sees the end, or is seen
        engine.signal(news);
    }

    void failNow(IncomingHandle using, MadeleineException failure) {
        lock.lock();
        try {
            if (using.isOpen()) {
                fail(failure);
                advance();
            }
        } finally {
            unlock();
        }
        using.completion().throwFailure();
    }

    void discard(IncomingHandle dropped) {
        lock.lock();
        try {
            if (dropped.isOpen()) {
                startDiscarding();
                dropped.end(null);
                advance();
            }
        } finally {
            unlock();
        }
    }

    private void startDiscarding() {
        extraction.forgetBlocks();
        confined = false;
        state.set(DISCARDING);
        attention.setInterest(true);
        if (!connection.isLost()) {
            attention.raiseDemand();
        }
    }

    /** Brings up what arrived before the connection was lost, and lets waits see the loss. */
    void connectionLost() {
        lock.lock();
        unlock(); // which is where a loss is settled
        engine.signal(news);
        engine.signal(arrivals);
    }

    void close() {
        lock.lock();
        try {
            held.revoke(OPEN);
            protocol.close();
        } finally {
            unlock();
        }
    }
}
