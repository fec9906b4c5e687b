package io.madeleine.pmm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The right to call the handlers of a channel, or its send tasks. It is apart from the lead: who leads has it for the length of a
 * round, and others may have it without leading: who waits for what a handler brings about ({@link #tryEnter}), and any thread
 * for send tasks. One thread at a time is inside, also while its handler waits and has let the lead go: handlers of a channel
 * neither nest nor run beside each other.
 *
 * <p>Threading: thread-safe; {@link #handling} and {@link #leave} belong to the thread that is inside.
 */
public final class Dispatcher {
    private static final long NOBODY = -1;

    /** The engine is closed: nobody comes in any more. */
    private static final long CLOSED = -2;

    private static final VarHandle INSIDE = insideHandle();

    private final String name;
    private final IntSupplier task;

    private final BooleanSupplier hasNews;
    private final boolean forHandlers;

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

    /**
     * Nobody is inside.
     *
     * @param hasNews whether there may be something to do; a glance
     * @param forHandlers whether there is always somebody who leads for it
     */
    Dispatcher(String name, IntSupplier task, BooleanSupplier hasNews, boolean forHandlers) {
        this.name = name;
        this.task = task;
        this.hasNews = hasNews;
        this.forHandlers = forHandlers;
    }

    /** Whether there is always somebody who leads for it. */
    boolean isForHandlers() {
        return forHandlers;
    }

    /** Whether there may be something to do. */
    boolean hasNews() {
        return hasNews.getAsBoolean();
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
        if (inside != NOBODY || !INSIDE.compareAndSet(this, NOBODY, self.threadId())) {
            return false;
        }
        hasLetGo = false;
        return true;
    }

    /**
     * Lets the calling thread, which neither leads nor runs a handler of any channel, call handlers of this one, unless another does;
     * {@link #leave} follows.
     */
    public boolean tryEnter() {
        return enter(Thread.currentThread());
    }

    /**
     * The thread calls no more handlers. Who leads may have passed by meanwhile: what there is still to do, as the caller has to
     * look for after this, is told to the leader by {@link ProgressEngine#callRound()}.
     */
    public void leave() {
        inside = NOBODY; // a full fence: who passes by has queued its news before
    }

    /** Lets nobody in any more, from when the thread that is inside has left; false if that is the caller, or takes longer. */
    boolean close(long giveUpNs) {
        while (!INSIDE.compareAndSet(this, NOBODY, CLOSED)) {
            if (inside == CLOSED) {
                return true;
            }
            if (isRunBy(Thread.currentThread()) || System.nanoTime() - giveUpNs >= 0) {
                return false;
            }
            Thread.yield();
        }
        return true;
    }

    /** Calls handlers unless a thread is inside; returns how many, or {@link Rounds#LEAD_IS_GONE}. */
    int run(Thread self) {
        if (inside != NOBODY || !hasNews.getAsBoolean() || !enter(self)) {
            return 0;
        }
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
