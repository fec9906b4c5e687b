package io.madeleine.switching;

import io.madeleine.api.Completion;
import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.Deadlines;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How a message ended. Belongs to a message object and is reset with it.
 *
 * <p>Threading: thread-safe; completed once per message.
 */
final class MessageCompletion implements Completion, Condition {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.switching");
    private static final VarHandle ACTION = actionHandle();

    private final ProgressEngine engine;
    private final Waitable waitable;
    private final Flag done = new Flag();
    private @Nullable MadeleineException failure;
    private volatile @Nullable Runnable action;

    MessageCompletion(ProgressEngine engine, Waitable waitable) {
        this.engine = engine;
        this.waitable = waitable;
    }

    private static VarHandle actionHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(MessageCompletion.class, "action", Runnable.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    void reset() {
        failure = null;
        if (action != null) {
            action = null;
        }
        done.lower();
    }

    /** Ends the message. The caller passes a full fence, signals the waitable, and then runs the action. */
    void complete(@Nullable MadeleineException outcome) {
        failure = outcome;
        done.raise();
    }

    /** Calls the action if there is one and nobody has called it. */
    void runAction() {
        if (action != null) {
            Runnable taken = (Runnable) ACTION.getAndSet(this, null);
            if (taken != null) {
                run(taken);
            }
        }
    }

    /** Before the object is used for another message: whoever ended the last one may not have come to its action yet. */
    void settle() {
        if (done.isUp()) {
            runAction();
        }
    }

    private static void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) { // the thread that happens to call it is not to blame
            LOGGER.log(Level.ERROR, "the action of a completion failed", e);
        }
    }

    /** Throws what went wrong, as seen from the calling thread. */
    void throwFailure() {
        if (failure != null) {
            throw Failures.seenFromHere(failure);
        }
    }

    @Override
    public boolean isMet() {
        return done.isUp();
    }

    @Override
    public boolean isDone() {
        if (!done.isUp()) {
            engine.progress();
        }
        return done.isUp();
    }

    @Override
    public void await() {
        engine.await(waitable, this, ProgressEngine.NO_DEADLINE);
        throwFailure();
    }

    @Override
    public boolean await(long timeout, TimeUnit unit) {
        if (!engine.await(waitable, this, Deadlines.after(timeout, unit))) {
            return false;
        }
        throwFailure();
        return true;
    }

    @Override
    public void onDone(Runnable wanted) {
        boolean tooLate = done.isUp();
        Runnable replaced = (Runnable) ACTION.getAndSet(this, wanted);
        if (tooLate && replaced != null) {
            run(replaced); // whoever brought the end about has not come to it yet
        }
        if (done.isUp()) {
            runAction();
        }
    }
}
