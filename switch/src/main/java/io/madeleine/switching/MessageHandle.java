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
 * What an incoming and an outgoing message, as their users hold them, have in common: one object serves message after
 * message. When it may do so its {@link MessageCompletion} decides.
 *
 * <p>Threading: one thread at a time; the end comes from whoever brings it about.
 */
abstract class MessageHandle {
    private static final long NOBODY = -1;

    private final SwitchedConnection connection;
    private final MessageCompletion completion;
    private final MemorySegment scratch;
    private boolean ending;
    boolean asynchronous;
    long number;
    private long deadlineNs;

    /** The id of the thread, not the thread: storing a reference costs a fence under some collectors. */
    private long closedBy = NOBODY;

    MessageHandle(SwitchedConnection connection, MessageCompletion completion, MemorySegment scratch) {
        this.connection = connection;
        this.completion = completion;
        this.scratch = scratch;
    }

    // ---- the life of the object

    /** Whether it may serve another message. */
    final boolean isFree() {
        return completion.isFree();
    }

    /** Whether it may serve another message at once: that thread has closed it, and nobody has a completion of it. */
    final boolean isFreeFor(long threadId) {
        return completion.isFree() && (closedBy == threadId || closedBy == NOBODY) && !asynchronous;
    }

    /** Stands for a message from now on. */
    void begin(long messageNumber) {
        number = messageNumber;
        deadlineNs = ProgressEngine.NO_DEADLINE;
        ending = false;
        asynchronous = false;
        completion.begin();
    }

    /** Whether the message has not ended. */
    final boolean isOpen() {
        return completion.isOpen();
    }

    /** The message has ended; the caller signals afterwards, and then {@linkplain MessageCompletion#leave() leaves}. */
    final void end(@Nullable MadeleineException failure) {
        completion.end(failure);
    }

    final MessageCompletion completion() {
        return completion;
    }

    /** Which of the connection's messages it is. */
    final long number() {
        return number;
    }

    /** The user has done with the message: the last thing that the object is used for. */
    final void leaveToNext() {
        closedBy = Thread.currentThread().threadId();
        completion.close();
    }

    // ---- the user's calls

    /** A block and its modes, none of which may be null. */
    static void require(@Nullable Object block, @Nullable SendMode sendMode, @Nullable ReceiveMode receiveMode) {
        Objects.requireNonNull(block, "block");
        Objects.requireNonNull(sendMode, "sendMode");
        Objects.requireNonNull(receiveMode, "receiveMode");
    }

    final SwitchedConnection connection() {
        return connection;
    }

    /** Eight bytes of native memory, for numbers on their way. */
    final MemorySegment scratch() {
        return scratch;
    }

    /** Whether the user has asked for the end. */
    final boolean isEnding() {
        return ending;
    }

    final void startEnding() {
        ending = true;
    }

    /** The user has asked for the end, and leaves it to the session. */
    final void startEndingAsync() {
        ending = true;
        asynchronous = true;
    }

    /** Whether the user's {@code close} gives the message up: it is open, and its end is not left to the session. */
    final boolean isGivenUpByClose() {
        return isOpen() && !asynchronous;
    }

    final long deadlineNs() {
        return deadlineNs;
    }

    final void bound(long timeout, TimeUnit unit) {
        deadlineNs = Deadlines.after(timeout, unit);
    }

    final void boundUntil(long givenNs) {
        deadlineNs = givenNs;
    }

    /** Waits as long as the message's waits may take; false at the deadline. */
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
