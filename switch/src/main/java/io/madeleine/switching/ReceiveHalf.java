package io.madeleine.switching;

import static io.madeleine.switching.Reception.ARRIVED;
import static io.madeleine.switching.Reception.DISCARDING;
import static io.madeleine.switching.Reception.ENDING;
import static io.madeleine.switching.Reception.IDLE;
import static io.madeleine.switching.Reception.OPEN;
import static io.madeleine.switching.Reception.RETRACTING;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a connection: one incoming message after the other. Each block is taken from the link that the
 * selection table names, as at the sender. Threads that poll fill the posted blocks as bytes arrive.
 *
 * <p>Threading: while a message is EXCLUSIVE it belongs to its user alone, who needs no lock; most small messages begin
 * and end in this state. In all other states everything happens under the lock of the {@link Reception}.
 */
final class ReceiveHalf {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.switching");

    /**
     * The longest wait for a call inside the connection: such a call takes microseconds, more if its thread is
     * preempted.
     */
    private static final long LONGEST_CALL_NS = 5_000_000_000L;

    private static final long NO_MESSAGE = -1;

    /** Results of {@link #takeWhole}, and of {@link #takeShort}, which returns a size if it takes a message. */
    static final int NOTHING_THERE = -1;

    static final int TO_BE_BEGUN = -2;
    static final int TAKEN = 0;

    private final ReceiveContext connection;
    private final ProgressEngine engine;
    private final ProtocolConnection protocol;
    private final boolean worthLooking;
    private final boolean selfDescribed;
    private final SelectionTable table;
    private final Extraction extraction;
    private final Reception reception;
    private final ReceiveInterest interest;
    private final Unpacking unpacking;
    private final ExclusiveMessage exclusive;
    private final TemporalSlip slip = new TemporalSlip();
    private final Condition hasArrived;
    private final Handles<IncomingHandle> handles;
    private long messageNumber;

    /**
     * The previous message was received in one step and the next may be there: look for it under the lock at once. A
     * hint.
     */
    private boolean inStream;

    /**
     * The number of a message without an owner: its user had no stack left to close it. The next thread that wants to
     * begin discards it. Set by a field access, since there may be no stack left for a call.
     */
    volatile long abandoned = NO_MESSAGE;

    ReceiveHalf(ReceiveContext connection, List<TransmissionLink> links, SelectionTable table) {
        this.connection = connection;
        this.engine = connection.engine();
        this.protocol = connection.protocol();
        this.worthLooking = protocol.showsArrivals();
        this.selfDescribed = connection.isSelfDescribed();
        this.table = table;
        SelfDescription description = selfDescribed ? new SelfDescription(table.modules()) : null;
        this.extraction = new Extraction(links, table.modules(), description);
        this.reception = new Reception(connection, links.getFirst(), extraction);
        this.interest = reception.interest();
        this.unpacking = new Unpacking(this, extraction, table, description);
        this.exclusive = new ExclusiveMessage(reception, extraction);
        this.hasArrived = () -> reception.is(ARRIVED) || reception.isExhausted();
        this.handles = new Handles<>(scratch -> new IncomingHandle(this, reception.changed(), scratch));
    }

    ConnectionContext connection() {
        return connection;
    }

    /** The calls of the user of an open message. */
    Unpacking unpacking() {
        return unpacking;
    }

    /** The waitable of the user of the open message. */
    Waitable changed() {
        return reception.changed();
    }

    /** The pauses of a thread that polls for the next message of a dense stream. */
    TemporalSlip slip() {
        return slip;
    }

    // ---- arrival

    /** Polls the links, unless another thread does so just now. Called by threads that poll. */
    int onReadable() {
        if (!reception.tryLock()) {
            return 0;
        }
        try {
            return reception.advance();
        } catch (RuntimeException | Error e) {
            if (!reception.isBroken()) {
                throw e;
            }
            return 1; // the polling thread continues with other connections
        } finally {
            reception.settleAndUnlock();
        }
    }

    /** Whether a message has begun that polling threads continue; cheap and imprecise. */
    boolean isUnderWay() {
        int seen = reception.now();
        return seen == OPEN || seen == ENDING || seen == DISCARDING;
    }

    /** Whether no message can arrive any more. */
    boolean isExhausted() {
        return reception.isExhausted();
    }

    /** Throws the reason if no message can arrive any more. */
    void throwIfExhausted() {
        if (reception.isExhausted()) {
            throw connection.failure();
        }
    }

    /** Whether {@link #tryBegin()} may begin a message; cheap and imprecise. */
    boolean mayBegin() {
        int seen = reception.now();
        return seen == ARRIVED || (seen == IDLE ? protocol.hasArrivals() : abandoned != NO_MESSAGE);
    }

