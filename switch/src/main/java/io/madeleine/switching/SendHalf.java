package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.bmm.SendBmm;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Step;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a connection: one outgoing message after the other. Each block goes by way of the {@link Insertion}
 * to the link that the selection table names.
 *
 * <p>Threading: the message is touched by its user, who has taken the {@link Turn}, while it is open; once it is sealed, by the
 * leader, through {@link #step}, to whom the turn is handed on. The turn and the engine's queue hand it from one to the other;
 * no lock is needed.
 */
final class SendHalf implements Step {
    private static final long NOBODY = -1;

    private final SwitchedConnection connection;
    private final ProgressEngine engine;
    private final SelectionTable table;
    private final Insertion insertion;
    private final PostedMemory posted;
    private final boolean selfDescribed;
    private final MemorySegment descriptor = MemorySegment.ofArray(new byte[BlockDescriptor.BYTES]);
    private final Waitable news;
    private final TurnQueue queue;
    private final Turn turn;
    private final TaskLine tasks;

    /** The id of the thread that has the turn, and has begun no message yet, as it runs a send task. */
    private volatile long claimant = NOBODY;

    private final Handles<OutgoingHandle> handles;
    private OutgoingHandle handle;
    private int blockCount;
    private boolean raisedDemand;

    /** All is out, or given up, but a network still reads memory of the message. */
    private boolean releasing;

    /** This process leaves: nothing is sent any more, not even the rest of a message. */
    private volatile boolean stopped;

    /** What goes wrong with messages; read without a call where there may be no room for one. */
    final GivingUp givingUp;

    /** How the message ends that is {@link #releasing}. */
    private @Nullable MadeleineException outcome;

    private long messageNumber;

    SendHalf(SwitchedConnection connection, List<TransmissionLink> links, SelectionTable table, boolean selfDescribed) {
        this.connection = connection;
        this.engine = connection.engine();
        this.news = connection.newWaitable(
                "use endPackingAsync in place of endPacking, and Completion.onDone in place of await");
        this.queue = new TurnQueue(
                () -> connection.newWaitable("use tryBeginPacking in place of beginPacking"),
                this::isFree,
                this::isVain);
        this.turn = new Turn(() -> !queue.isEmpty());
        this.tasks = new TaskLine(this, queue, connection.channel().taskRunner(), engine);
        this.table = table;
        this.selfDescribed = selfDescribed;
        this.insertion =
                new Insertion(links, engine.absentThread(), connection.channel().stagingPool());
        this.posted = new PostedMemory(connection, links);
        this.givingUp = new GivingUp(connection, insertion);
        this.handles = new Handles<>(scratch -> new OutgoingHandle(this, news, scratch));
        this.handle = handles.take();
    }

    SwitchedConnection connection() {
        return connection;
    }

    // ---- beginning

    /** Begins a message, unless another is on its way or a thread waits that has been overtaken for long enough. */
    @Nullable
    OutgoingHandle tryBegin() {
        return isTaken() || queue.isKept() ? takeClaimed() : take();
    }

    /** Whether the turn can be had. */
    boolean isFree() {
        return turn.isFree();
    }

    private boolean isTaken() {
        if (isFree()) {
            return false;
        }
        if (givingUp.isLeftToOthers()) {
            abortLeft();
        }
        return true;
    }

    private @Nullable OutgoingHandle take() {
        return turn.tryTake() ? start() : null;
    }

    /** The calling thread has the turn. */
    private OutgoingHandle start() {
        if (isLost()) {
            turn.release();
            throw connection.failure();
        }
        try {
            handle = handles.take();
        } catch (Throwable e) { // no memory, for instance
            turn.release();
            tellFirst();
            throw e;
        }
        handle.begin(messageNumber);
        return handle;
    }

    /** Tells why no message will ever begin any more, if so. */
    void throwIfLost() {
        if (isLost()) {
            throw connection.failure();
        }
    }

    OutgoingHandle begin(long deadlineNs) {
        OutgoingHandle begun = tryBegin();
        return begun != null ? begun : beginInTurn(deadlineNs);
    }

    private OutgoingHandle beginInTurn(long deadlineNs) {
        TurnQueue.Place place = queue.join(engine.isInHandler());
        try {
            turn.prepareToWait();
            while (true) {
                OutgoingHandle begun = !isTaken() && queue.isFirst(place) ? take() : null;
                if (begun != null) {
                    return begun;
                }
                if (!engine.await(place.news(), place, deadlineNs)) {
                    throw new DeadlineExceededException("beginPacking " + connection.fromHere()
                            + ": the previous message is still open or on its way (" + progressText() + ")");
                }
                throwIfLost();
            }
        } finally {
            queue.leave(place);
            turnMayBeNext(); // what it had been told is for the next
        }
    }

    /** Who was in the line is so no more. */
    void turnMayBeNext() {
        if (isFree() || isVain()) {
            tellFirst();
        }
    }

    /** Whether no message will ever begin any more. */
    boolean isLost() {
        return connection.isLost() || stopped;
    }

    /** Whether it is in vain to wait for a turn, or there is another message to be given up first. */
    private boolean isVain() {
        return isLost() || givingUp.isLeftToOthers();
    }

    private void tellFirst() {
        TurnQueue.Place first = queue.first();
        if (first != null && tell(first)) {
            connection.channel().taskRunner().leaveToLeader();
        }
    }

    /** The turn may have come for those in that place; returns whether they are tasks, which are still to be run. */
    private boolean tell(TurnQueue.Place place) {
        TaskLine line = place.tasks();
        if (line == null) {
            engine.signalOne(place.news());
            return false;
        }
        line.markReady();
        return true;
    }

    // ---- send tasks

    TaskLine tasks() {
        return tasks;
    }

    /** The calling thread has made known that it, or a task, waits for the turn: who gives it back next sees that, or is seen. */
    void prepareToWait() {
        turn.prepareToWait();
    }

    /** Takes the turn for the task that the calling thread is about to run, if it is the turn of that place. */
    boolean claim(TurnQueue.Place place) {
        if (isTaken() || !queue.isFirst(place) || !turn.tryTake()) {
            return false;
        }
        claimant = Thread.currentThread().threadId();
        return true;
    }

    private @Nullable OutgoingHandle takeClaimed() {
        if (claimant != Thread.currentThread().threadId()) {
            return null;
        }
        claimant = NOBODY;
        return start();
    }

    /** Gives the turn back if the task has begun no message. */
    void releaseClaim() {
        if (claimant != Thread.currentThread().threadId()) {
            return;
        }
        claimant = NOBODY;
        queue.willBeFree();
        turn.giveBack();
        tellFirst();
    }

    /**
     * Sends a message of one block in one step, if nobody else is sending or waits to, and a packet of the primary link takes it
     * at once: without a message object, and without what only a message of several steps can need. Returns whether it has
     * left; if not, all is as before, and the message is to be begun, packed and ended, which also tells what stands in its way.
     */
    boolean sendWhole(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        if (selfDescribed || table.select(bytes, sendMode, receiveMode) != 0 || !queue.isEmpty() || !turn.tryTake()) {
            return false;
        }
        int status = LinkStatus.CLOSED;
        try {
            if (!isLost()) {
                status = insertion.sendWhole(block, offset, bytes, receiveMode == ReceiveMode.EXPRESS);
            }
        } catch (IllegalStateException | WrongThreadException _) {
            return false; // the block's memory is gone
        } catch (RuntimeException | Error e) {
            boolean _ = isBrokenBy(e);
            throw e;
        } finally {
            queue.willBeFree();
            turn.giveBack();
            if (!queue.isEmpty()) {
                turnMayBeNext();
            }
        }
        if (status != LinkStatus.COMPLETE) {
            return false;
        }
        insertion.primary().announce();
        return true;
    }

    // ---- packing

    void pack(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        int link = startBlock(bytes, sendMode, receiveMode);
        if (bytes > 0) {
            packOn(link, block, offset, bytes, sendMode, receiveMode == ReceiveMode.EXPRESS);
        }
    }

    void pack(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode) {
        int link = startBlock(block.byteSize(), sendMode, receiveMode);
        givingUp.throwIfBegun();
        int status = LinkStatus.COMPLETE;
        try {
            status = insertion.add(link, block, sendMode, receiveMode == ReceiveMode.EXPRESS);
        } catch (RuntimeException | Error e) {
            packFailed(e);
        }
        throwIfClosed(status);
    }

    /** Describes the block, where blocks are; returns the link that takes it. */
    private int startBlock(long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        if (stopped) {
            throw connection.failure(); // a block that is only referenced would go unnoticed
        }
        int link = table.select(bytes, sendMode, receiveMode);
        if (selfDescribed) {
            BlockDescriptor.put(descriptor, bytes, blockCount, sendMode, receiveMode, link);
            packOn(0, descriptor, 0, BlockDescriptor.BYTES, SendMode.SAFER, true);
        }
        blockCount++;
        return link;
    }

    private void packOn(int link, MemorySegment block, long offset, long bytes, SendMode sendMode, boolean express) {
        givingUp.throwIfBegun();
        int status = LinkStatus.COMPLETE;
        try {
            status = insertion.add(link, block, offset, bytes, sendMode, express);
        } catch (RuntimeException | Error e) {
            packFailed(e);
        }
        throwIfClosed(status);
    }

    private void throwIfClosed(int status) {
        if (status == LinkStatus.CLOSED) {
            throw connection.failure();
        }
    }

    /** Throws why a block could not be taken: its memory is gone, and with it the message, or something has come out of a link. */
    private void packFailed(Throwable seen) {
        if (seen instanceof IllegalStateException || seen instanceof WrongThreadException) {
            givingUp.forGoneMemory(messageNumber, (RuntimeException) seen);
            givingUp.throwIfBegun();
            return;
        }
        boolean _ = isBrokenBy(seen);
        if (seen instanceof RuntimeException e) {
            throw e;
        }
        if (seen instanceof Error e) {
            throw e;
        }
    }

    /** Whether that has left a link of which nobody knows how far it came: nothing is to be done with the links any more. */
    private boolean isBrokenBy(Throwable seen) {
        boolean breaks = givingUp.isLinkBrokenBy(seen);
        if (breaks) {
            stopped = true;
        }
        return breaks;
    }

    // ---- ending

    /** Ends the message, which is open, and waits until that is done. */
    void end(OutgoingHandle ending) {
        if (seal(false)) {
            givingUp.throwEscaped();
            ending.completion().throwFailure();
        } else {
            awaitEnd(ending);
        }
    }

    /** Waits until the message, whose end has been asked for, has ended; it may have, and others may have begun. */
    void awaitEnd(OutgoingHandle ending) {
        if (!ending.completion().awaitEnd(ending.deadlineNs())) {
            throw new DeadlineExceededException("endPacking " + connection.fromHere() + " did not finish in time: "
                    + progressText() + "; rank " + connection.rank() + " has to unpack, or the deadline to be later");
        }
        ending.completion().throwFailure();
    }

    /** Ends the message, which is open, without waiting. */
    void endAsync() {
        long number = messageNumber;
        try {
            if (seal(true)) {
                givingUp.throwEscaped();
            }
        } catch (Throwable e) {
            if (turn.isTaken() && messageNumber == number) {
                givingUp.leftToOthers = number; // its user's close does not give up what it has ended
            }
            throw e;
        }
    }

    /** Finishes the open message or leaves it to the leader. True if it has ended. */
    private boolean seal(boolean unattended) {
        if (advance()) {
            return true;
        }
        try {
            insertion.copyConfinedAside();
        } catch (IllegalStateException | WrongThreadException e) {
            givingUp.forGoneMemory(messageNumber, e);
            if (advance()) {
                return true;
            }
        }
        handToLeader(unattended);
        return false;
    }

    private void handToLeader(boolean unattended) {
        if (unattended && !raisedDemand) {
            raisedDemand = true;
            engine.raiseDemand();
        }
        turn.handOn();
        try {
            engine.enqueue(this);
        } catch (Throwable e) { // no memory, for instance
            turn.takeBack();
            throw e;
        }
    }

    /** Gives up the message of that number, if it has not ended; its user calls. */
    void abort(long number) {
        if (turn.isTaken() && messageNumber == number) {
            abortOpen();
            return;
        }
        givingUp.request(number);
        if (!turn.isHandedOn() || messageNumber != number) {
            givingUp.withdrawRequest(number); // the message has just ended
        }
    }

    /** Whether a message that its user has given up has ended well all the same, or will. */
    boolean hasLeft(OutgoingHandle aborted) {
        return aborted.isOpen()
                ? givingUp.isDecidedFor(aborted.number()) && !givingUp.isAborted(aborted.number())
                : aborted.completion().hasEndedWell();
    }

    /** Waits as long as anybody may read memory of the message, which its user has given up. */
    void awaitRelease(OutgoingHandle aborted) {
        long number = aborted.number();
        if (aborted.isOpen()) {
            aborted.completion()
                    .awaitInAnyCase(() -> !aborted.isOpen() || (givingUp.isDecidedFor(number) && !posted.isHeld()));
        }
    }

    private void abortOpen() {
        try {
            givingUp.forItsUser(messageNumber);
            if (!advance()) {
                handToLeader(true);
            }
        } catch (Throwable e) { // the stack has come to its end, or memory
            givingUp.leftToOthers = messageNumber; // without a call, for which there may be no room either
            throw e;
        }
    }

    /** Gives up the message whose user could not. */
    private void abortLeft() {
        long number = givingUp.takeLeft();
        if (number != GivingUp.NO_MESSAGE && !isFree() && messageNumber == number) {
            abort(number);
        }
    }

    @Override
    public boolean step() {
        if (posted.isPossible() && givingUp.hasBegun() && !posted.isHeld()) {
            engine.signal(news); // who waits for memory looks for himself
        }
        if (releasing) {
            return conclude(outcome);
        }
        if (givingUp.isRequestedFor(messageNumber) && !givingUp.isDecidedFor(messageNumber)) {
            givingUp.forItsUser(messageNumber);
            engine.signal(news);
        }
        return advance();
    }

    private boolean advance() {
        if (stopped) {
            return conclude(connection.failure());
        }
        int status;
        try {
            status = move();
        } catch (RuntimeException | Error e) {
            if (!isBrokenBy(e)) {
                throw e;
            }
            givingUp.escaped(e);
            return conclude(connection.failure());
        }
        if (status == LinkStatus.PENDING && !connection.isLost()) {
            if (givingUp.hasBegun()) {
                posted.isAwaited(); // and breaks the connection up if that takes too long
            }
            return false;
        }
        return conclude(status == LinkStatus.COMPLETE ? givingUp.why() : connection.failure());
    }

    private int move() {
        try {
            return givingUp.hasBegun() ? insertion.finishAbort() : insertion.finish();
        } catch (IllegalStateException | WrongThreadException e) {
            engine.afterFreedMemory();
            givingUp.forGoneMemory(messageNumber, e);
            return insertion.finishAbort();
        }
    }

    /** Ends the message, unless a network still reads memory of it; returns whether it has ended. */
    private boolean conclude(@Nullable MadeleineException failure) {
        if (posted.isPossible() && isStillRead(failure)) {
            releasing = true;
            return false;
        }
        concludeNow(posted.isPossible() ? outcome : failure);
        return true;
    }

    private boolean isStillRead(@Nullable MadeleineException failure) {
        outcome = failure;
        if (!posted.isHeld()) {
            return false;
        }
        if (failure == null && (connection.isLost() || stopped)) {
            outcome = connection.failure();
        }
        boolean givenUp = outcome != null || givingUp.isRequestedFor(messageNumber);
        return givenUp ? posted.isAwaited() : posted.isHeld();
    }

    private void concludeNow(@Nullable MadeleineException failure) {
        OutgoingHandle ended = handle;
        SendBmm last = insertion.last();
        long number = messageNumber++;
        boolean demanded = raisedDemand;
        insertion.nextMessage();
        blockCount = 0;
        givingUp.nextMessage();
        outcome = null;
        raisedDemand = false;
        if (posted.isPossible()) {
            releasing = false;
            posted.reset();
        }
        ended.end(failure);
        queue.willBeFree();
        turn.giveBack();
        if (!givingUp.isLinkBroken()) {
            last.announce();
        }
        givingUp.withdrawRequest(number);
        if (demanded) {
            engine.lowerDemand();
        }
        engine.signal(news);
        TurnQueue.Place first = queue.first();
        boolean hasTasksNext = first != null && tell(first);
        ended.completion().leave();
        if (hasTasksNext) {
            connection.channel().taskRunner().run();
        }
    }

    /** Lets waits see that the connection is lost. */
    void connectionLost() {
        engine.signal(news);
        tellFirst();
        tellTasksOfLoss();
    }

    private void tellTasksOfLoss() {
        if (tasks.isDue()) {
            tasks.markReady();
            connection.channel().taskRunner().leaveToLeader(); // this may be called from within a link
        }
    }

    /** Nothing is to be sent any more. What is on its way fails in the leader's next round. */
    void stop() {
        stopped = true;
        tellTasksOfLoss();
    }

    /** Whether a message that its user has ended is still on its way. */
    boolean isOnItsWay() {
        return turn.isHandedOn();
    }

    /** Whether a message uses memory of a region, which it may also if a network still reads something. Any thread. */
    boolean uses(Region region) {
        return !isFree() && (posted.isHeld() || insertion.touches(region));
    }

    /** Whether that is so and nobody waits for it: the session has promised to send it, or that it is aborted. */
    boolean isPromised() {
        return isOnItsWay() && (raisedDemand || givingUp.isRequested());
    }

    private String progressText() {
        return blockCount + " blocks packed, the last by "
                + table.modules().get(insertion.currentLink()).id();
    }
}
