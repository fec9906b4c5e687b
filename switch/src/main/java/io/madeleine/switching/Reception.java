package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Where the incoming message of a connection is on its way from arrival to end, and the steps that whoever polls can take
 * with it: look for it, fill the blocks that its user has asked for, judge its end, drop what nobody wants.
 *
 * <p>A message that is not mirrored, aborted or lost fails for its user, and what is left of it is dropped as it arrives.
 *
 * <p>Threading: guarded by its own lock, which callers take; the state, and whether it is exhausted, may be looked at
 * without. While a message is HELD it is its user's alone, who may change the state to IDLE without the lock.
 */
final class Reception {
    /** No message has been found. */
    static final int IDLE = 0;

    /** A message has been found, and nobody has begun it. */
    static final int ARRIVED = 1;

    /** Open, and no block waits for its data. */
    static final int HELD = 2;

    /** Open, and whoever polls fills blocks. */
    static final int OPEN = 3;

    /** Its user has asked for its end. */
    static final int ENDING = 4;

    /** Its user has done with it, and the rest is still coming in. */
    static final int DISCARDING = 5;

    /** It has failed, or its user does not want it, but a network may still write into its blocks. */
    static final int RETRACTING = 6;

    private final SwitchedConnection connection;
    private final ProgressEngine engine;
    private final TransmissionLink primary;
    private final Extraction extraction;
    private final Attention attention;
    private final SpinLock lock = new SpinLock();
    private final AtomicInteger state = new AtomicInteger(IDLE);
    private final Retraction retraction;
    private final Waitable news;
    private final Waitable arrivals; // one of those who want to receive is enough

    /** The connection is lost, and no further message can be begun. */
    private volatile boolean exhausted;

    /** No further message may be begun, though one may come in: one before it is missing, or the peer has been given up. */
    private boolean cut;

    /** Nobody knows what is in the links, which are not touched any more. */
    private boolean broken;

    private @Nullable IncomingHandle handle;
    private boolean confined;
    private @Nullable MessageCompletion ended;

    Reception(SwitchedConnection connection, TransmissionLink primary, Extraction extraction) {
        this.connection = connection;
        this.engine = connection.engine();
        this.primary = primary;
        this.extraction = extraction;
        this.retraction = new Retraction(connection, this);
        this.attention = new Attention(engine, connection.protocol());
        this.news = connection.newWaitable(
                "use endUnpackingAsync in place of endUnpacking, and Completion.onDone in place of"
                        + " await, or leave the message to another thread");
        this.arrivals = connection.newWaitable("use tryBeginUnpacking in place of beginUnpacking");
    }

    /** The state, which may change at any moment unless the caller holds the lock or the message. */
    int now() {
        return state.get();
    }

    boolean is(int wanted) {
        return state.get() == wanted;
    }

    /** What is signalled whenever something has changed that the message's user may wait for. */
    Waitable news() {
        return news;
    }

    /** What is signalled, to one of those who wait, when a message has arrived. */
    Waitable arrivals() {
        return arrivals;
    }

    Attention attention() {
        return attention;
    }

    /** Whether no message will ever arrive any more. */
    boolean isExhausted() {
        return exhausted || connection.hasNothingMoreToBegin();
    }

    // ---- the lock

    void lock() {
        lock.lock();
    }

    boolean tryLock() {
        return lock.tryLock();
    }

    boolean tryLock(long timeoutNs) {
        return lock.tryLock(timeoutNs);
    }

    /** Lets the lock go after what cannot have ended a message. */
    void unlock() {
        lock.unlock();
    }

    /**
     * Judges first whether a lost connection is exhausted, and lets the lock go; then runs what a message that ended meanwhile has to be
     * followed by.
     */
    void settleAndUnlock() {
        boolean newlyExhausted = false;
        MessageCompletion completion = null;
        try {
            newlyExhausted = connection.isLost() && !exhausted && isExhaustedNow();
            completion = ended;
            if (completion != null) {
                ended = null; // a store of a reference costs more than a look
            }
        } finally {
            lock.unlock();
        }
        if (newlyExhausted) {
            engine.signal(news);
            engine.signal(arrivals);
            connection.channel().arrivals().signalLoss();
        }
        if (completion != null) {
            completion.leave();
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
            failForLoss(); // and becomes DISCARDING, or RETRACTING at first
        }
        if (state.get() != IDLE && state.get() != DISCARDING) {
            return false;
        }
        attention.lowerDemand();
        cut = true;
        exhausted = true;
        return true;
    }