    /**
     * Begins the arrived message, if there is one and no other thread has begun it. Looks for a new one if that is
     * cheap.
     */
    @Nullable
    IncomingHandle tryBegin() {
        int seen = reception.now();
        if (seen != ARRIVED && (seen != IDLE || !protocol.hasArrivals())) {
            if (seen != IDLE && abandoned != NO_MESSAGE) {
                discardAbandoned();
            }
            return null;
        }
        if (!reception.tryLock()) {
            if (seen == IDLE) {
                return null; // the holder of the lock looks
            }
            reception.lock();
        }
        try {
            if (!reception.mayBegin()) {
                return null;
            }
            IncomingHandle handle = handles.take();
            handle.begin(messageNumber++);
            reception.begin(handle);
            return handle;
        } finally {
            reception.unlock();
        }
    }

    /** Whether a message of this block may be received in one step: it has no descriptor, and uses the primary link. */
    boolean mayTakeWhole(long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        return !selfDescribed && table.select(bytes, sendMode, receiveMode) == 0;
    }

    /**
     * Receives a message of one block in one step, if it is in front and complete: without a message object, and
     * without the state that only a message of several steps needs.
     *
     * @return {@link #NOTHING_THERE}, {@link #TAKEN}, or {@link #TO_BE_BEGUN}: then nothing has changed, and the caller
     *     has to begin, unpack and end the message, which also reports what is wrong with it
     */
    int takeWhole(MemorySegment block, long offset, long bytes) {
        int seen = reception.now();
        if (seen != ARRIVED && (seen != IDLE || !(inStream || protocol.hasArrivals()))) {
            return NOTHING_THERE;
        }
        if (!reception.tryLock()) {
            return NOTHING_THERE;
        }
        boolean taken = false;
        boolean isThere = true;
        try {
            taken = reception.takeWhole(block, offset, bytes);
            isThere = taken || !inStream || reception.isMessageInFront();
            inStream = taken && worthLooking;
        } finally {
            reception.settleAndUnlock();
        }
        if (!isThere) {
            return NOTHING_THERE;
        }
        if (taken && !worthLooking) {
            VarHandle.fullFence(); // a thread that found the lock taken sees the next message, or we see it wait
            lookForNext();
        }
        return taken ? TAKEN : TO_BE_BEGUN;
    }

    /**
     * As {@link #takeWhole}, for a message of one packet, of any size up to that of the block.
     *
     * @return the size of the message, {@link #NOTHING_THERE}, or {@link #TO_BE_BEGUN}
     */
    int takeShort(MemorySegment block) {
        int seen = reception.now();
        if (seen != ARRIVED && (seen != IDLE || !(inStream || protocol.hasArrivals()))) {
            return seen == IDLE ? NOTHING_THERE : TO_BE_BEGUN;
        }
        if (selfDescribed) {
            return TO_BE_BEGUN;
        }
        if (!reception.tryLock()) {
            return seen == IDLE ? NOTHING_THERE : TO_BE_BEGUN; // IDLE: the thread that holds the lock looks
        }
        int found = TO_BE_BEGUN;
        try {
            found = reception.takeShort(block);
            inStream = found >= 0 && worthLooking;
        } finally {
            reception.settleAndUnlock();
        }
        if (found >= 0 && !worthLooking) {
            VarHandle.fullFence(); // a thread that found the lock taken sees the next message, or we see it wait
            lookForNext();
        }
        return found;
    }

    /** Whether repeated calls of {@link #tryBegin()} may find a message that arrives meanwhile. */
    boolean isWorthLooking() {
        return worthLooking;
    }

    boolean hasArrived() {
        return reception.is(ARRIVED);
    }

    /** Whether the rest of a message whose user is done with it is still arriving, to be dropped. */
    boolean isDropping() {
        return reception.is(DISCARDING) || reception.is(RETRACTING);
    }

    /** Whether blocks in the region wait for data, or a network may still write into blocks of the message. */
    boolean uses(Region region) {
        int seen = reception.now();
        if (seen != OPEN && seen != ENDING && seen != RETRACTING) {
            return false;
        }
        reception.lock();
        try {
            return reception.now() == RETRACTING || extraction.touches(region);
        } finally {
            reception.unlock();
        }
    }

    /** Waits until a message has arrived; false at the deadline. */
    boolean awaitArrival(long deadlineNs) {
        return engine.await(reception.arrivals(), hasArrived, deadlineNs);
    }

    /** Waits for the user of an open message, for a condition that this half signals; false at the deadline. */
    boolean await(IncomingHandle waiting, Condition condition) {
        return waiting.await(reception.changed(), condition);
    }

    // ---- blocks

