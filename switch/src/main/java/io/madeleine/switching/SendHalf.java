package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.bmm.SendBmm;
import io.madeleine.bmm.StagingPool;
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
 * The sending half of a connection: one outgoing message after the other. Each block goes through the {@link Insertion}
 * to the link that the selection table names.
 *
 * <p>Threading: while a message is open, only its user accesses it; the user holds the {@link BiasedSendLock}. When the
 * message is sealed, the user hands the lock over to the leader, which accesses the message in {@link #step}. The lock
 * and the engine's queue publish the state from one to the other; no other lock is needed.
 */
final class SendHalf implements Step {
    private static final long NOBODY = -1;

    private final ConnectionContext connection;
    private final ProgressEngine engine;
    private final SelectionTable table;
    private final Insertion insertion;
    private final PostedMemory posted;
    private final boolean selfDescribed;
    private final MemorySegment descriptor = MemorySegment.ofArray(new byte[BlockDescriptor.BYTES]);
    private final Waitable changed;
    private final SendLockQueue queue;
    private final BiasedSendLock sendLock;
    private final TaskRunner taskRunner;
    private final TaskLine tasks;

    /** The id of the thread that holds the send lock for a send task and has not begun a message yet. */
    private volatile long claimant = NOBODY;

    private final Handles<OutgoingHandle> handles;
    private OutgoingHandle handle;
    private int blockCount;
    private boolean raisedDemand;

    /** Everything has been sent or given up, but a network still reads memory of the message. */
    private boolean releasing;

    /** This process is leaving, or a link is closed: nothing is sent any more, not even the rest of a message. */
    private volatile boolean stopped;

    /** The giving-up of messages. A field, since there may be no stack left for an accessor. */
    final SendAbort sendAbort;

    /** The outcome of the message while it is {@link #releasing}. */
    private @Nullable MadeleineException outcome;

    private long messageNumber;

    SendHalf(
            ConnectionContext connection,
            List<TransmissionLink> links,
            SelectionTable table,
            StagingPool stagingPool,
            TaskRunner taskRunner) {
        this.connection = connection;
        this.engine = connection.engine();
        this.changed = connection.newWaitable(
                "use endPackingAsync in place of endPacking, and Completion.onDone in place of await");
        this.queue = new SendLockQueue(
                () -> connection.newWaitable("use tryBeginPacking in place of beginPacking"),
                this::isFree,
                this::isVain);
        this.sendLock = new BiasedSendLock(() -> !queue.isEmpty());
        this.taskRunner = taskRunner;
        this.tasks = new TaskLine(this, queue, taskRunner, engine);
        this.table = table;
        this.selfDescribed = connection.isSelfDescribed();
        this.insertion = new Insertion(links, engine.absentThread(), stagingPool);
        this.posted = new PostedMemory(connection, links);
        this.sendAbort = new SendAbort(connection, insertion);
        this.handles = new Handles<>(scratch -> new OutgoingHandle(this, changed, scratch));
        this.handle = handles.take();
    }

    ConnectionContext connection() {
        return connection;
    }

    // ---- beginning

    /**
     * Begins a message, unless another one is open or on its way, or the send lock is reserved for the first in line.
     */
    @Nullable
    OutgoingHandle tryBegin() {
        return isTaken() || queue.isReserved() ? takeClaimed() : take();
    }

    /** Whether the send lock can be taken. */
    boolean isFree() {
        return sendLock.isFree();
    }

    private boolean isTaken() {
        if (isFree()) {
            return false;
        }
        if (sendAbort.hasOrphaned()) {
            abortOrphaned();
        }
        return true;
    }

    private @Nullable OutgoingHandle take() {
        return sendLock.tryTake() ? start() : null;
    }

    /** The number of messages that have ended; a hint for other threads. */
    long messageCount() {
        return messageNumber;
    }

    /** Begins a message; the calling thread holds the send lock. */
    private OutgoingHandle start() {
        if (isLost()) {
            sendLock.releaseUnbiased();
            throw connection.failure();
        }
        try {
            handle = handles.take();
        } catch (Throwable e) { // out of memory, for instance
            sendLock.releaseUnbiased();
            tellFirst();
            throw e;
        }
        handle.begin(messageNumber);
        return handle;
    }

    /** Throws the reason if no message can begin any more. */
    void throwIfLost() {
        if (isLost()) {
            throw connection.failure();
        }
    }

    OutgoingHandle begin(long deadlineNs) {
        OutgoingHandle begun = tryBegin();
        return begun != null ? begun : beginInLine(deadlineNs);
    }

    private OutgoingHandle beginInLine(long deadlineNs) {
        SendLockQueue.Place place = queue.join(engine.isInHandler());
        try {
            sendLock.prepareToWait();
            while (true) {
                OutgoingHandle begun = !isTaken() && queue.isFirst(place) ? take() : null;
                if (begun != null) {
                    return begun;
                }
                if (!engine.await(place.changed(), place, deadlineNs)) {
                    throw new DeadlineExceededException("beginPacking " + connection.fromHere()
                            + ": the previous message was still open or on its way at the deadline (" + progressText()
                            + ")");
                }
                throwIfLost();
            }
        } finally {
            queue.leave(place);
            wakeFirstIfFree(); // passes a wake-up that this thread may have got on to the next
        }
    }

    /** Called after a place has left the line: wakes the first if the send lock is free. */
    void wakeFirstIfFree() {
        if (isFree() || isVain()) {
            tellFirst();
        }
    }

    /** Whether no message can begin any more. */
    boolean isLost() {
        return connection.isLost() || stopped;
    }

    /** Whether waiting for the send lock is pointless, or a message without an owner has to be given up first. */
    private boolean isVain() {
        return isLost() || sendAbort.hasOrphaned();
    }

    private void tellFirst() {
        SendLockQueue.Place first = queue.first();
        if (first != null && tell(first)) {
            taskRunner.leaveToLeader();
        }
    }

    /**
     * Wakes the place, whose turn may have come.
     *
     * @return whether it is a place of send tasks, which the caller has to have run
     */
    private boolean tell(SendLockQueue.Place place) {
        TaskLine line = place.tasks();
        if (line == null) {
            engine.signalOne(place.changed());
            return false;
        }
        line.markReady();
        return true;
    }

    // ---- send tasks

    TaskLine tasks() {
        return tasks;
    }

    /**
     * The calling thread has joined the line, itself or with a task: either it sees the send lock free, or the thread
     * that releases it sees it.
     */
    void prepareToWait() {
        sendLock.prepareToWait();
    }

    /**
     * Takes the send lock for the task that the calling thread is about to run, if that place is the first and the lock
     * is free.
     */
    boolean claim(SendLockQueue.Place place) {
        if (isTaken() || !queue.isFirst(place) || !sendLock.tryTake()) {
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

    /** Releases the send lock if the task has not begun a message. */
    void releaseClaim() {
        if (claimant != Thread.currentThread().threadId()) {
            return;
        }
        claimant = NOBODY;
        queue.willBeFree();
        sendLock.release();
        tellFirst();
    }

    /**
     * Sends a message of one block in one step, if no other thread is sending or waiting, and a packet of the primary
     * link takes it at once: without a message object, and without the state that only a message of several steps
     * needs.
     *
     * @return whether the message has left; if not, nothing has changed, and the caller has to begin, pack and end it,
     *     which also reports what is in the way
     */
    boolean sendWhole(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        return table.select(bytes, sendMode, receiveMode) == 0
                && sendInOneStep(block, offset, bytes, receiveMode == ReceiveMode.EXPRESS);
    }

    /** As {@link #sendWhole}, for a header and a body that lie one behind the other and share a packet. */
    boolean sendTogether(
            MemorySegment blocks,
            long offset,
            long headerBytes,
            long bodyBytes,
            SendMode sendMode,
            ReceiveMode receiveMode) {
        return table.select(headerBytes, SendMode.SAFER, ReceiveMode.EXPRESS) == 0
                && table.select(bodyBytes, sendMode, receiveMode) == 0
                && sendInOneStep(blocks, offset, headerBytes + bodyBytes, true);
    }

    private boolean sendInOneStep(MemorySegment block, long offset, long bytes, boolean express) {
        if (selfDescribed || !queue.isEmpty() || !sendLock.tryTake()) {
            return false;
        }
        int status = LinkStatus.CLOSED;
        try {
            if (!isLost()) {
                status = insertion.sendWhole(block, offset, bytes, express);
                messageNumber += status == LinkStatus.COMPLETE ? 1 : 0;
            }
        } catch (IllegalStateException | WrongThreadException _) { // the block's memory was freed
            ProgressEngine.afterFreedMemory();
            return false;
        } catch (RuntimeException | Error e) {
            boolean _ = isBrokenBy(e);
            throw e;
        } finally {
            queue.willBeFree();
            sendLock.release();
            if (!queue.isEmpty()) {
                wakeFirstIfFree();
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
        sendAbort.throwIfBegun();
        int status = LinkStatus.COMPLETE;
        try {
            status = insertion.add(link, block, sendMode, receiveMode == ReceiveMode.EXPRESS);
        } catch (RuntimeException | Error e) {
            packFailed(e);
        }
        throwIfClosed(status);
    }

    /** Packs the descriptor if blocks have descriptors; returns the link for the block. */
    private int startBlock(long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        if (stopped) {
            throw connection.failure(); // if the block were only referenced, nothing would report the failure
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
        sendAbort.throwIfBegun();
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

    /**
     * Throws the reason why a block could not be taken: its memory was freed, which aborts the message, or a link
     * threw.
     */
    private void packFailed(Throwable seen) {
        if (seen instanceof IllegalStateException || seen instanceof WrongThreadException) {
            sendAbort.forGoneMemory(messageNumber, (RuntimeException) seen);
            sendAbort.throwIfBegun();
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

    /** Whether the throwable leaves the state of a link unknown; if so, the links are not accessed any more. */
    private boolean isBrokenBy(Throwable seen) {
        boolean breaks = sendAbort.isLinkBrokenBy(seen);
        if (breaks) {
            stopped = true;
        }
        return breaks;
    }

    // ---- ending

    /** Ends the open message and waits until everything is sent. */
    void end(OutgoingHandle ending) {
        if (seal(false)) {
            sendAbort.throwEscaped();
            ending.completion().throwFailure();
        } else {
            awaitEnd(ending);
        }
    }

    /**
     * Waits until the message, whose end was asked for, has ended. It may have ended before, and other messages may
     * have begun.
     */
    void awaitEnd(OutgoingHandle ending) {
        if (!ending.completion().awaitEnd(ending.deadlineNs())) {
            throw new DeadlineExceededException("endPacking " + connection.fromHere()
                    + " did not finish before its deadline: " + progressText() + "; rank " + connection.rank()
                    + " has to unpack, or set a later deadline");
        }
        ending.completion().throwFailure();
    }

    /** Ends the open message without waiting. */
    void endAsync() {
        long number = messageNumber;
        try {
            if (seal(true)) {
                sendAbort.throwEscaped();
            }
        } catch (Throwable e) {
            if (sendLock.isTaken() && messageNumber == number) {
                sendAbort.orphaned = number; // the user's close does not abort a message that ends asynchronously
            }
            throw e;
        }
    }

    /** Finishes the open message, or leaves it to the leader; returns whether it has ended. */
    private boolean seal(boolean unattended) {
        if (advance()) {
            return true;
        }
        try {
            insertion.copyConfinedAside();
        } catch (IllegalStateException | WrongThreadException e) {
            sendAbort.forGoneMemory(messageNumber, e);
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
        sendLock.handOver();
        try {
            engine.enqueue(this);
        } catch (Throwable e) { // out of memory, for instance
            sendLock.takeBack();
            throw e;
        }
    }

    /** Gives up the message with this number, unless it has ended; called by its user. */
    void abort(long number) {
        if (sendLock.isTaken() && messageNumber == number) {
            abortOpen();
            return;
        }
        sendAbort.request(number);
        if (!sendLock.isHandedOver() || messageNumber != number) {
            sendAbort.withdrawRequest(number); // the message has just ended
        }
    }

    /** Whether a message that its user tried to give up has ended successfully all the same, or will. */
    boolean hasLeft(OutgoingHandle aborted) {
        return aborted.isOpen()
                ? sendAbort.isDecidedFor(aborted.number()) && !sendAbort.isAborted(aborted.number())
                : aborted.completion().hasEndedWell();
    }

    /** Waits until no thread or network reads memory of the message, which its user has given up. */
    void awaitRelease(OutgoingHandle aborted) {
        long number = aborted.number();
        if (aborted.isOpen()) {
            aborted.completion()
                    .awaitInAnyCase(() -> !aborted.isOpen() || (sendAbort.isDecidedFor(number) && !posted.isHeld()));
        }
    }

    private void abortOpen() {
        try {
            sendAbort.forItsUser(messageNumber);
            if (!advance()) {
                handToLeader(true);
            }
        } catch (Throwable e) { // out of stack or memory
            sendAbort.orphaned = messageNumber; // a field access: there may be no stack left for a call
            throw e;
        }
    }

    /** Gives up the message whose user could not do so. */
    private void abortOrphaned() {
        long number = sendAbort.takeOrphaned();
        if (number != SendAbort.NO_MESSAGE && !isFree() && messageNumber == number) {
            abort(number);
        }
    }

    @Override
    public String toString() {
        return "the sending half of the connection " + connection.fromHere();
    }

    @Override
    public boolean step() {
        if (posted.isPossible()) {
            posted.takeBackIfOverdue();
            if (sendAbort.hasBegun() && !posted.isHeld()) {
                engine.signal(changed); // a user that waits for the memory evaluates its condition
            }
        }
        if (releasing) {
            return conclude(outcome);
        }
        if (sendAbort.isRequestedFor(messageNumber) && !sendAbort.isDecidedFor(messageNumber)) {
            sendAbort.forItsUser(messageNumber);
            engine.signal(changed);
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
            sendAbort.escaped(e);
            return conclude(connection.failure());
        }
        if (status == LinkStatus.PENDING && !connection.isLost()) {
            if (sendAbort.hasBegun()) {
                boolean _ = posted.isAwaited(); // the time limit for the release begins
            }
            return false;
        }
        if (status == LinkStatus.CLOSED) {
            stopped = true; // the thread that begins the next message may learn of the loss before the connection does
        }
        return conclude(status == LinkStatus.COMPLETE ? sendAbort.why() : connection.failure());
    }

    private int move() {
        try {
            if (!sendAbort.hasBegun()) {
                return insertion.finish();
            }
        } catch (IllegalStateException | WrongThreadException e) {
            sendAbort.forGoneMemory(messageNumber, e);
        }
        sendAbort.abandon(messageNumber);
        return insertion.finishAbort();
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
        boolean givenUp = outcome != null || sendAbort.isRequestedFor(messageNumber);
        return givenUp ? posted.isAwaited() : posted.isHeld();
    }

    private void concludeNow(@Nullable MadeleineException failure) {
        OutgoingHandle ended = handle;
        SendBmm last = insertion.last();
        long number = messageNumber++;
        boolean demanded = raisedDemand;
        insertion.nextMessage();
        blockCount = 0;
        sendAbort.nextMessage();
        outcome = null;
        raisedDemand = false;
        if (posted.isPossible()) {
            releasing = false;
            posted.reset();
        }
        ended.end(failure);
        queue.willBeFree();
        sendLock.release();
        if (!sendAbort.isLinkBroken()) {
            last.announce();
        }
        sendAbort.withdrawRequest(number);
        if (demanded) {
            engine.lowerDemand();
        }
        engine.signal(changed);
        SendLockQueue.Place first = queue.first();
        boolean hasTasksNext = first != null && tell(first);
        ended.completion().leave();
        if (hasTasksNext) {
            taskRunner.run();
        }
    }

    /** Wakes waiting threads and tasks so that they see the loss. */
    void connectionLost() {
        engine.signal(changed);
        tellFirst();
        tellTasksOfLoss();
    }

    private void tellTasksOfLoss() {
        if (tasks.isDue()) {
            tasks.markReady();
            taskRunner.leaveToLeader(); // not here: a link may be the caller
        }
    }

    /** Stops sending. A message that is on its way fails in the leader's next round. */
    void stop() {
        stopped = true;
        tellTasksOfLoss();
    }

    /** Whether a message whose end was asked for is still on its way. */
    boolean isOnItsWay() {
        return sendLock.isHandedOver();
    }

    /**
     * Whether a message may use memory of the region, conservatively if a network still reads any memory. Any thread.
     */
    boolean uses(Region region) {
        return !isFree() && (posted.isHeld() || insertion.touches(region));
    }

    /**
     * Whether a message is on its way and no thread waits for it: the session has promised to send it, or to abort it.
     */
    boolean isPromised() {
        return isOnItsWay() && (raisedDemand || sendAbort.isRequested());
    }

    private String progressText() {
        if (blockCount == 0) {
            return "no block is packed";
        }
        String module = table.modules().get(insertion.currentLink()).id();
        return blockCount == 1
                ? "1 block is packed, into " + module
                : blockCount + " blocks are packed, the last into " + module;
    }
}
