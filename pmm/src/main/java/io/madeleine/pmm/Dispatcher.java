package io.madeleine.pmm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What calls the handlers of a channel, by whoever leads; or its send tasks, by any thread. One thread at a time is inside, also while its handler waits and has
 * let the lead go: handlers of a channel neither nest nor run beside each other.
 *
 * <p>Threading: {@link #run} belongs to the leader; {@link #handling} to the thread that is inside.
 */
public final class Dispatcher {
    private static final long NOBODY = -1;
    private static final VarHandle INSIDE = insideHandle();

    private final String name;
    private final IntSupplier task;

    /** Whether there is something to do, if any thread may do it; null if only the leader may. */
    private final @Nullable BooleanSupplier hasNews;

    /** The id of the thread that is inside, not the thread: storing a reference costs a fence under some collectors. */
    private volatile long inside = NOBODY;

    /** What a handler that runs may wait on without a bound: the news of its own message. */
    private @Nullable Waitable own;

    private boolean hasLetGo;

    /** The thread was interrupted while its handler waited. */
    private boolean interruptIsHeld;

    private static VarHandle insideHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(Dispatcher.class, "inside", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    Dispatcher(String name, IntSupplier task) {
        this(name, task, null);
    }

    Dispatcher(String name, IntSupplier task, @Nullable BooleanSupplier hasNews) {
        this.name = name;
        this.task = task;
        this.hasNews = hasNews;
    }

    /** Whether only the leader runs it, and there is always somebody who leads for it. */
    boolean isForHandlers() {
        return hasNews == null;
    }

    /** Whether there is something to do for any thread. */
    boolean hasNews() {
        return hasNews != null && hasNews.getAsBoolean();
    }

    /** For error messages. */
    String name() {
        return name;
    }

    /** A handler is about to be called; it may wait on this as long as it takes. */
    public void handling(Waitable ownNews) {
        if (own != ownNews) {
            own = ownNews;
        }
    }

    /** Whether a handler has let the lead go: the rest is for whoever leads next. */
    public boolean hasLetGo() {
        return hasLetGo;
    }

    boolean isRunBy(Thread thread) {
        return inside == thread.threadId();
    }

    boolean isOwn(Waitable on) {
        return own == on;
    }

    /** A wait of the handler goes on though its thread was interrupted, of which that learns when the wait is over. */
    void holdInterrupt() {
        interruptIsHeld = true;
    }

    /** A wait of the handler is over. */
    void giveInterruptBack() {
        if (interruptIsHeld) {
            interruptIsHeld = false;
            Thread.currentThread().interrupt();
        }
    }

    /** The handler's thread has let the lead go, and may never have it again. */
    void letGo() {
        hasLetGo = true;
    }

    private boolean enter(Thread self) {
        if (hasNews == null) {
            INSIDE.setRelease(this, self.threadId());
            return true;
        }
        return hasNews.getAsBoolean() && INSIDE.compareAndSet(this, NOBODY, self.threadId());
    }

    /** Calls handlers unless a thread is inside; returns how many, or {@link Rounds#LEAD_IS_GONE}. */
    int run(Thread self) {
        if (inside != NOBODY || !enter(self)) {
            return 0;
        }
        hasLetGo = false;
        int handled;
        try {
            handled = task.getAsInt();
        } catch (Throwable e) {
            inside = NOBODY; // without a call: the stack may have come to its end
            throw e;
        }
        INSIDE.setRelease(this, NOBODY);
        return hasLetGo ? Rounds.LEAD_IS_GONE : handled;
    }
}