    /**
     * Asks for a block.
     *
     * @return whether there is no need to wait: the data is there, or will never arrive
     */
    boolean append(IncomingHandle using, int link, MemorySegment block, long offset, long bytes, boolean express) {
        if (using.isOpen() && exclusive.enter()) {
            boolean there;
            try {
                there = takeExclusive(link, block, offset, bytes, express);
            } catch (RuntimeException | Error e) {
                failExclusive(using, e);
                throw e;
            }
            return there || share(using, reception.isConfined(block));
        }
        reception.lock();
        try {
            if (!using.isOpen() || reception.now() == RETRACTING) {
                return !using.isOpen();
            }
            reception.confine(using, reception.isConfined() || reception.isConfined(block));
            extraction.append(link, block, offset, bytes, express);
            return extractAppended(using);
        } finally {
            reception.settleAndUnlock();
        }
    }

    /** As above, for a block that lies in the ranges of a layout. */
    boolean append(IncomingHandle using, int link, BlockLayout block, boolean express) {
        if (using.isOpen() && exclusive.enter()) {
            boolean there;
            try {
                there = takeExclusive(link, block, express);
            } catch (RuntimeException | Error e) {
                failExclusive(using, e);
                throw e;
            }
            return there || share(using, reception.isConfined(block));
        }
        reception.lock();
        try {
            if (!using.isOpen() || reception.now() == RETRACTING) {
                return !using.isOpen();
            }
            reception.confine(using, reception.isConfined() || reception.isConfined(block));
            extraction.append(link, block, express);
            return extractAppended(using);
        } finally {
            reception.settleAndUnlock();
        }
    }

    /**
     * Leaves a block whose descriptor has been asked for to the threads that poll: it is appended when the descriptor
     * has arrived and turns out to be as expected. The end is asked for next.
     */
    void appendOnceDescribed(IncomingHandle using, int link, BlockLayout block) {
        reception.lock();
        try {
            if (using.isOpen() && reception.now() != RETRACTING) {
                reception.confine(using, reception.isConfined() || reception.isConfined(block));
                extraction.appendOnceDescribed(link, block);
            }
        } finally {
            reception.settleAndUnlock();
        }
    }

    private boolean extractAppended(IncomingHandle using) {
        reception.extract();
        if (!using.isOpen()) {
            return true;
        }
        interest.setInterest(!extraction.isDrained());
        return reception.isCheckedOut();
    }

    private boolean takeExclusive(int link, MemorySegment block, long offset, long bytes, boolean express) {
        try {
            return exclusive.take(link, block, offset, bytes, express);
        } finally {
            exclusive.leave(); // in any case: a thread that closes the connection waits for this
        }
    }

    private boolean takeExclusive(int link, BlockLayout block, boolean express) {
        try {
            return exclusive.take(link, block, express);
        } finally {
            exclusive.leave();
        }
    }

    private boolean isExclusiveOver() {
        try {
            return exclusive.isOver();
        } finally {
            exclusive.leave();
        }
    }

    /**
     * A link threw in a call of the user, who gets the throwable; the message fails once the user has left that call.
     */
    private void failExclusive(IncomingHandle using, Throwable seen) {
        reception.lock();
        try {
            if (using.isOpen()) {
                reception.linkFailed(seen);
            }
        } finally {
            reception.settleAndUnlock();
        }
    }

    /**
     * Shares the exclusive message: from now on the threads that poll fill its blocks.
     *
     * @return whether there is no need to wait for the last block
     */
    private boolean share(IncomingHandle using, boolean withConfinedBlock) {
        reception.lock();
        try {
            reception.confine(using, withConfinedBlock);
            reception.share();
            return extractAppended(using);
        } finally {
            reception.settleAndUnlock();
        }
    }

    /** The condition of a wait for an EXPRESS block: its data is there, or will never arrive. */
    boolean isCheckedOut(IncomingHandle waiting) {
        reception.lock();
        try {
            if (!waiting.isOpen() || reception.now() == RETRACTING) {
                return !waiting.isOpen();
            }
            boolean lost = connection.isLost(); // read first: data that arrived before the loss is then visible
            if (reception.isConfined() || lost) {
                while (reception.extract() > 0 && lost && waiting.isOpen()) {
                    // take everything that arrived before the loss
                }
            }
            if (!waiting.isOpen() || reception.isCheckedOut()) {
                return true;
            }
            if (reception.isConfined()) {
                interest.setInterest(true);
            }
            return reception.now() != RETRACTING && reception.judgeWait(lost) && !waiting.isOpen();
        } finally {
            reception.settleAndUnlock();
        }
    }

    // ---- ending

