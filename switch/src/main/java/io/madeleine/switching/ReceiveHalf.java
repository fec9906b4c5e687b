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
 * The receiving half of a connection: one incoming message after the other. Each block is asked of the link that the
 * selection table names, as the sender did; blocks are gathered and filled as bytes arrive, by whoever polls.
 *
 * <p>Threading: while a message is HELD it is its user's alone, who needs no lock: most small messages are begun, taken and
 * ended like that. In all other states everything is done under the lock of the {@link Reception}.
 */
final class ReceiveHalf {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.switching");

    /** A call that moves what is there takes microseconds; a thread that is kept from its processor, some more. */
    private static final long LONGEST_CALL_NS = 5_000_000_000L;

    private static final long NO_MESSAGE = -1;

    /** Answers of {@link #takeWhole}. */
    static final int NOTHING_THERE = 0;

    static final int TAKEN = 1;
    static final int TO_BE_BEGUN = 2;

    private final SwitchedConnection connection;
    private final ProgressEngine engine;
    private final ProtocolConnection protocol;
    private final boolean worthLooking;
    private final boolean selfDescribed;
    private final SelectionTable table;
    private final Extraction extraction;
    private final Reception reception;
    private final Attention attention;
    private final Unpacking unpacking;
    private final HeldMessage held;
    private final Condition hasArrived;
    private final Handles<IncomingHandle> handles;
    private long messageNumber;

    /** The message before was received in one step, and the next one may be there: it is looked for under the lock at once. A hint. */
    private boolean inStream;

    /**
     * The number of a message that is nobody's any more, since its user had no stack left to close it: the next one that wants to
     * begin does. Set without a call.
     */
    volatile long abandoned = NO_MESSAGE;

    ReceiveHalf(
            SwitchedConnection connection, List<TransmissionLink> links, SelectionTable table, boolean selfDescribed) {
        this.connection = connection;
        this.engine = connection.engine();
        this.protocol = connection.protocol();
        this.worthLooking = protocol.showsArrivals();
        this.selfDescribed = selfDescribed;
        this.table = table;
        SelfDescription description = selfDescribed ? new SelfDescription(table.modules()) : null;
        this.extraction = new Extraction(links, table.modules(), description);
        this.reception = new Reception(connection, links.getFirst(), extraction);
        this.attention = reception.attention();
        this.unpacking = new Unpacking(this, extraction, table, description);
        this.held = new HeldMessage(reception, extraction);
        this.hasArrived = () -> reception.is(ARRIVED) || reception.isExhausted();
        this.handles = new Handles<>(scratch -> new IncomingHandle(this, reception.news(), scratch));
    }

    SwitchedConnection connection() {
        return connection;
    }

    /** What the user of an open message calls. */
    Unpacking unpacking() {
        return unpacking;
    }

    /** What the user of the open message may wait on. */
    Waitable news() {
        return reception.news();
    }

    // ---- arrival

