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
 * How a message ended, and when the object that stands for it may stand for another one; the latter is decided here and
 * nowhere else.
 *
 * <p>A message is open, then it has ended, then it is over: whoever brought the end about has nothing more to do with it. Its
 * user closes it, at any of these times. The object is free to serve again once it is over and closed and no thread is inside,
 * which is to say in a call that waits for this message: such a call may run a handler that begins the next one.
 *
 * <p>Threading: thread-safe; begun by one thread, ended once per message. The usual way of a message costs no fence.
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

    /** How many threads are in a call that waits. */
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

    /** Whether nobody has anything to do with the message any more: the object may serve another one. */
    boolean isFree() {
        return closed.isUp() && (int) STAGE.getAcquire(this) == OVER && inside == 0;
    }

    /** Another message begins, whose object has been {@linkplain #isFree() free}. */
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
     * Ends the message. The caller passes a full fence, signals the waitable, and then {@linkplain #leave() leaves}.
     *
     * @param outcome what went wrong, or null
     */
    void end(@Nullable MadeleineException outcome) {
        failure = outcome;
        STAGE.setRelease(this, ENDED);
    }

    /** Ends the message well, which nobody else can know of yet; that is all the caller has to do with it. */
    void endAndLeave() {
        failure = null;
        STAGE.setRelease(this, OVER);
    }

    /** Whoever ended the message has done with it; calls the action if there is one and nobody has called it. */
    void leave() {
        Runnable taken = takeAction();
        STAGE.setRelease(this, OVER); // from here on the object may be another message's
        if (taken != null) {
            run(taken);
        }
    }

    /** The user has done with the message; the object is not to be touched any more. */
    void close() {
        closed.raise();
    }

    boolean isClosed() {
        return closed.isUp();
    }

    /** A thread begins a call that may run handlers before it looks at this object again; {@link #exit} follows. */
    void enter() {
        INSIDE.getAndAdd(this, 1);
    }

    void exit() {
        INSIDE.getAndAdd(this, -1);
    }

    /** Waits, on behalf of the message's user, in whose hands the object stays meanwhile. */
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

    /** Waits for an end that comes soon, whatever happens: memory depends on it. An interrupt is left to the next wait. */
    void awaitEndInAnyCase() {
        awaitInAnyCase(this);
    }

    /** As {@link #awaitEndInAnyCase}, for something else that ends with the message at the latest. */
    void awaitInAnyCase(Condition condition) {
        boolean interrupted = false;
        try {
            while (!condition.isMet()) {
                try {
                    await(waitable, condition, ProgressEngine.NO_DEADLINE);
                } catch (WaitInterruptedException _) {
                    Thread.interrupted(); // else the next wait would end at once, too
                    interrupted = true;
                } catch (SessionException _) {
                    return; // it is closed, and has taken back whatever was posted
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether the message, which has ended, has not failed. */
    boolean hasEndedWell() {
        return failure == null;
    }

    /** Throws what went wrong, as seen from the calling thread. */
    void throwFailure() {
        if (failure != null) {
            throw Failures.seenFromHere(failure);
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
        } catch (RuntimeException | Error e) { // the thread that happens to call it is not to blame
            FAILURES.error("the action of a completion failed", e);
        } finally {
            engine.afterUsersCode(wasInterrupted);
        }
    }

    // ---- what the user sees

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
            run(replaced); // whoever brought the end about has not come to it yet
        }
        if (isMet()) {
            Runnable taken = takeAction();
            if (taken != null) {
                run(taken);
            }
        }
    }
}
