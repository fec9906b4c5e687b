package io.madeleine.switching;

import io.madeleine.api.Completion;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.Deadlines;
import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.StackRoom;
import io.madeleine.pmm.Waitable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a message, and the only place that decides when the message object may serve another message.
 *
 * <p>A message is OPEN, then ENDED, then OVER: the thread that ended it does not access it any more. The user closes it
 * in any of these stages. The object is free for another message when it is OVER and closed, and no thread is inside a
 * call that waits for it: such a call may run a handler that begins the next message.
 *
 * <p>Threading: thread-safe; one thread begins it, one thread ends it, once per message. The usual case costs no fence.
 */
final class MessageCompletion implements Completion, Condition {
    private static final FailureLog FAILURES = new FailureLog(System.getLogger("io.madeleine.switching"));

    private static final int OPEN = 0;
    private static final int ENDED = 1;
    private static final int OVER = 2;

    private static final VarHandle STAGE = handle("stage", int.class);
    private static final VarHandle INSIDE = handle("inside", int.class);
    private static final VarHandle ACTION = handle("action", Runnable.class);

    private final ProgressEngine engine;
    private final Waitable waitable;
    private final Flag closed = new Flag();

    @SuppressWarnings("unused") // through STAGE
    private int stage = OVER;

    /** The number of threads inside a call that waits. */
    private volatile int inside;

    private @Nullable MadeleineException failure;
    private volatile @Nullable Runnable action;

    MessageCompletion(ProgressEngine engine, Waitable waitable) {
        this.engine = engine;
        this.waitable = waitable;
        closed.raise();
    }

    private static VarHandle handle(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(MessageCompletion.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // ---- the life of the object

    /** Whether no thread uses the object for its message any more, so that it may serve another. */
    boolean isFree() {
        return closed.isUp() && (int) STAGE.getAcquire(this) == OVER && inside == 0;
    }

    /** Begins another message; the object was {@linkplain #isFree() free}. */
    void begin() {
        failure = null;
        if (action != null) {
            action = null;
        }
        closed.lower();
        STAGE.setRelease(this, OPEN);
    }

    boolean isOpen() {
        return (int) STAGE.getAcquire(this) == OPEN;
    }

    /**
     * Ends the message. The caller then issues a full fence, signals the waitable, and {@linkplain #leave() leaves}.
     *
     * @param outcome the failure, or null
     */
    void end(@Nullable MadeleineException outcome) {
        failure = outcome;
        STAGE.setRelease(this, ENDED);
    }

    /**
     * Ends the message successfully when no other thread can observe it yet; the caller does not access it any more.
     */
    void endAndLeave() {
        failure = null;
        STAGE.setRelease(this, OVER);
    }

    /**
     * The last access of the thread that ended the message. Calls the action, if there is one and no other thread has
     * called it.
     */
    void leave() {
        Runnable taken = takeAction();
        STAGE.setRelease(this, OVER); // from here on the object may serve another message
        if (taken != null) {
            run(taken);
        }
    }

    /** Closes the message; the user does not access the object any more. */
    void close() {
        closed.raise();
    }

    boolean isClosed() {
        return closed.isUp();
    }

    /** Enters a call that may run handlers before it accesses this object again; {@link #exit} follows. */
    void enter() {
        INSIDE.getAndAdd(this, 1);
    }

    void exit() {
        INSIDE.getAndAdd(this, -1);
    }

    /** Waits for the message's user; the object is not reused meanwhile. */
    boolean await(Waitable on, Condition condition, long deadlineNs) {
        StackRoom.ensure();
        enter();
        try {
            return engine.await(on, condition, deadlineNs);
        } finally {
            exit();
        }
    }

    /** Waits for the end; false at the deadline. */
    boolean awaitEnd(long deadlineNs) {
        return isMet() || await(waitable, this, deadlineNs);
    }

    /**
     * Waits for an end that is certain to come soon, since memory depends on it. Leaves an interrupt to the next wait.
     */
    void awaitEndInAnyCase() {
        awaitInAnyCase(this);
    }

    /** As {@link #awaitEndInAnyCase}, for a condition that holds at the latest when the message has ended. */
    void awaitInAnyCase(Condition condition) {
        boolean interrupted = false;
        try {
            while (!condition.isMet()) {
                try {
                    await(waitable, condition, ProgressEngine.NO_DEADLINE);
                } catch (WaitInterruptedException _) {
                    Thread.interrupted(); // otherwise the next wait would end at once, too
                    interrupted = true;
                } catch (SessionException _) {
                    return; // the session is closed and has taken back all posted memory
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether the ended message was successful. */
    boolean hasEndedWell() {
        return failure == null;
    }

    /** Throws the failure, if there is one, with a stack trace of the calling thread. */
    void throwFailure() {
        if (failure != null) {
            throw MessageFailures.seenFromHere(failure);
        }
    }

    // ---- the action

    private @Nullable Runnable takeAction() {
        return action == null ? null : (Runnable) ACTION.getAndSet(this, null);
    }

    private void run(Runnable taken) {
        boolean wasInterrupted = Thread.interrupted();
        try {
            taken.run();
        } catch (Throwable e) { // not thrown on: the calling thread did not cause it
            FAILURES.error("the action of a completion failed", e);
        } finally {
            engine.afterUsersCode(wasInterrupted);
        }
    }

    // ---- the user's view

    @Override
    public boolean isMet() {
        return !isOpen();
    }

    @Override
    public boolean isDone() {
        if (isMet()) {
            return true;
        }
        StackRoom.ensure();
        enter();
        try {
            engine.progress();
            return isMet();
        } finally {
            exit();
        }
    }

    @Override
    public void await() {
        awaitEnd(ProgressEngine.NO_DEADLINE);
        throwFailure();
    }

    @Override
    public boolean await(long timeout, TimeUnit unit) {
        if (!awaitEnd(Deadlines.after(timeout, unit))) {
            return false;
        }
        throwFailure();
        return true;
    }

    @Override
    public void onDone(Runnable action) {
        Objects.requireNonNull(action, "action");
        boolean tooLate = isMet();
        Runnable replaced = (Runnable) ACTION.getAndSet(this, action);
        if (tooLate && replaced != null) {
            run(replaced); // the message has ended, but the thread that ended it has not called the action yet
        }
        if (isMet()) {
            Runnable taken = takeAction();
            if (taken != null) {
                run(taken);
            }
        }
    }
}
