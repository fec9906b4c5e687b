package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The lead, which one thread at a time holds: it polls for all. A thread that closes the engine takes it for good.
 *
 * <p>The lead is free, held, or <i>asleep</i>. It is asleep while one of the session's own threads, the sleeper, sleeps
 * with it in the reactor; a thread that waits then takes it by one atomic exchange, without waking the sleeper. One
 * word, {@link #holder}, holds this state. A second word, {@link #sleeperId}, names the thread that is in the
 * reactor's sleep, no matter which thread has the lead.
 *
 * <pre>
 *   free       -- tryTake ------------> held by t
 *   held by t  -- holder = NOBODY ----> free
 *   held by s  -- fallAsleep ---------> asleep s      sleeperId = s
 *   asleep s   -- regain, by s -------> held by s
 *   asleep s   -- tryTake, by t ------> held by t     sleeperId still s
 *   held by t  -- giveBack -----------> asleep s      if sleeperId is s
 *   any        -- comeBack, by s -----> held by s, or as it was     sleeperId = NOBODY
 * </pre>
 *
 * <p>Each transition out of "asleep" is a compare-and-set of {@link #holder}, so that one thread takes the lead. What
 * the sleeper wrote before it fell asleep, such as the armed state of the networks, happens before the actions of the
 * thread that takes the lead, and those happen before the actions of the next holder.
 *
 * <p>The lead is never given back to a thread that no longer sleeps. A sleeper that comes back first clears its id and
 * then reads the holder; a thread that gives the lead back first writes the holder and then reads the id. Both
 * words are volatile, so at least one of the two sees the other's write: the sleeper finds that it has the lead again,
 * or the giver finds the sleeper gone and takes the lead back. If both do, the compare-and-set decides.
 *
 * <p>A sleeper may find that another thread has the lead at any time after it fell asleep. It then neither disarms the
 * networks nor handles events. While there is a sleeper, no other thread enters the reactor's sleep.
 *
 * <p>Threading: thread-safe.
 */
final class Lead {
    private static final long CLOSE_TIMEOUT_NS = 5_000_000_000L;
    private static final VarHandle HOLDER = handle("holder", long.class);
    private static final VarHandle TAKES = handle("takes", int.class);

    /**
     * Set in {@link #holder} together with the sleeper's id. Negative, like {@link #NOBODY}; thread ids are positive.
     */
    private static final long ASLEEP = Long.MIN_VALUE;

    static final long NOBODY = -1;

    /**
     * The id of the holder. Not a reference to the thread: storing one costs a fence with some collectors. A thread of
     * the user releases the lead by a write to this field, without a call: its stack may be exhausted.
     */
    volatile long holder = NOBODY;

    /**
     * The thread that is in the reactor's sleep, or about to enter or to leave it, though another thread may have the
     * lead.
     */
    private volatile long sleeperId = NOBODY;

    private volatile boolean closed;
    private volatile boolean over;

    /** How often the lead has been taken; the holder writes it. */
    @SuppressWarnings("UnusedVariable") // read by TAKES
    private int takes;

    private static VarHandle handle(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(Lead.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Whether a thread holds the lead, asleep or awake. */
    boolean isHeld() {
        return holder != NOBODY;
    }

    /** Whether another thread than this one, which is awake, holds the lead. */
    boolean isHeldByAnother(Thread thread) {
        long now = holder;
        return now != NOBODY && now != (ASLEEP | thread.threadId());
    }

    /** Whether a thread may take the lead: it is free or asleep. */
    boolean isOpen() {
        return holder < 0;
    }

    boolean isAsleep() {
        long now = holder;
        return now < 0 && now != NOBODY;
    }

    boolean isHeldBy(Thread thread) {
        return holder == thread.threadId();
    }

    /** Whether no thread may take the lead any more. */
    boolean isClosed() {
        return closed;
    }

    /**
     * Takes the lead if it is free; {@link #release} follows. Makes no call after it has taken the lead, so that
     * nothing can fail.
     */
    boolean tryTakeFree(Thread self) {
        return holder == NOBODY && tryTake(self);
    }

    /** Takes the lead if it is free or asleep, like {@link #tryTakeFree}. */
    boolean tryTake(Thread self) {
        long before = holder;
        if (before >= 0 || closed || !HOLDER.compareAndSet(this, before, self.threadId())) {
            return false;
        }
        if (closed) { // close() sets the flag before it reads the holder
            holder = NOBODY;
            return false;
        }
        takes++; // before the lead is released: takeCount() must not miss a holder
        return true;
    }

    /**
     * How often the lead has been taken, roughly: if two calls return the same number, no thread has held it in
     * between.
     */
    int takeCount() {
        return (int) TAKES.getOpaque(this);
    }

    // ---- the sleeper

    /**
     * The caller, which holds the lead and has armed the networks, is about to enter the reactor's sleep; {@link
     * #comeBack} follows.
     */
    void fallAsleep(Thread self) {
        sleeperId = self.threadId();
        holder = ASLEEP | self.threadId();
    }

    /**
     * Called by the sleeper, which is awake: takes the lead back if it is still asleep; returns whether the caller has
     * it.
     */
    boolean regain(Thread self) {
        long id = self.threadId();
        return holder == id || (holder == (ASLEEP | id) && HOLDER.compareAndSet(this, ASLEEP | id, id));
    }

    /** Called by the sleeper after it has left the reactor's sleep; returns whether it has the lead. */
    boolean comeBack(Thread self) {
        boolean has = regain(self);
        sleeperId = NOBODY;
        return has || regain(self); // a thread may have given it back just before
    }

    // ---- the thread that has taken the lead from a sleeper

    /** Whether a thread that does not lead is in the reactor's sleep; called by the leader. */
    boolean hasOtherSleeper() {
        return sleeperId != NOBODY;
    }

    /**
     * Gives the lead back to the sleeper from which it was taken; that thread sleeps on. The networks are armed.
     * Returns whether the caller no longer has the lead.
     */
    boolean giveBack(Thread self) {
        long sleeper = sleeperId;
        if (sleeper == NOBODY) {
            return false;
        }
        holder = ASLEEP | sleeper;
        return sleeperId == sleeper || !HOLDER.compareAndSet(this, ASLEEP | sleeper, self.threadId());
    }

    // ---- the end

    /** Releases the lead if the caller has it: a handler that the caller ran may have released it already. */
    void release() {
        if (isHeldBy(Thread.currentThread())) {
            holder = NOBODY;
        }
    }

    /** From now on no thread can take the lead. */
    void close() {
        closed = true;
    }

    /**
     * After {@link #close}: takes the lead from its holder, waking it until it releases the lead; gives up after five
     * seconds. The first caller has the lead for good.
     */
    void takeForGood(Reactor reactor) {
        long self = Thread.currentThread().threadId();
        long giveUpNs = System.nanoTime() + CLOSE_TIMEOUT_NS;
        while (!over && holder != self && giveUpNs - System.nanoTime() > 0) {
            if (HOLDER.compareAndSet(this, NOBODY, self)) {
                break;
            }
            reactor.wakeUp();
            Thread.yield();
        }
        over = true;
    }
}
