package io.madeleine.switching;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.MessageAbortedException;
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
 * <p>Threading: everything is guarded by the lock; the state may be looked at without it.
 */
final class ReceiveHalf {
    private static final int IDLE = 0;
    private static final int ARRIVED = 1;
    private static final int OPEN = 2;
    private static final int ENDING = 3;
    private static final int DISCARDING = 4;

    private final SwitchedConnection connection;
    private final ProgressEngine engine;
    private final ProtocolConnection protocol;
    private final TransmissionLink primary;
    private final Extraction extraction;
    private final Unpacking unpacking;
    private final Attention attention;
    private final SpinLock lock = new SpinLock();
    private final AtomicInteger state = new AtomicInteger(IDLE);
    private final Waitable news = new Waitable();
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
        this.protocol = connection.protocol();
        this.attention = new Attention(engine, protocol);
        this.primary = links.getFirst();
        this.extraction = new Extraction(links, table.modules());
        this.unpacking =
                new Unpacking(this, extraction, table, selfDescribed ? new SelfDescription(table.modules()) : null);
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
            connection.channel().signalArrival();
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

    /** Opens the message that has arrived, if there is one and nobody else has. */
    @Nullable
    IncomingHandle tryBegin() {
        if (state.get() != ARRIVED) {
            return null;
        }
        handle.completion().settle();
        lock.lock(); // from OPEN on whoever polls may end the message
        try {
            if (state.get() != ARRIVED) {
                return null;
            }
            if (!handle.isReusable()) {
                handle = newHandle();
            }
            handle.begin();
            state.setRelease(OPEN);
            return handle;
        } finally {
            lock.unlock();
        }
    }

    boolean hasArrived() {
        return state.get() == ARRIVED;
    }

    /** Waits until a message has arrived; false at the deadline. */
    boolean awaitArrival(long deadlineNs) {
        return await(hasArrived, deadlineNs);
    }

    /** Waits for something that this half signals; false at the deadline. */
    boolean await(Condition condition, long deadlineNs) {
        return engine.await(news, condition, deadlineNs);
    }

    /** Does what can be done now, in any state. Under the lock. */
    private int advance() {
        int work = 0;
        while (true) {
            switch (state.get()) {
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
                default -> {
                    return work;
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
        if (!PacketHeader.has(header, PacketHeader.FIRST)
                || !extraction.ledger().isNext(header)) {
            connection.breakUp("it broke the protocol: expected the first packet of the next message, found "
                    + PacketHeader.describe(header));
            return 0;
        }
        attention.setInterest(false);
        state.set(ARRIVED);
        connection.messageArrived();
        engine.signal(news);
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
            fail(new MessageAbortedException(
                    "the message " + connection.toHere()
                            + " was given up: the memory of a block became inaccessible while it was awaited ("
                            + e.getMessage()
                            + "); keep its arena open until the end of unpacking",
                    e));
            return 1;
        }
        if (extraction.ledger().isAborted()) {
            fail(new MessageAbortedException("the message " + connection.toHere() + " was aborted by its sender"));
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

    AsymmetricMessageException notMirrored(String why) {
        return new AsymmetricMessageException("the message " + connection.toHere() + " is not mirrored: " + why);
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
            fail(notMirrored(vain));
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
            fail(notMirrored(wrong));
            return true;
        }
        attention.setInterest(true);
        return false;
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
    }

    void close() {
        lock.lock();
        try {
            protocol.close();
        } finally {
            unlock();
        }
    }
}