    /**
     * Asks for the end of the message.
     *
     * @param unattended whether no thread waits for it: the threads that poll complete the message
     * @return whether there is no need to wait
     */
    boolean startEnd(IncomingHandle ending, boolean unattended) {
        if (ending.isOpen() && exclusive.enter()) {
            boolean over;
            try {
                over = isExclusiveOver();
            } catch (RuntimeException | Error e) {
                failExclusive(ending, e);
                throw e;
            }
            if (over) {
                release(ending);
                return true;
            }
            share(ending, false);
        }
        reception.lock();
        try {
            if (!ending.isOpen() || reception.now() == ENDING || reception.now() == RETRACTING) {
                return !ending.isOpen();
            }
            reception.confine(ending, reception.isConfined());
            extraction.checkOutAll();
            reception.extract();
            if (unattended && reception.isConfined() && !extraction.isDrained()) {
                extraction.forgetUndescribed();
                throw new IllegalStateException("endUnpackingAsync of the message " + connection.toHere()
                        + ": a block in memory confined to a thread has not arrived, and another thread may have to"
                        + " fill it; use endUnpacking, or memory of a shared arena or of Session.allocate");
            }
            if (reception.now() == OPEN) {
                reception.startEnding();
                reception.advance();
            }
            if (unattended && reception.now() == ENDING) {
                interest.raiseDemand();
            }
            return !ending.isOpen();
        } finally {
            reception.settleAndUnlock();
        }
    }

    /** The condition of a wait for the end. */
    boolean hasEnded(IncomingHandle waiting) {
        if (!waiting.isOpen()) {
            return true;
        }
        boolean lost = connection.isLost(); // read first: data that arrived before the loss is then visible
        if (!reception.isConfined() && !lost) {
            return false; // the threads that poll complete the message
        }
        reception.lock();
        try {
            if (waiting.isOpen()) {
                reception.advance();
            }
        } finally {
            reception.settleAndUnlock(); // also concludes the messages of a lost connection
        }
        return !waiting.isOpen();
    }

    /** The exclusive message ends successfully. No other thread waits for its end or has its completion. */
    private void release(IncomingHandle ending) {
        ending.completion().endAndLeave();
        extraction.nextMessage();
        reception.release(); // a full fence
        if (!interest.isInterested() || connection.isLost()) {
            wantEvents();
        }
        lookForNext();
    }

    private void wantEvents() {
        reception.lock();
        try {
            interest.setInterest(true);
        } finally { // memory may be too short for telling the network
            reception.settleAndUnlock(); // also handles a loss
        }
    }

    /** Looks for the next message if threads wait for one, so that the leader need not find it for them. */
    private void lookForNext() {
        if (engine.isAwaited(reception.arrivals()) || connection.isAnyMessageAwaited()) {
            onReadable();
        }
    }

    void failNow(IncomingHandle using, MadeleineException failure) {
        reception.lock();
        try {
            if (using.isOpen()) {
                reception.fail(failure);
                reception.advance();
            }
        } finally {
            reception.settleAndUnlock();
        }
        awaitRetraction(using);
        using.completion().throwFailure();
    }

    /**
     * Drops the rest of the message with this number, unless it has ended; its object may stand for another message by
     * now.
     */
    void discard(long number) {
        reception.lock();
        try {
            reception.discard(number);
        } finally {
            reception.settleAndUnlock();
        }
    }

    private void discardAbandoned() {
        long number = abandoned;
        abandoned = NO_MESSAGE;
        discard(number);
    }

    /** Waits until no network may write into blocks of the message, which has been given up. */
    void awaitRetraction(IncomingHandle givenUp) {
        if (givenUp.isOpen()) {
            givenUp.completion().awaitEndInAnyCase();
        }
    }

    /** The peer has been given up: none of its messages is begun any more. */
    void dropUnbegun() {
        reception.lock();
        try {
            reception.dropUnbegun();
        } finally {
            reception.settleAndUnlock();
        }
    }

    /** Receives what arrived before the connection was lost, and wakes waiting threads so that they see the loss. */
    void connectionLost() {
        reception.lock();
        reception.settleAndUnlock(); // also handles a loss
        engine.signal(reception.changed());
        engine.signal(reception.arrivals());
    }

    /**
     * Frees the connection. A call that has been inside it for seconds has failed there; this method does not wait for
     * it.
     */
    void close() {
        boolean locked = reception.tryLock(LONGEST_CALL_NS);
        try {
            if (!locked || !exclusive.revoke(LONGEST_CALL_NS)) {
                LOGGER.log(
                        Level.WARNING,
                        "a call on the message " + connection.toHere() + " did not return within "
                                + LONGEST_CALL_NS / 1_000_000_000 + " s; the connection is freed regardless");
            }
            interest.close();
            protocol.close();
        } finally {
            if (locked) {
                reception.settleAndUnlock();
            }
        }
    }
}