    /** The peer has been given up: what it may still send is not taken in, nor what nobody has begun. Under the lock. */
    void cutOff() {
        cut = true;
        if (state.get() == ARRIVED) {
            startDiscarding();
        }
    }

    /** Nothing may follow what is missing. */
    private void failForLoss() {
        cut = true;
        fail(connection.failure());
    }

    /** Whether there is a message that may be begun. Under the lock. */
    boolean mayBegin() {
        int seen = state.get();
        if (seen == ARRIVED && connection.isGivenUp()) {
            cutOff();
            return false;
        }
        return seen == ARRIVED || seen == IDLE && isMessageInFront();
    }

    /** Whether the next message has begun to arrive. Under the lock. */
    boolean isMessageInFront() {
        long header = front();
        return header > 0 && !isCut() && extraction.ledger().isFirst(header);
    }

    private boolean isCut() {
        return cut || connection.isGivenUp();
    }

    private long front() {
        if (broken) {
            return 0;
        }
        try {
            return primary.front();
        } catch (RuntimeException | Error e) {
            if (!isBrokenBy(e)) {
                throw e;
            }
            return 0;
        }
    }

    /** The message in front is its user's from now on. Under the lock. */
    void begin(IncomingHandle user) {
        handle = user;
        state.setRelease(HELD);
    }

    /**
     * Takes the next message whole, if it is one packet with one block of that size; nobody has begun it. Returns whether that is done;
     * if not, all is as before. Under the lock.
     */
    boolean takeWhole(MemorySegment block, long offset, long bytes) {
        int seen = state.get();
        if (isCut() || seen != IDLE && seen != ARRIVED) {
            return false;
        }
        try {
            if (!extraction.takeMessage(block, offset, bytes)) {
                return false;
            }
        } catch (IllegalStateException | WrongThreadException _) {
            return false; // the block's memory is gone
        } catch (RuntimeException | Error e) {
            boolean _ = isBrokenBy(e);
            throw e;
        }
        if (seen == ARRIVED) {
            state.set(IDLE);
        }
        attention.setInterest(true);
        return true;
    }

    /** The message, which is HELD, is to be filled by whoever polls. Under the lock, or where nobody else comes any more. */
    void share() {
        state.set(OPEN);
    }

    /** The user of the message, which is OPEN, asks for its end. Under the lock. */
    void startEnding() {
        state.setRelease(ENDING); // only looked at under the lock
    }

    /** The message, which is HELD, has ended; by its user, without the lock. */
    void release() {
        state.set(IDLE); // a full fence: who has changed something since sees that, or is seen
    }

    // ---- steps

