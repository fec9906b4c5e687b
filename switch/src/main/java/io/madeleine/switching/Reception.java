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
 * The state machine of a connection's incoming message, and the steps that any polling thread can take with it: look
 * for a message, fill the blocks that its user has asked for, judge its end, drop the rest.
 *
 * <p>A message that is aborted, lost, or not mirrored fails for its user; the rest of it is dropped as it arrives.
 *
 * <p>Threading: guarded by its own lock, which the callers take. The state and {@link #isExhausted} may be read without
 * the lock. While a message is EXCLUSIVE it belongs to its user alone, who may change the state to IDLE without the
 * lock.
 */
final class Reception {
    /** No message has been found. */
    static final int IDLE = 0;

    /** A message has been found, and no thread has begun it. */
    static final int ARRIVED = 1;

    /** Open, and no block waits for its data. */
    static final int EXCLUSIVE = 2;

    /** Open, and the threads that poll fill blocks. */
    static final int OPEN = 3;

    /** Its user has asked for its end. */
    static final int ENDING = 4;

    /** Its user is done with it, and the rest is still arriving. */
    static final int DISCARDING = 5;

    /** It has failed or its user has discarded it, but a network may still write into its blocks. */
    static final int RETRACTING = 6;

    private final ReceiveContext connection;
    private final ProgressEngine engine;
    private final TransmissionLink primary;
    private final Extraction extraction;
    private final ReceiveInterest interest;
    private final SpinLock lock = new SpinLock();
    private final AtomicInteger state = new AtomicInteger(IDLE);
    private final Retraction retraction;
    private final Waitable changed;
    private final Waitable arrivals; // signalled with signalOne

    /** The connection is lost, and no further message can be begun. */
    private volatile boolean exhausted;

    /**
     * No further message may be begun, although one may arrive: a message before it is missing, or the peer was given
     * up.
     */
    private boolean cut;

    /** The state of the links is unknown; they are not accessed any more. */
    private boolean broken;

    private @Nullable IncomingHandle handle;
    private boolean confined;
    private @Nullable MessageCompletion ended;

    Reception(ReceiveContext connection, TransmissionLink primary, Extraction extraction) {
        this.connection = connection;
        this.engine = connection.engine();
        this.primary = primary;
        this.extraction = extraction;
        this.retraction = new Retraction(connection, this);
        this.interest = new ReceiveInterest(engine, connection.protocol());
        this.changed = connection.newWaitable(
                "use endUnpackingAsync in place of endUnpacking, and Completion.onDone in place of"
                        + " await, or leave the message to another thread");
        this.arrivals = connection.newWaitable("use tryBeginUnpacking in place of beginUnpacking");
    }

    /** The state; it may change at any moment unless the caller holds the lock or the message. */
    int now() {
        return state.get();
    }

    boolean is(int wanted) {
        return state.get() == wanted;
    }

    /** The waitable of the message's user, signalled whenever something changes that the user may wait for. */
    Waitable changed() {
        return changed;
    }

    /** The waitable for arriving messages; one waiting thread is signalled per message. */
    Waitable arrivals() {
        return arrivals;
    }

    ReceiveInterest interest() {
        return interest;
    }

    /** Whether no message can arrive any more. */
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

    /** Releases the lock after an operation that cannot have ended a message. */
    void unlock() {
        lock.unlock();
    }

    /**
     * Checks whether a lost connection is exhausted, releases the lock, and then concludes a message that has ended
     * meanwhile.
     */
    void settleAndUnlock() {
        boolean newlyExhausted = false;
        MessageCompletion completion = null;
        try {
            newlyExhausted = connection.isLost() && !exhausted && isExhaustedNow();
            completion = ended;
            if (completion != null) {
                ended = null; // only if set: storing a reference costs more than reading it
            }
        } finally {
            lock.unlock();
        }
        if (newlyExhausted) {
            engine.signal(changed);
            engine.signal(arrivals);
            connection.signalLoss();
        }
        if (completion != null) {
            completion.leave();
        }
    }

    /**
     * For a lost connection: receives what had arrived.
     *
     * @return whether all messages have been begun; while one is open, others may be behind it
     */
    private boolean isExhaustedNow() {
        int seen;
        do {
            seen = state.get();
        } while (advance() > 0); // continue with the next message
        if (seen == EXCLUSIVE) {
            return false; // its user releases it without the lock, perhaps already, and then settles again
        }
        if (state.get() == ENDING && !isUpToOwner()) {
            failForLoss(); // the state becomes DISCARDING, or RETRACTING first
        }
        if (state.get() != IDLE && state.get() != DISCARDING) {
            return false;
        }
        interest.lowerDemand();
        cut = true;
        exhausted = true;
        return true;
    }

    /**
     * The peer has been given up: drops what it may still send, and a message that no thread has begun. Under the lock.
     */
    void dropUnbegun() {
        cut = true;
        if (state.get() == ARRIVED) {
            startDiscarding();
        }
    }

    /** Fails the message for the loss; no message may follow the missing data. */
    private void failForLoss() {
        cut = true;
        fail(connection.failure());
    }

    /** Whether there is a message that may be begun. Under the lock. */
    boolean mayBegin() {
        int seen = state.get();
        if (seen == ARRIVED && connection.isGivenUp()) {
            dropUnbegun();
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

    /** Gives the message in front to its user. Under the lock. */
    void begin(IncomingHandle user) {
        handle = user;
        state.setRelease(EXCLUSIVE);
    }

    /**
     * Takes the next message in one step, if no thread has begun it, and it is one packet with one block of this size.
     * Under the lock.
     *
     * @return whether it was taken; if not, nothing has changed
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
        } catch (IllegalStateException | WrongThreadException _) { // the block's memory was freed
            ProgressEngine.afterFreedMemory();
            return false;
        } catch (RuntimeException | Error e) {
            boolean _ = isBrokenBy(e);
            throw e;
        }
        if (seen == ARRIVED) {
            state.set(IDLE);
        }
        interest.setInterest(true);
        return true;
    }

    /**
     * As {@link #takeWhole}, for a message of any size up to that of the block. Under the lock.
     *
     * @return its size, or {@link ReceiveHalf#NOTHING_THERE} or {@link ReceiveHalf#TO_BE_BEGUN}: then nothing has
     *     changed
     */
    int takeShort(MemorySegment block) {
        int seen = state.get();
        if (isCut() || seen != IDLE && seen != ARRIVED) {
            return ReceiveHalf.TO_BE_BEGUN;
        }
        long header = front();
        if (header <= 0) {
            return ReceiveHalf.NOTHING_THERE;
        }
        int bytes = PacketHeader.payloadBytes(header);
        boolean taken = bytes <= block.byteSize() && takeWhole(block, 0, bytes); // which compares the whole header
        return taken ? bytes : ReceiveHalf.TO_BE_BEGUN;
    }

    /**
     * EXCLUSIVE becomes OPEN: the threads that poll fill the message. Under the lock, or when no other thread can
     * interfere.
     */
    void share() {
        state.set(OPEN);
    }

    /** OPEN becomes ENDING: the user asks for the end. Under the lock. */
    void startEnding() {
        state.setRelease(ENDING); // ENDING matters only under the lock
    }

    /** EXCLUSIVE becomes IDLE: the user has ended the message, without the lock. */
    void release() {
        state.set(IDLE); // a full fence: a thread that polls meanwhile sees IDLE, or the user sees what it changed
    }

    // ---- steps

    /** Makes all progress that is possible now, in any state. Under the lock. */
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
                    if (state.get() == ENDING && (isUpToOwner() || !judgeEnd() || state.get() == IDLE)) {
                        return work; // the next poll looks for the next message: looking may be a system call
                    }
                }
                case RETRACTING -> {
                    return work; // up to the step of Retraction
                }
                case DISCARDING -> {
                    work += drop();
                    if (!extraction.ledger().isEnded()) {
                        interest.setInterest(true);
                        return work;
                    }
                    becomeIdle();
                    return work + 1;
                }
                default -> { // ARRIVED, EXCLUSIVE: up to the user
                    interest.setInterest(false);
                    if (seen == state.get()) {
                        return work;
                    }
                    interest.setInterest(true); // the user ended the message and missed the withdrawn interest
                }
            }
        }
    }

    private int lookForMessage() {
        if (isCut()) {
            interest.setInterest(false);
            return 0;
        }
        long header = front();
        if (header <= 0) {
            interest.setInterest(true);
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

    /** Fills blocks from the arrived packets; returns 1 if that did something, else 0. Under the lock. */
    int extract() {
        if (isUpToOwner()) {
            // until the owner, the only thread that may fill the confined blocks, has looked
            interest.setInterest(false);
            engine.signal(changed);
            return 0;
        }
        if (broken) { // and memory was too short then to fail the message
            fail(connection.failure());
            return 1;
        }
        int found = extraction.ledger().foundCount();
        long moved;
        try {
            moved = extraction.extract();
        } catch (IllegalStateException | WrongThreadException e) {
            ProgressEngine.afterFreedMemory();
            fail(MessageFailures.memoryGone(connection, e));
            return 1;
        } catch (RuntimeException | Error e) {
            linkFailed(e);
            throw e;
        }
        if (extraction.ledger().isAborted()) {
            fail(MessageFailures.aborted(connection));
            return 1;
        }
        if (confined) {
            confined = !extraction.isDrained();
        }
        if (moved > 0 || found != extraction.ledger().foundCount()) { // a packet nobody asked for may end a wait
            engine.signal(changed);
        }
        return moved > 0 ? 1 : 0;
    }

    /**
     * A link threw something that the SPI does not allow. If that breaks the link, gives the connection up and fails
     * the message. Under the lock.
     */
    void linkFailed(Throwable seen) {
        if (isBrokenBy(seen)) {
            fail(connection.failure());
        }
    }

    /** Whether the throwable leaves the state of a link unknown; if so, the links are not accessed any more. */
    private boolean isBrokenBy(Throwable seen) {
        if (!connection.isBrokenBy(seen, extraction.isStateUnknown())) {
            return false;
        }
        cut = true;
        broken = true;
        connection.breakUpAfter(seen);
        return true;
    }

    /** Whether the connection has been given up because a link failed. Under the lock. */
    boolean isBroken() {
        return broken;
    }

    /** Whether a block that is not filled yet is confined to another thread than the caller. */
    private boolean isUpToOwner() {
        return confined && !handle().isUsedBy(Thread.currentThread());
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

    /** Whether the message, whose end is asked for, has ended, successfully or not. */
    private boolean judgeEnd() {
        if (extraction.awaitsDescriptor() && !appendDescribed()) {
            return state.get() != ENDING;
        }
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
            fail(MessageFailures.notMirrored(connection, wrong));
            return true;
        }
        interest.setInterest(true);
        return false;
    }

    /** Appends the block whose descriptor is awaited; returns false if the descriptor is not there or is wrong. */
    private boolean appendDescribed() {
        if (!extraction.isCheckedOut()) {
            if (!judgeWait(false)) {
                interest.setInterest(true);
            }
            return false;
        }
        String difference = extraction.appendDescribed();
        if (difference != null) {
            fail(MessageFailures.notMirrored(connection, difference));
            return false;
        }
        extract();
        return state.get() == ENDING;
    }

    private void conclude() {
        end(null);
        becomeIdle();
        engine.signal(changed);
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
        interest.lowerDemand();
        interest.setInterest(true);
        state.set(IDLE);
    }

    /** Fails the message for its user and drops the rest as it arrives. Under the lock. */
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
        VarHandle.fullFence(); // a thread about to wait sees the end, or we see that it waits
        engine.signal(changed);
    }

    /**
     * Ends the message for its user if no network writes into its blocks any more; returns whether it has. Under the
     * lock.
     *
     * @param closed whether the connection is closed, so that no network does
     */
    boolean tryConcludeRetraction(@Nullable MadeleineException failure, boolean closed) {
        if (extraction.retract() == LinkStatus.PENDING && !closed) {
            return false;
        }
        concludeGivenUp(failure);
        advance();
        return true;
    }

    /** Discards the message with this number for its user, unless it has ended. Under the lock. */
    void discard(long number) {
        IncomingHandle current = handle;
        if (current != null && current.number() == number && current.isGivenUpByClose() && state.get() != RETRACTING) {
            giveUp(null);
            advance();
        }
    }

    /** Begins to drop the rest of the message as it arrives. Under the lock. */
    private void startDiscarding() {
        confined = false;
        state.set(DISCARDING);
        interest.setInterest(true);
        if (!connection.isLost()) {
            interest.raiseDemand();
        }
    }

    // ---- blocks

    /** Records whether the open message has a block that only its user may access. Under the lock. */
    void confine(IncomingHandle user, boolean withConfinedBlock) {
        confined = withConfinedBlock;
        user.setUser(withConfinedBlock);
    }

    /** Whether the last block, and all before it from the same link, have their data. */
    boolean isCheckedOut() {
        return extraction.isCheckedOut() && state.get() != RETRACTING;
    }

    /** Whether a block that only the user may access waits for its data. */
    boolean isConfined() {
        return confined;
    }

    /** Whether the block is in memory that only the calling thread may access. */
    boolean isConfined(MemorySegment block) {
        return !block.isAccessibleBy(engine.absentThread());
    }

    /** Whether a part of the block is in memory that only the calling thread may access. */
    boolean isConfined(BlockLayout block) {
        return !block.isAccessibleBy(engine.absentThread());
    }

    /** Fails the message if the awaited data can never arrive; returns whether it has. */
    boolean judgeWait(boolean lost) {
        String vain = extraction.whyWaitIsVain();
        if (vain != null) {
            fail(MessageFailures.notMirrored(connection, vain));
            return true;
        }
        if (lost) {
            failForLoss();
            return true;
        }
        return false;
    }
}
