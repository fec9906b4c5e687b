package io.madeleine.pmm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The right to call the handlers of a channel, or its send tasks. It is separate from the lead: the leader has it for
 * the length of a round; another thread may have it without leading, to run the handler for which it waits ({@link
 * #tryEnter}), or to run send tasks. One thread at a time is inside, even while its handler waits and has released the
 * lead: handlers of one channel neither nest nor run in parallel.
 *
 * <p>Threading: thread-safe; only the thread inside calls {@link #handling} and {@link #leave}.
 */
public final class Dispatcher {
    private static final long NOBODY = -1;

    /** The engine is closed: no thread can enter. */
    private static final long CLOSED = -2;

    private static final VarHandle INSIDE = handle("inside", long.class);
    private static final VarHandle VISITS = handle("visits", int.class);

    private final String name;
    private final IntSupplier task;

    private final BooleanSupplier hasWork;
    private final boolean forHandlers;

    /** The id of the thread inside. Not a reference to the thread: storing one costs a fence with some collectors. */
    private volatile long inside = NOBODY;

    @SuppressWarnings("UnusedVariable") // read by VISITS
    private int visits; // a lost increment does no harm

    /** The object on which the running handler may wait without a bound: the arrivals of its own message. */
    private @Nullable Waitable own;

    private boolean hasReleasedLead;

    /** Whether the thread was interrupted while its handler waited. */
    private boolean interruptIsHeld;

    private static VarHandle handle(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(Dispatcher.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * A dispatcher with no thread inside.
     *
     * @param hasWork a cheap check whether the task has work
     * @param forHandlers whether the engine always has a leader for it
     */
    Dispatcher(String name, IntSupplier task, BooleanSupplier hasWork, boolean forHandlers) {
        this.name = name;
        this.task = task;
        this.hasWork = hasWork;
        this.forHandlers = forHandlers;
    }

    /** Whether the engine always has a leader for it. */
    boolean isForHandlers() {
        return forHandlers;
    }

    /** Whether the task may have work. */
    boolean hasWork() {
        return hasWork.getAsBoolean();
    }

    /** A thread is about to poll for this dispatcher's work without leading. */
    public void visit() {
        visits++;
    }

    /** How often threads have polled for its work without leading, roughly. */
    int visits() {
        return (int) VISITS.getOpaque(this);
    }

    /** The name for error messages. */
    String name() {
        return name;
    }

    /** A handler is about to be called; it may wait on this object for as long as needed. */
    public void handling(Waitable ownArrivals) {
        if (own != ownArrivals) {
            own = ownArrivals;
        }
    }

    /** Whether a handler has released the lead: the next leader does the rest. */
    public boolean hasReleasedLead() {
        return hasReleasedLead;
    }

    boolean isRunBy(Thread thread) {
        return inside == thread.threadId();
    }

    boolean isOwn(Waitable on) {
        return own == on;
    }

    /**
     * An interrupt arrived during a wait of the handler. The wait goes on; the thread's interrupt status is set again
     * when the wait is over.
     */
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

    /** The handler's thread has released the lead, possibly for good. */
    void releaseFromHandler() {
        hasReleasedLead = true;
    }

    private boolean enter(Thread self) {
        if (inside != NOBODY || !INSIDE.compareAndSet(this, NOBODY, self.threadId())) {
            return false;
        }
        hasReleasedLead = false;
        return true;
    }

    /**
     * Lets the calling thread call handlers, unless another thread is inside. The caller must not lead, nor run a
     * handler of any channel; {@link #leave} follows.
     */
    public boolean tryEnter() {
        return enter(Thread.currentThread());
    }

    /**
     * The calling thread stops calling handlers. Because the leader may have skipped this dispatcher meanwhile, the
     * caller then checks whether work is left, and if so requests a round by {@link ProgressEngine#requestRound()}.
     */
    public void leave() {
        inside = NOBODY; // a full fence: a leader that skips this dispatcher has queued its work before
    }

    /**
     * Lets no more threads in, once the thread inside has left. Returns false if that thread is the caller, or does not
     * leave in time.
     */
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

    /** Calls handlers unless another thread is inside; returns how many, or {@link Rounds#LEAD_IS_GONE}. */
    int run(Thread self) {
        if (inside != NOBODY || !hasWork.getAsBoolean() || !enter(self)) {
            return 0;
        }
        int handled;
        try {
            handled = task.getAsInt();
        } catch (Throwable e) {
            inside = NOBODY; // no call here: the stack may be exhausted
            throw e;
        }
        boolean isGone = hasReleasedLead; // the next thread inside changes the field
        INSIDE.setRelease(this, NOBODY);
        return isGone ? Rounds.LEAD_IS_GONE : handled;
    }
}
