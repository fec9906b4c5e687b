package io.madeleine.switching;

import io.madeleine.api.Channel;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.Deadlines;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The common part of incoming and outgoing messages as their users hold them. One object serves message after message;
 * its {@link MessageCompletion} decides when the object is free for the next one.
 *
 * <p>Threading: one user thread at a time; any thread may end the message.
 */
abstract class MessageHandle {
    private static final long NOBODY = -1;

    private final ConnectionContext connection;
    private final MessageCompletion completion;
    private final MemorySegment scratch;
    private boolean ending;
    boolean asynchronous;
    long number;
    private long deadlineNs;

    /**
     * The id of the thread that closed the message. Not the thread: some collectors issue a fence for storing a
     * reference.
     */
    private long closedBy = NOBODY;

    MessageHandle(ConnectionContext connection, MessageCompletion completion, MemorySegment scratch) {
        this.connection = connection;
        this.completion = completion;
        this.scratch = scratch;
    }

    // ---- the life of the object

    /** Whether the object may serve another message. */
    final boolean isFree() {
        return completion.isFree();
    }

    /**
     * Whether the object may serve another message at once: this thread has closed it, and nobody has a completion of
     * it.
     */
    final boolean isFreeFor(long threadId) {
        return completion.isFree() && (closedBy == threadId || closedBy == NOBODY) && !asynchronous;
    }

    /** Begins a message: the object stands for it from now on. */
    void begin(long messageNumber) {
        number = messageNumber;
        deadlineNs = ProgressEngine.NO_DEADLINE;
        ending = false;
        asynchronous = false;
        completion.begin();
    }

    /** Whether the message is open. */
    final boolean isOpen() {
        return completion.isOpen();
    }

    /** Ends the message; the caller signals afterwards, and then {@linkplain MessageCompletion#leave() leaves}. */
    final void end(@Nullable MadeleineException failure) {
        completion.end(failure);
    }

    final MessageCompletion completion() {
        return completion;
    }

    /** The number of the message on its connection. */
    final long number() {
        return number;
    }

    /** Closes the message for its user; the user's last access to the object. */
    final void leaveToNext() {
        closedBy = Thread.currentThread().threadId();
        completion.close();
    }

    // ---- the user's calls

    /** Checks that neither the block nor its modes are null. */
    static void require(@Nullable Object block, @Nullable SendMode sendMode, @Nullable ReceiveMode receiveMode) {
        Objects.requireNonNull(block, "block");
        Objects.requireNonNull(sendMode, "sendMode");
        Objects.requireNonNull(receiveMode, "receiveMode");
    }

    final ConnectionContext connection() {
        return connection;
    }

    /** Eight bytes of native memory, for packing and unpacking numbers. */
    final MemorySegment scratch() {
        return scratch;
    }

    /** Whether the user has called an end method. */
    final boolean isEnding() {
        return ending;
    }

    final void startEnding() {
        ending = true;
    }

    /** The user has called an asynchronous end method. */
    final void startEndingAsync() {
        ending = true;
        asynchronous = true;
    }

    /** Whether the user's {@code close} aborts the message: it is open, and its end is not asynchronous. */
    final boolean isGivenUpByClose() {
        return isOpen() && !asynchronous;
    }

    final long deadlineNs() {
        return deadlineNs;
    }

    final void setDeadline(long timeout, TimeUnit unit) {
        deadlineNs = Deadlines.after(timeout, unit);
    }

    final void setDeadlineNs(long givenNs) {
        deadlineNs = givenNs;
    }

    /** Waits until the deadline of the message at most; returns false at the deadline. */
    final boolean await(Waitable on, Condition condition) {
        return completion.await(on, condition, deadlineNs);
    }

    public final Channel channel() {
        return connection.channel();
    }

    public final int remote() {
        return connection.rank();
    }
}