    /** Looks at the links if nobody else does just now. Called by who polls. */
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
            return 1; // who polls is not to blame, and goes on with other connections
        } finally {
            reception.settleAndUnlock();
        }
    }

    /** Whether no message will ever arrive any more. */
    boolean isExhausted() {
        return reception.isExhausted();
    }

    /** Tells why no message will ever arrive any more, if so. */
    void throwIfExhausted() {
        if (reception.isExhausted()) {
            throw connection.failure();
        }
    }

    /** Whether {@link #tryBegin()} may begin a message, as far as a glance can tell. */
    boolean mayBegin() {
        int seen = reception.now();
        return seen == ARRIVED || (seen == IDLE ? protocol.hasArrivals() : abandoned != NO_MESSAGE);
    }

    /** Opens the message that has arrived, if there is one and nobody else has. Looks for it if that costs next to nothing. */
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
                return null; // who holds it looks
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

    /** Whether a message of that block may be received in one step: it is described by nothing, and goes by the primary link. */
    boolean mayTakeWhole(long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        return !selfDescribed && table.select(bytes, sendMode, receiveMode) == 0;
    }

    /**
     * Receives a message of one block in one step, if it is in front and all of it is there: without a message object, and without
     * what only a message of several steps can need.
     *
     * @return {@link #NOTHING_THERE}, {@link #TAKEN}; or {@link #TO_BE_BEGUN}: all is as before, and the message is to be begun,
     *     unpacked and ended, which also tells what is wrong with it
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
            VarHandle.fullFence(); // who has found the lock taken sees what is behind the message, or is seen
            lookForNext();
        }
        return taken ? TAKEN : TO_BE_BEGUN;
    }

    /** Whether looking again and again, by {@link #tryBegin()}, may find a message that comes meanwhile. */
    boolean isWorthLooking() {
        return worthLooking;
    }

    boolean hasArrived() {
        return reception.is(ARRIVED);
    }

    /** Whether the rest of a message that its user has done with is still coming in, to be dropped. */
    boolean isDropping() {
        return reception.is(DISCARDING) || reception.is(RETRACTING);
    }

    /** Whether blocks of a message that wait for data are in a region, or a network may still write into some. */
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

    /** Waits, for the user of an open message, for something that this half signals; false at the deadline. */
    boolean await(IncomingHandle waiting, Condition condition) {
        return waiting.await(reception.news(), condition);
    }

    // ---- blocks

    /** Asks for a block; returns whether it need not be waited for, because it is there or will never be. */
    boolean append(IncomingHandle using, int link, MemorySegment block, long offset, long bytes, boolean express) {
        if (using.isOpen() && held.enter()) {
            boolean there;
            try {
                there = takeHeld(link, block, offset, bytes, express);
            } catch (RuntimeException | Error e) {
                failHeld(using, e);
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

    /** The same for a block that lies in the ranges of a layout. */
    boolean append(IncomingHandle using, int link, BlockLayout block, boolean express) {
        if (using.isOpen() && held.enter()) {
            boolean there;
            try {
                there = takeHeld(link, block, express);
            } catch (RuntimeException | Error e) {
                failHeld(using, e);
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

    private boolean extractAppended(IncomingHandle using) {
        reception.extract();
        if (!using.isOpen()) {
            return true;
        }
        attention.setInterest(!extraction.isDrained());
        return reception.isCheckedOut();
    }

    private boolean takeHeld(int link, MemorySegment block, long offset, long bytes, boolean express) {
        try {
            return held.take(link, block, offset, bytes, express);
        } finally {
            held.leave(); // whatever happens: who closes the connection waits for that
        }
    }

    private boolean takeHeld(int link, BlockLayout block, boolean express) {
        try {
            return held.take(link, block, express);
        } finally {
            held.leave();
        }
    }

    private boolean isHeldOver() {
        try {
            return held.isOver();
        } finally {
            held.leave();
        }
    }

    /** A link failed its user, who is told what came out of it; it is settled when the message has been left. */
    private void failHeld(IncomingHandle using, Throwable seen) {
        reception.lock();
        try {
            if (using.isOpen()) {
                reception.linkFailed(seen);
            }
        } finally {
            reception.settleAndUnlock();
        }
    }

    /** From now on whoever polls fills the blocks of the held message; returns whether the last need not be waited for. */
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

    /** Condition of an EXPRESS block: it is there, or will never be. */
    boolean isCheckedOut(IncomingHandle waiting) {
        reception.lock();
        try {
            if (!waiting.isOpen() || reception.now() == RETRACTING) {
                return !waiting.isOpen();
            }
            boolean lost = connection.isLost(); // before the look: what came before the loss is there
            if (reception.isConfined() || lost) {
                while (reception.extract() > 0 && lost && waiting.isOpen()) {
                    // what came before the loss counts
                }
            }
            if (!waiting.isOpen() || reception.isCheckedOut()) {
                return true;
            }
            if (reception.isConfined()) {
                attention.setInterest(true);
            }
            return reception.now() != RETRACTING && reception.judgeWait(lost) && !waiting.isOpen();
        } finally {
            reception.settleAndUnlock();
        }
    }

    // ---- ending

    /**
     * Asks for the end of the message; returns whether it need not be waited for. Unattended, whoever polls brings it
     * about.
     */
    boolean startEnd(IncomingHandle ending, boolean unattended) {
        if (ending.isOpen() && held.enter()) {
            boolean over;
            try {
                over = isHeldOver();
            } catch (RuntimeException | Error e) {
                failHeld(ending, e);
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
                throw new IllegalStateException("endUnpackingAsync of the message " + connection.toHere()
                        + ": a block in memory confined to a thread has not arrived, and another thread may have to"
                        + " fill it; use endUnpacking, or memory of a shared arena or of Session.allocate");
            }
            if (reception.now() == OPEN) {
                reception.startEnding();
                reception.advance();
            }
            if (unattended && reception.now() == ENDING) {
                attention.raiseDemand();
            }
            return !ending.isOpen();
        } finally {
            reception.settleAndUnlock();
        }
    }

    /** Condition of the end. */
    boolean hasEnded(IncomingHandle waiting) {
        if (!waiting.isOpen()) {
            return true;
        }
        boolean lost = connection.isLost(); // before the look: what came before the loss is there
        if (!reception.isConfined() && !lost) {
            return false; // who polls brings the end about
        }
        reception.lock();
        try {
            if (waiting.isOpen()) {
                reception.advance();
            }
        } finally {
            reception.settleAndUnlock(); // which settles what a lost connection leaves
        }
        return !waiting.isOpen();
    }

    /** The held message ends well. Nobody else waits for that, nor has its completion. */
    private void release(IncomingHandle ending) {
        ending.completion().endAndLeave();
        extraction.nextMessage();
        reception.release(); // a full fence
        if (!attention.isInterested() || connection.isLost()) {
            reception.lock();
            attention.setInterest(true);
            reception.settleAndUnlock(); // which is where a loss is settled
        }
        lookForNext();
    }

    /** The next message is there already, perhaps: no need that the leader finds it for those who wait. */
    private void lookForNext() {
        if (engine.isAwaited(reception.arrivals())
                || connection.channel().arrivals().isAwaited()) {
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

    /** Drops what is left of the message of that number, if it has not ended; its object may stand for another by now. */
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

    /** Waits as long as a network may write into blocks of the message, which has been given up. */
    void awaitRetraction(IncomingHandle givenUp) {
        if (givenUp.isOpen()) {
            givenUp.completion().awaitEndInAnyCase();
        }
    }

    /** The peer has been given up: nothing of it is begun any more. */
    void cutOff() {
        reception.lock();
        try {
            reception.cutOff();
        } finally {
            reception.settleAndUnlock();
        }
    }

    /** Brings up what arrived before the connection was lost, and lets waits see the loss. */
    void connectionLost() {
        reception.lock();
        reception.settleAndUnlock(); // which is where a loss is settled
        engine.signal(reception.news());
        engine.signal(reception.arrivals());
    }

    /** Frees the connection. Who is inside it for seconds has failed there, and is not waited for any longer. */
    void close() {
        boolean locked = reception.tryLock(LONGEST_CALL_NS);
        try {
            if (!locked || !held.revoke(LONGEST_CALL_NS)) {
                LOGGER.log(Level.WARNING, "a call on the message " + connection.toHere() + " has never returned");
            }
            attention.close();
            protocol.close();
        } finally {
            if (locked) {
                reception.settleAndUnlock();
            }
        }
    }
}
