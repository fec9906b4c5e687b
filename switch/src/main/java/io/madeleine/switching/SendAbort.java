package io.madeleine.switching;

import io.madeleine.api.MessageAbortedException;
import io.madeleine.pmm.ProgressEngine;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Tracks whether and why the outgoing message of a connection is being given up: its user closes it before its end, the
 * memory of a block was freed, or a link threw something that the SPI does not allow.
 *
 * <p>Threading: as {@link SendHalf}, by the owner of the message. Any thread may use the requests,
 * {@link #orphaned}, {@link #isDecidedFor} and {@link #isAborted}.
 */
final class SendAbort {
    /** Stands for no message. */
    static final long NO_MESSAGE = -1;

    private static final VarHandle ORPHANED = orphanedHandle();

    private final ConnectionContext connection;
    private final ProgressEngine engine;
    private final Insertion insertion;

    /** The reason; null while the message is not being given up. */
    private @Nullable MessageAbortedException why;

    /** The number of the last message that was given up. */
    private volatile long abortedNumber = NO_MESSAGE;

    /** The number of the last message for which it is decided whether it is given up, or whether it is too late. */
    private volatile long decidedNumber = NO_MESSAGE;

    /**
     * The number of an open message without an owner: its user ran out of stack or memory even for giving it up. Set by
     * a field access, since there may be no stack left for a call.
     */
    volatile long orphaned = NO_MESSAGE;

    /**
     * The number of the sealed message that its user wants aborted, or {@link #NO_MESSAGE}; while it is set, it holds a
     * demand.
     */
    private final AtomicLong request = new AtomicLong(NO_MESSAGE);

    /** The state of the links is unknown; they are not accessed any more. */
    private boolean linkBroken;

    /** The throwable that broke a link, until its user gets it. */
    private @Nullable Throwable escaped;

    SendAbort(ConnectionContext connection, Insertion insertion) {
        this.connection = connection;
        this.engine = connection.engine();
        this.insertion = insertion;
    }

    private static VarHandle orphanedHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(SendAbort.class, "orphaned", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // ---- the current message

    /** Whether the current message is being given up. */
    boolean hasBegun() {
        return why != null;
    }

    /**
     * Whether it is decided that this message is given up, or that it is too late; either way nothing accesses its
     * blocks.
     */
    boolean isDecidedFor(long number) {
        return decidedNumber == number;
    }

    /** Whether this message was given up in time. */
    boolean isAborted(long number) {
        return abortedNumber == number;
    }

    /** The reason for giving up; null if the message is not being given up. */
    @Nullable
    MessageAbortedException why() {
        return why;
    }

    void throwIfBegun() {
        if (why != null) {
            throw MessageFailures.seenFromHere(why);
        }
    }

    /**
     * Gives the message up for its user, unless this has begun already, or the whole message has left and will end
     * successfully.
     */
    void forItsUser(long number) {
        if (why == null && !insertion.isCommitted()) {
            why = new MessageAbortedException("the message " + connection.fromHere() + " was closed before its end");
        }
        if (why != null) {
            abandon(number);
        }
        decidedNumber = number;
    }

    /** Gives the message up because a block cannot be read any more, unless this has begun already. */
    void forGoneMemory(long number, RuntimeException seen) {
        ProgressEngine.afterFreedMemory();
        if (why == null) {
            why = new MessageAbortedException(
                    "the message " + connection.fromHere()
                            + " was aborted: the memory of a block became inaccessible while it was in flight ("
                            + seen.getMessage()
                            + "); keep its arena open until the end of packing, and pack and end a message"
                            + " with confined memory in one thread",
                    seen);
        }
        abandon(number);
    }

    /**
     * Abandons the blocks of a message that is being given up, once. If memory runs out here, the caller repeats this
     * before it does anything else with the message.
     */
    void abandon(long number) {
        if (abortedNumber == number) {
            return;
        }
        if (!linkBroken) {
            insertion.abandon();
        }
        abortedNumber = number;
        decidedNumber = number;
    }

    /** The message has ended. */
    void nextMessage() {
        why = null;
    }

    // ---- requests: the message is sealed and belongs to the leader

    /** Asks the leader to give a message up; {@link #withdrawRequest} follows when the message has ended. */
    void request(long number) {
        engine.raiseDemand();
        while (!request.compareAndSet(NO_MESSAGE, number)) {
            if (isRequestedFor(number)) {
                engine.lowerDemand();
                return; // requested before
            }
            Thread.onSpinWait(); // another thread is withdrawing the request for an earlier message
        }
        engine.lookAgain(); // a leader that sleeps knows nothing of it
    }

    boolean isRequestedFor(long number) {
        return request.get() == number;
    }

    boolean isRequested() {
        return request.get() != NO_MESSAGE;
    }

    void withdrawRequest(long number) {
        if (request.get() == number && request.compareAndSet(number, NO_MESSAGE)) {
            engine.lowerDemand();
        }
    }

    // ---- a message whose owner ran out of stack or memory

    /** Whether there is a message that the next thread that wants to begin has to give up. */
    boolean hasOrphaned() {
        return orphaned != NO_MESSAGE;
    }

    /**
     * Takes over such a message.
     *
     * @return its number, or {@link #NO_MESSAGE} if another thread has taken it over
     */
    long takeOrphaned() {
        long number = orphaned;
        return number != NO_MESSAGE && (boolean) ORPHANED.compareAndSet(this, number, NO_MESSAGE) ? number : NO_MESSAGE;
    }

    // ---- broken links

    boolean isLinkBroken() {
        return linkBroken;
    }

    /** Whether the throwable leaves the state of a link unknown; if so, gives the connection up. */
    boolean isLinkBrokenBy(Throwable seen) {
        if (!connection.isBrokenBy(seen, insertion.isStateUnknown())) {
            return false;
        }
        linkBroken = true;
        connection.breakUpAfter(seen);
        return true;
    }

    /** Keeps the throwable that a link threw while the message was moved, for its user if the user's call moved it. */
    void escaped(Throwable seen) {
        escaped = seen;
    }

    /**
     * Throws the throwable that a link threw while the caller moved its message. The message itself ends with another
     * failure.
     */
    void throwEscaped() {
        Throwable seen = escaped;
        escaped = null;
        if (seen instanceof RuntimeException e) {
            throw e;
        }
        if (seen instanceof Error e) {
            throw e;
        }
    }
}
