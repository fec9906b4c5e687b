package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The lead, which one thread at a time holds: it polls for everybody. Who closes the engine takes it for good.
 *
 * <p>It is free, held, or <i>asleep</i>: then a thread of the session's own, the sleeper, sleeps with it in the reactor, and a thread
 * that waits for itself takes it by one atomic exchange, without waking the sleeper. All this is one word, {@link #holder}; a
 * second one, the <i>lodger</i>, says who is in the reactor, in whoever's hands the lead is.
 *
 * <pre>
 *   free       -- tryTake ------------> held by t
 *   held by t  -- holder = NOBODY ----> free
 *   held by s  -- fallAsleep ---------> asleep s      lodger = s
 *   asleep s   -- regain, by s -------> held by s
 *   asleep s   -- tryTake, by t ------> held by t     lodger still s
 *   held by t  -- giveBack -----------> asleep s      if the lodger is s
 *   any        -- comeBack, by s -----> held by s, or as it was     lodger = NOBODY
 * </pre>
 *
 * <p>Each way out of "asleep" is a compare-and-set of the one word, so that one thread takes it. What the sleeper wrote before it
 * fell asleep, networks armed among them, happens before what the taker does, and what that did happens before what the next one does.
 *
 * <p>The lead is never given back to one who does not sleep any more: the sleeper that comes back takes its name out of the lodger
 * and looks at the holder then; who gives the lead back writes the holder and looks at the lodger then. Both words are
 * volatile, so one of the two sees the other: either the sleeper finds that it has the lead again, or the giver finds it gone and takes
 * the lead back; if both do, the exchange decides.
 *
 * <p>A sleeper may find the lead in other hands at any time after it fell asleep, and does nothing then that is the leader's: it
 * neither disarms nor handles events. Nobody else enters the reactor's sleep while there is a lodger.
 *
 * <p>Threading: thread-safe.
 */
final class Lead {
    private static final long CLOSE_TIMEOUT_NS = 5_000_000_000L;
    private static final VarHandle HOLDER = handle("holder", long.class);
    private static final VarHandle TAKES = handle("takes", int.class);

    /** With the id of the sleeper. Negative, as {@link #NOBODY}; ids are positive. */
    private static final long ASLEEP = Long.MIN_VALUE;

    static final long NOBODY = -1;

    /**
     * The id of the thread, not the thread: storing a reference costs a fence under some collectors. Who may be near the end of
     * its stack, as threads of the user, lets go by this field alone: for a call there may be no room.
     */
    volatile long holder = NOBODY;

    /** Who is in the reactor's sleep, or about to enter it or to come out, though another may have the lead. */
    private volatile long lodger = NOBODY;

    private volatile boolean closed;
    private volatile boolean over;

    /** How often it has been taken; written by the holder. */
    @SuppressWarnings("UnusedVariable") // read by TAKES
    private int takes;

    private static VarHandle handle(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(Lead.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Whether somebody holds it, asleep or awake. */
    boolean isHeld() {
        return holder != NOBODY;
    }

    /** Whether somebody does other than this thread, which is awake. */
    boolean isHeldByAnother(Thread thread) {
        long now = holder;
        return now != NOBODY && now != (ASLEEP | thread.threadId());
    }

    /** Whether it may be taken: it is free, or asleep. */
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

    /** Whether nobody may take it any more. */
    boolean isClosed() {
        return closed;
    }

    /** Takes the lead if it is free; {@link #release} follows. Once it is taken nothing is called, so that nothing can fail. */
    boolean tryTakeFree(Thread self) {
        return holder == NOBODY && tryTake(self);
    }

    /** Takes the lead if it is free or asleep, as {@link #tryTakeFree} does. */
    boolean tryTake(Thread self) {
        long before = holder;
        if (before >= 0 || closed || !HOLDER.compareAndSet(this, before, self.threadId())) {
            return false;
        }
        if (closed) { // who closes looks at the holder after saying so
            holder = NOBODY;
            return false;
        }
        takes++; // before the lead is let go, whoever looks at it
        return true;
    }

    /** How often it has been taken, roughly: who sees the same number twice knows that nobody has held it in between. */
    int takeCount() {
        return (int) TAKES.getOpaque(this);
    }

    // ---- the sleeper

    /** The caller, which holds the lead and has armed the networks, enters the reactor; {@link #comeBack} follows. */
    void fallAsleep(Thread self) {
        lodger = self.threadId();
        holder = ASLEEP | self.threadId();
    }

    /** The sleeper's: whether it has the lead, awake. */
    boolean regain(Thread self) {
        long id = self.threadId();
        return holder == id || (holder == (ASLEEP | id) && HOLDER.compareAndSet(this, ASLEEP | id, id));
    }

    /** The sleeper is out of the reactor; returns whether it has the lead. */
    boolean comeBack(Thread self) {
        boolean has = regain(self);
        lodger = NOBODY;
        return has || regain(self); // given back just before
    }

    // ---- who has taken the lead from a sleeper

    /** Whether a thread is in the reactor's sleep that does not lead; for who leads. */
    boolean hasLodger() {
        return lodger != NOBODY;
    }

    /**
     * Gives the lead back to the thread from which it was taken, which sleeps on; the networks are armed. Returns whether the caller
     * has it no more.
     */
    boolean giveBack(Thread self) {
        long sleeper = lodger;
        if (sleeper == NOBODY) {
            return false;
        }
        holder = ASLEEP | sleeper;
        return lodger == sleeper || !HOLDER.compareAndSet(this, ASLEEP | sleeper, self.threadId());
    }

    // ---- ends

    /** Lets the lead go if the caller has it: a handler that it called may have let it go before. */
    void release() {
        if (isHeldBy(Thread.currentThread())) {
            holder = NOBODY;
        }
    }

    /** From now on nobody takes it. */
    void close() {
        closed = true;
    }

    /**
     * After {@link #close}: takes the lead from whoever has it still, who is woken until it lets go; gives up after some seconds.
     * The first caller has it for good.
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