    /** Does what can be done now, in any state. Under the lock. */
    int advance() {
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
                    if (state.get() == ENDING && (!judgeEnd() || state.get() == IDLE)) {
                        return work; // the next message is left to the next poll: looking may be a system call
                    }
                }
                case RETRACTING -> {
                    return work; // up to a step of its own
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
        if (isCut()) {
            attention.setInterest(false);
            return 0;
        }
        long header = front();
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

    /** Fills blocks with what has arrived; returns how much that was. Under the lock. */
    int extract() {
        if (confined && !mayTouchBlocks()) {
            attention.setInterest(false); // until their owner, who has to move them, has looked
            engine.signal(news);
            return 0;
        }
        if (broken) { // and there was no memory to say so
            fail(connection.failure());
            return 1;
        }
        int found = extraction.ledger().foundCount();
        long moved;
        try {
            moved = extraction.extract();
        } catch (IllegalStateException | WrongThreadException e) {
            engine.afterFreedMemory();
            fail(Failures.memoryGone(connection, e));
            return 1;
        } catch (RuntimeException | Error e) {
            linkFailed(e);
            throw e;
        }
        if (extraction.ledger().isAborted()) {
            fail(Failures.aborted(connection));
            return 1;
        }
        if (confined) {
            confined = !extraction.isDrained();
        }
        if (moved > 0 || found != extraction.ledger().foundCount()) { // what nobody asked for may make a wait vain
            engine.signal(news);
        }
        return moved > 0 ? 1 : 0;
    }

    /** Something came out of a link that none throws: if it does harm the connection is given up, and the message fails. Under the lock. */
    void linkFailed(Throwable seen) {
        if (isBrokenBy(seen)) {
            fail(connection.failure());
        }
    }

    /** Whether that has left a link of which nobody knows how far it came: nothing is to be done with the links any more. */
    private boolean isBrokenBy(Throwable seen) {
        if (!connection.isBrokenBy(seen, extraction.hasLostTrack())) {
            return false;
        }
        cut = true;
        broken = true;
        connection.breakUpAfter(seen);
        return true;
    }

    /** Whether the connection has been given up since a link failed. Under the lock. */
    boolean isBroken() {
        return broken;
    }

    private boolean mayTouchBlocks() {
        return handle().isUsedBy(Thread.currentThread());
    }

    private int drop() {
        if (broken) {
            return 0;
        }
        try {
            return extraction.drop() > 0 ? 1 : 0;
        } catch (RuntimeException | Error e) {
            if (!isBrokenBy(e)) {
                throw e;
            }
            return 0;
        }
    }

    /** Whether the message, whose end is asked for, has come to it: well, or as a failure. */
    private boolean judgeEnd() {
        if (extraction.isOver()) {
            conclude();
            return true;
        }
        String wrong = extraction.whyEndIsWrong();
        if (wrong != null && extraction.askForSurplus()) {
            extract();
            if (state.get() != ENDING) {
                return true;
            }
            wrong = extraction.whyEndIsWrong();
        }
        if (wrong != null) {
            fail(Failures.notMirrored(connection, wrong));
            return true;
        }
        attention.setInterest(true);
        return false;
    }

    private void conclude() {
        end(null);
        becomeIdle();
        engine.signal(news);
    }

    private void end(@Nullable MadeleineException failure) {
        handle().end(failure);
        ended = handle().completion();
    }

    private IncomingHandle handle() {
        return Objects.requireNonNull(handle);
    }

    private void becomeIdle() {
        extraction.nextMessage();
        confined = false;
        attention.lowerDemand();
        attention.setInterest(true);
        state.set(IDLE);
    }

    /** The message fails for its user; what is left of it is dropped as it arrives. Under the lock. */
    void fail(MadeleineException failure) {
        giveUp(failure);
    }

    private void giveUp(@Nullable MadeleineException failure) {
        extraction.forgetBlocks();
        if (extraction.retract() == LinkStatus.PENDING) {
            confined = false;
            state.set(RETRACTING);
            retraction.start(failure);
        } else {
            concludeGivenUp(failure);
        }
    }

    private void concludeGivenUp(@Nullable MadeleineException failure) {
        startDiscarding();
        end(failure);
        VarHandle.fullFence(); // who waits sees the end, or is seen
        engine.signal(news);
    }

    /** Whether no network writes into blocks of the message any more, which ends for its user then. Under the lock. */
    boolean tryConcludeRetraction(@Nullable MadeleineException failure) {
        if (extraction.retract() == LinkStatus.PENDING) {
            return false;
        }
        concludeGivenUp(failure);
        advance();
        return true;
    }

    /** The user of the message of that number does not want it, if it has not ended. Under the lock. */
    void discard(long number) {
        IncomingHandle current = handle;
        if (current != null && current.number() == number && current.isGivenUpByClose() && state.get() != RETRACTING) {
            giveUp(null);
            advance();
        }
    }

    /** What is left of the message is dropped as it arrives. Under the lock. */
    private void startDiscarding() {
        confined = false;
        state.set(DISCARDING);
        attention.setInterest(true);
        if (!connection.isLost()) {
            attention.raiseDemand();
        }
    }

    // ---- blocks

    /** Notes whether the message, which is open, has a block that only its user may touch. Under the lock. */
    void confine(IncomingHandle user, boolean withConfinedBlock) {
        confined = withConfinedBlock;
        user.setUser(withConfinedBlock);
    }

    /** Whether the last block, and all before it from the same link, have their data. */
    boolean isCheckedOut() {
        return extraction.isCheckedOut() && state.get() != RETRACTING;
    }

    /** Whether a block that only its user may touch waits for its data. */
    boolean isConfined() {
        return confined;
    }

    /** Whether the block is one that only the calling thread may touch. */
    boolean isConfined(MemorySegment block) {
        return !block.isAccessibleBy(engine.absentThread());
    }

    /** Whether some of the block is what only the calling thread may touch. */
    boolean isConfined(BlockLayout block) {
        return !block.isAccessibleBy(engine.absentThread());
    }

    /** Whether what is waited for can never come; the message has failed then. */
    boolean judgeWait(boolean lost) {
        String vain = extraction.whyWaitIsVain();
        if (vain != null) {
            fail(Failures.notMirrored(connection, vain));
            return true;
        }
        if (lost) {
            failForLoss();
            return true;
        }
        return false;
    }
}
