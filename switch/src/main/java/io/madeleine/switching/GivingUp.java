package io.madeleine.switching;

import io.madeleine.api.MessageAbortedException;
import io.madeleine.pmm.ProgressEngine;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Why and how far the outgoing message of a connection is being given up: its user closes it before its end, the memory of a
 * block has gone, or something that no link throws came out of one.
 *
 * <p>Threading: as {@link SendHalf}, by who has the message; requests, what is left to others, and whether it has begun for a message are for any
 * thread.
 */
final class GivingUp {
    /** The number of no message. */
    static final long NO_MESSAGE = -1;

    private static final VarHandle LEFT_TO_OTHERS = leftToOthersHandle();

    private final SwitchedConnection connection;
    private final ProgressEngine engine;
    private final Insertion insertion;

    /** Why the message is being given up; null while it is not. */
    private @Nullable MessageAbortedException why;

    /** The last message that was given up. */
    private volatile long abortedNumber = NO_MESSAGE;

    /** The last message of which its user has asked that, and it is known whether it is, or too late. */
    private volatile long decidedNumber = NO_MESSAGE;

    /**
     * The number of an open message that is nobody's any more: the stack of its user, or memory, has come to its end, even for
     * giving it up. Set without a call, for which there may be no room.
     */
    volatile long leftToOthers = NO_MESSAGE;

    /** The number of the sealed message that its user wants aborted, or {@link #NO_MESSAGE}; it holds a demand. */
    private final AtomicLong request = new AtomicLong(NO_MESSAGE);

    /** Nobody knows what is in the links, which are not touched any more. */
    private boolean linkBroken;

    /** What has brought that about, until the user has it. */
    private @Nullable Throwable escaped;

    GivingUp(SwitchedConnection connection, Insertion insertion) {
        this.connection = connection;
        this.engine = connection.engine();
        this.insertion = insertion;
    }

    private static VarHandle leftToOthersHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(GivingUp.class, "leftToOthers", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // ---- the message on its way

    /** Whether the message is being given up. */
    boolean hasBegun() {
        return why != null;
    }

    /** Whether a message is being given up, or was, or it is too late for that; in any case nobody looks at its blocks any more. */
    boolean isDecidedFor(long number) {
        return decidedNumber == number;
    }

    /** Whether a message was given up, and not too late. */
    boolean isAborted(long number) {
        return abortedNumber == number;
    }

    /** Why the message is given up; null if it is not. */
    @Nullable
    MessageAbortedException why() {
        return why;
    }

    void throwIfBegun() {
        if (why != null) {
            throw Failures.seenFromHere(why);
        }
    }

    /** Begins, as the user has closed the message; unless it has begun, or all of it has left and it is going to end well. */
    void forItsUser(long number) {
        if (why == null && !insertion.isBeyondRecall()) {
            begin(
                    number,
                    new MessageAbortedException("the message " + connection.fromHere() + " was closed before its end"));
        }
        decidedNumber = number;
    }

    /** Begins, as a block cannot be read any more; unless it has begun. */
    void forGoneMemory(long number, RuntimeException seen) {
        if (why == null) {
            begin(
                    number,
                    new MessageAbortedException(
                            "the message " + connection.fromHere()
                                    + " was given up: the memory of a block became inaccessible while it was in flight ("
                                    + seen.getMessage()
                                    + "); keep its arena open until the end of packing, and confined memory to"
                                    + " the thread that packs and ends",
                            seen));
        }
    }

    private void begin(long number, MessageAbortedException reason) {
        why = reason;
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

    // ---- requests: the message is sealed, and the leader's

    /** Asks for a message to be given up; {@link #withdrawRequest} follows when it has ended. */
    void request(long number) {
        engine.raiseDemand();
        while (!request.compareAndSet(NO_MESSAGE, number)) {
            if (isRequestedFor(number)) {
                engine.lowerDemand();
                return; // it has been asked before
            }
            Thread.onSpinWait(); // one for an earlier message is being withdrawn
        }
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

    // ---- what a thread could not do at the end of its stack or memory

    /** Whether there is a message that the next one who wants to begin gives up. */
    boolean isLeftToOthers() {
        return leftToOthers != NO_MESSAGE;
    }

    /** Takes that on: the number of the message, or {@link #NO_MESSAGE} if another thread has. */
    long takeLeft() {
        long number = leftToOthers;
        return number != NO_MESSAGE && (boolean) LEFT_TO_OTHERS.compareAndSet(this, number, NO_MESSAGE)
                ? number
                : NO_MESSAGE;
    }

    // ---- broken links

    boolean isLinkBroken() {
        return linkBroken;
    }

    /** Whether what came out of a link leaves nobody knowing how far it came; then the connection is given up. */
    boolean isLinkBrokenBy(Throwable seen) {
        if (!connection.isBrokenBy(seen, insertion.hasLostTrack())) {
            return false;
        }
        linkBroken = true;
        connection.breakUpAfter(seen);
        return true;
    }

    /** That came out of a link as the message was moved, and is for its user if that has moved it. */
    void escaped(Throwable seen) {
        escaped = seen;
    }

    /** Throws what came out of a link as the caller moved its message: the message has ended, and says so to others. */
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
