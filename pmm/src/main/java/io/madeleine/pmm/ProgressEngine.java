package io.madeleine.pmm;

import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/**
 * Drives every network of a session, and is where its threads wait.
 *
 * <p>Leader and followers: one waiting thread holds the <i>lead</i> and polls for everybody; the others are parked and
 * are woken when what they wait for is signalled, or to take the lead over when the leader leaves. Virtual threads of the
 * user never lead: the session's own thread ({@link ProgressThread}) polls for them, and for handlers and asynchronous
 * operations, while nobody else does; where it is such threads that the leader wakes all the time, a virtual one of the
 * session's ({@link VirtualLeader}). The leader waits as {@link WaitPolicy} says and sleeps in one place, the {@link Reactor}.
 *
 * <p>No wake-up is lost: who waits registers first and looks again, who changes something changes first and looks for
 * waiters then, both with volatile accesses.
 *
 * <p>Threading: thread-safe.
 */
public final class ProgressEngine implements AutoCloseable {
    /** The deadline of a wait without one. */
    public static final long NO_DEADLINE = Long.MAX_VALUE;

    /** A pause of a virtual thread is some 50 us, a yield below one. */
    private static final int ASIDE_YIELDS = 16;

    /** Who closes waits no longer for a handler that runs beside the leader. */
    private static final long LONGEST_HANDLER_NS = 1_000_000_000;

    private final Reactor reactor;
    private final Thread absentThread = Thread.ofPlatform().unstarted(() -> {});
    private final OwnThreads ownThreads;
    private final VirtualLeader virtualLeader;
    private final Rounds rounds;
    private final Impatience impatience = new Impatience();
    private final WaitList waitList;
    private final Lead lead = new Lead();
    private final Awakenings awakenings = new Awakenings(lead);
    private final Demands demands;
    private final Sleeping sleeping;
    private final Leading leading;
    private final Following following;
    private final HandlerWaits handlerWaits;
    private final AtomicInteger demand = new AtomicInteger();

    private volatile boolean roundIsWanted;
    private int asideCount; // lost counts do no harm

    /** An engine that sleeps in {@code reactor}, which it does not own. The name is part of its thread's. */
    public ProgressEngine(String name, Reactor reactor, WaitPolicy policy) {
        this(name, reactor, policy, new Demands());
    }

    /** The same, which drives what its adapters demand though nobody waits. */
    public ProgressEngine(String name, Reactor reactor, WaitPolicy policy, Demands demands) {
        this.reactor = reactor;
        this.rounds = new Rounds(reactor);
        this.waitList = new WaitList(reactor, impatience, awakenings);
        this.demands = demands;
        this.sleeping = new Sleeping(this, lead, rounds, waitList, reactor, demands);
        this.leading = new Leading(this, lead, rounds, waitList, reactor, policy, impatience, awakenings, sleeping);
        this.following = new Following(this, lead, waitList, sleeping);
        this.handlerWaits = new HandlerWaits(this, lead, leading, following, policy.inHandlersNs());
        this.virtualLeader = new VirtualLeader(this, leading, awakenings, name);
        this.ownThreads = new OwnThreads(
                number -> new ProgressThread(this, virtualLeader, number == 0 ? name : name + "-" + number));
        ownThreads.onDuty().start();
        demands.listen(new Demands.Listener() {
            @Override
            public void onHeld() {
                driveAdapters();
            }

            @Override
            public void onDue(long deadlineNs) {
                if (sleeping.lastsPast(deadlineNs)) {
                    reactor.wakeUp();
                }
            }
        });
    }

    /** Adds something to poll. */
    public void addSource(ProgressSource source) {
        rounds.addSource(source);
        wakeLeader();
    }

    /**
     * Stops polling something. When this returns nobody polls it any more, and it may be closed; from within a callback of
     * a poll, that is so when the round is over.
     *
     * @throws WaitInterruptedException if the thread is interrupted while another leads; the source is removed all the same
     * @throws SessionException if the session closes, after which nothing is polled
     */
    public void removeSource(ProgressSource source) {
        if (lead.isClosed() || lead.isHeldBy(Thread.currentThread())) {
            rounds.removeSource(source);
            return;
        }
        Waitable removed = new Waitable();
        AtomicBoolean done = new AtomicBoolean();
        enqueue(
                () -> { // between two polls, by whoever leads
                    rounds.removeSource(source);
                    done.set(true);
                    signal(removed);
                    return true;
                });
        await(removed, done::get, NO_DEADLINE);
    }

    /**
     * Adds something to be run by the leader after each round, outside all polls, where handlers are called. It returns how much
     * it has handled: while that is something, the leader has not been idle.
     *
     * @param name of what those handlers serve, for error messages
     * @param hasWork whether there may be something to do, as far as the leader knows; a glance
     * @param hint what counts for those handlers
     */
    public Dispatcher addDispatcher(String name, IntSupplier dispatcher, BooleanSupplier hasWork, WaitHint hint) {
        Dispatcher added = new Dispatcher(name, dispatcher, hasWork, true);
        impatience.add(hint);
        rounds.addDispatcher(added);
        raiseDemand();
        return added;
    }

    /** As {@link #addDispatcher(String, IntSupplier, BooleanSupplier, WaitHint)}, run in each round. */
    public Dispatcher addDispatcher(String name, IntSupplier dispatcher, WaitHint hint) {
        return addDispatcher(name, dispatcher, () -> true, hint);
    }

    /** As {@link #addDispatcher(String, IntSupplier, WaitHint)}, without a name of its own. */
    public Dispatcher addDispatcher(IntSupplier dispatcher, WaitHint hint) {
        return addDispatcher("the session", dispatcher, hint);
    }

    /**
     * Adds something that any thread may run, by {@link #dispatch}, and that whoever leads runs after each round if it has not been:
     * outside all polls, and within no handler. One thread at a time is inside; its waits are a handler's. Who has something to do
     * {@linkplain #raiseDemand raises demand}.
     *
     * @param name for error messages
     * @param task returns how much it has done
     * @param hasNews whether there is something to do
     */
    public Dispatcher addDispatcher(String name, IntSupplier task, BooleanSupplier hasNews) {
        Dispatcher added = new Dispatcher(name, task, hasNews, false);
        rounds.addDispatcher(added);
        return added;
    }

    /**
     * Runs a dispatcher that has something to do in the calling thread, if that may and is a platform thread, is in no poll,
     * handler or dispatcher, and no other thread is inside; what is left after that is for whoever leads next.
     */
    public void dispatch(Dispatcher dispatcher, boolean here) {
        Thread self = Thread.currentThread();
        if (here
                && !self.isVirtual()
                && rounds.dispatcherRunBy(self) == null
                && !(lead.isHeldBy(self) && rounds.isPolling())) {
            int _ = dispatcher.run(self);
        }
        if (lead.isClosed()) {
            dispatchRest(dispatcher);
        } else if (dispatcher.hasNews()) {
            roundIsWanted = true;
            wakeLeader();
            callOwnThread();
        }
    }

    /** Runs a dispatcher in the calling thread as long as it has something to do: nobody leads, as the engine has been closed. */
    public void dispatchRest(Dispatcher dispatcher) {
        while (dispatcher.hasNews() && dispatcher.run(Thread.currentThread()) != 0) {
            Thread.onSpinWait();
        }
    }

    /**
     * Runs each task in a virtual thread of its own. If the leader has many of them run, from handlers, they need not wait
     * for a carrier to be woken ({@link VirtualLeader}).
     *
     * @param name the threads' names begin so; a number follows
     */
    public Executor virtualThreads(String name) {
        ThreadFactory threads = Thread.ofVirtual().name(name, 0).factory();
        return task -> {
            threads.newThread(task).start();
            awakenings.note();
        };
    }

    /** Retries {@code step} each round until it is finished. The step must not be enqueued twice at a time. */
    public void enqueue(Step step) {
        rounds.addStep(step);
        wakeLeader();
    }

    /** Declares that something has to progress though no thread waits for it: the session's own thread leads if need be. */
    public void raiseDemand() {
        if (demand.getAndIncrement() == 0 && !virtualLeader.hasTurn()) { // which looks at the demand after its turn
            wakeOwnThread();
        }
    }

    /** Takes a {@link #raiseDemand()} back. */
    public void lowerDemand() {
        demand.decrementAndGet();
    }

    /** How much has to progress though no thread waits for it; 0 when all is quiet. */
    public int demand() {
        return demand.get();
    }

    boolean hasDemand() {
        return demand.get() > 0 || roundIsWanted || demands.isHeld();
    }

    /** Whether nothing has to progress but what adapters hold outstanding: neither handlers nor anybody who waits. */
    boolean isOnlyForDemands() {
        return demand.get() == 0 && !roundIsWanted;
    }

    /** Whether nothing has to progress but what handlers may be called for. */
    boolean isOnlyForHandlers() {
        return demand.get() <= rounds.handlerCount() && !roundIsWanted;
    }

    /** Whether whoever leads has to do another round before it sleeps. */
    boolean isRoundWanted() {
        return roundIsWanted;
    }

    boolean isClosed() {
        return lead.isClosed();
    }

    boolean isLed() {
        return lead.isHeld();
    }

    /** Whether the session's own thread leads and sleeps, so that another may take the lead from it. */
    public boolean isLeadAsleep() {
        return lead.isAsleep();
    }

    /** Whether somebody leads, awake or asleep, other than this thread, which is awake. */
    boolean isLedByAnother(Thread thread) {
        return lead.isHeldByAnother(thread);
    }

    /** How often the lead has been taken. */
    int leadCount() {
        return lead.takeCount();
    }

    /** Whether a thread that would rather lead itself is parked. */
    boolean hasLeadSeekers() {
        return waitList.hasLeadSeekers();
    }

    /** The session's own thread, which leads if nobody else does, and may be the caller in a handler. */
    public Thread foreignThread() {
        return ownThreads.onDuty();
    }

    OwnThreads ownThreads() {
        return ownThreads;
    }

    /** Whether this is a thread of the session's own, which works for everybody: nobody interrupts it. */
    private boolean isOwn(Thread thread) {
        return thread instanceof ProgressThread || virtualLeader.isRunBy(thread);
    }

    /**
     * After a call of the user's code, which began with {@link Thread#interrupted()}: the thread is interrupted again if it was
     * before, or has been meanwhile, and belongs to the user. One of the engine's own is not, whatever that code has left.
     */
    public void afterUsersCode(boolean wasInterrupted) {
        Thread self = Thread.currentThread();
        if (wasInterrupted || self.isInterrupted()) {
            if (isOwn(self)) {
                boolean _ = Thread.interrupted();
            } else {
                self.interrupt();
            }
        }
    }

    /**
     * After a block of which the memory was freed meanwhile: the JVM stops a thread that is inside memory which another one frees,
     * and leaves it interrupted. Who moves messages for everybody does not wait any less for that.
     */
    public void afterFreedMemory() {
        if (lead.isHeldBy(Thread.currentThread())) {
            boolean _ = Thread.interrupted();
        }
    }

    /** A thread that never runs: what it may not touch is confined to another. */
    public Thread absentThread() {
        return absentThread;
    }

    /**
     * Drives everything once, without waiting; in a handler, all but handlers. A virtual thread has it done by the session's
     * own, a moment later.
     *
     * @return how many events were handled; 0 also when another thread leads, when the caller is virtual, and from
     *     within a callback of a poll
     */
    public int progress() {
        StackRoom.ensure();
        if (lead.isClosed()) {
            throw closedException();
        }
        Thread self = Thread.currentThread();
        boolean inHandler = rounds.dispatcherRunBy(self) != null;
        if (lead.isHeldBy(self)) {
            return rounds.isPolling() ? 0 : once(inHandler);
        }
        if (self.isVirtual()) {
            roundIsWanted = true;
            callOwnThread();
            leaveCarrier();
            return 0;
        }
        long selfId = self.threadId();
        if (!lead.tryTakeFree(self)) {
            return 0;
        }
        try {
            leading.begin();
            return once(inHandler);
        } finally {
            if (lead.holder == selfId) {
                lead.holder = Lead.NOBODY; // without a call: the stack may have come to its end
            }
            passLeadOn();
        }
    }

    /** There is something for whoever leads to do, which nobody else will tell of: one more round, by the session's own thread if need be. */
    public void callRound() {
        roundIsWanted = true;
        wakeLeader();
        if (!lead.isHeld()) {
            passLeadOn();
        }
    }

    /**
     * Whether the calling thread, which is about to wait, may call handlers without leading: a platform thread whose policy spins, and
     * that runs no handler, nor leads.
     */
    public boolean mayDispatch() {
        Thread self = Thread.currentThread();
        return leading.spins()
                && !self.isVirtual()
                && !lead.isHeldBy(self)
                && !lead.isClosed()
                && rounds.dispatcherRunBy(self) == null;
    }

    /** Whether the calling thread runs a handler. */
    public boolean isInHandler() {
        return rounds.dispatcherRunBy(Thread.currentThread()) != null;
    }

    private int once(boolean inHandler) {
        return inHandler ? rounds.poll(System.nanoTime()) : Math.abs(round(System.nanoTime()));
    }

    /**
     * Leaves the carrier to other virtual threads. One that only ever yields may be taken up again and again before those
     * that other threads have made runnable.
     */
    private void leaveCarrier() {
        if (++asideCount % ASIDE_YIELDS == 0) {
            LockSupport.parkNanos(this, 1);
        } else {
            Thread.yield();
        }
    }

    /**
     * Whether an error of the JVM comes of memory that a network shares with other processes and that has been cut short; what
     * needed that memory is given up then, and its loss reported by whoever polls. Any thread.
     */
    public boolean recover(InternalError fault) {
        return rounds.recover(fault);
    }

    int round(long nowNs) {
        if (roundIsWanted) {
            roundIsWanted = false;
        }
        int work;
        try {
            work = rounds.run(nowNs);
        } catch (InternalError e) {
            if (!rounds.recover(e)) {
                throw e;
            }
            work = lead.isHeldBy(Thread.currentThread()) ? 1 : Rounds.LEAD_IS_GONE;
        }
        if (work == Rounds.LEAD_IS_GONE) { // and what came for the handler meanwhile waits for it
            callRound();
        }
        return work;
    }

    /**
     * Waits until the condition is met, driving everything meanwhile or sleeping while another thread does.
     *
     * @param on what is signalled when the condition may have changed
     * @param deadlineNs in {@link System#nanoTime()} terms, or {@link #NO_DEADLINE}
     * @return whether the condition was met by the deadline
     * @throws WaitInterruptedException if the thread is interrupted; not in a handler, which happens to run in that thread
     * @throws SessionException if the session closes
     */
    public boolean await(Waitable on, Condition condition, long deadlineNs) {
        StackRoom.ensure();
        if (condition.isMet()) {
            return true;
        }
        if (lead.isClosed()) {
            throw closedException();
        }
        Thread self = Thread.currentThread();
        boolean leads = lead.isHeldBy(self);
        if (leads && rounds.isPolling()) {
            throw new IllegalStateException("the action of a completion must not wait: hand what follows to another"
                    + " thread, or begin it with endPackingAsync or tryBegin");
        }
        Dispatcher handling = rounds.dispatcherRunBy(self);
        if (handling != null) {
            return handlerWaits.await(handling, on, condition, deadlineNs);
        }
        if (leads) { // in a condition
            return lead(true, on, condition, deadlineNs) == WaitOutcome.MET;
        }
        boolean mayLead = !self.isVirtual();
        long selfId = self.threadId();
        if (!mayLead) {
            raiseDemand();
        }
        try {
            while (true) {
                if (mayLead && tryLead(self)) {
                    WaitOutcome outcome = WaitOutcome.EXPIRED;
                    try {
                        outcome = lead(false, on, condition, deadlineNs);
                        if (outcome == WaitOutcome.MET || outcome == WaitOutcome.EXPIRED) {
                            boolean _ = sleeping.giveBack();
                        }
                    } finally {
                        if (lead.holder == selfId) {
                            lead.holder = Lead.NOBODY; // without a call: the stack may have come to its end
                        }
                        if (outcome == WaitOutcome.LEFT_TO_VIRTUAL) {
                            mayLead = false; // what is left of this wait is as if the thread were virtual
                            raiseDemand();
                        }
                        releaseLead(outcome);
                    }
                    if (outcome != WaitOutcome.LEFT_TO_VIRTUAL && outcome != WaitOutcome.LEAD_IS_GONE) {
                        return outcome == WaitOutcome.MET;
                    }
                }
                switch (following.follow(on, condition, deadlineNs, mayLead)) {
                    case MET -> {
                        return true;
                    }
                    case EXPIRED -> {
                        return false;
                    }
                    default -> Thread.onSpinWait(); // the lead is free
                }
            }
        } finally {
            if (!mayLead) {
                lowerDemand();
            }
        }
    }

    /** Whether the calling thread may spin for a moment: a platform thread, and a policy that spins at all. */
    public boolean maySpin() {
        return leading.spins() && !Thread.currentThread().isVirtual();
    }

    /** Tells all who wait on {@code on} to look again. */
    public void signal(Waitable on) {
        if (!on.waiters.isEmpty()) {
            waitList.signal(on);
        }
    }

    /**
     * Tells one of those who wait on {@code on} to look again, the one that has waited for longest: enough where a change
     * serves one of them, whichever it is, as one message that arrives does. If that one gives up or fails instead of
     * finding its condition met, the next is told. Who finds its condition met and then does not take what it waited for
     * signals again.
     */
    public void signalOne(Waitable on) {
        if (!on.waiters.isEmpty() && !leading.takesNote(on)) {
            waitList.signalOne(on);
        }
    }

    /** Whether anybody waits on {@code on} without polling. */
    public boolean isAwaited(Waitable on) {
        return !on.waiters.isEmpty();
    }

    boolean tryLead(Thread self) {
        return lead.tryTake(self);
    }

    boolean tryLeadIfFree(Thread self) {
        return lead.tryTakeFree(self);
    }

    void releaseLead() {
        lead.release();
        passLeadOn();
    }

    /** Lets the lead go to whom it is left to. */
    void releaseLead(WaitOutcome outcome) {
        if (outcome == WaitOutcome.LEAD_IS_GONE) {
            return;
        }
        if (outcome == WaitOutcome.LEFT_TO_VIRTUAL) {
            lead.release();
            virtualLeader.giveTurn();
            callOwnThread(); // to watch
        } else {
            releaseLead();
        }
    }

    /** Lets the lead go for a moment, and offers it to nobody. */
    void stepAside() {
        lead.release();
    }

    /** The virtual leader's turn is over; what it left undone when it ended is another's. */
    void turnIsOver() {
        if (waitList.hasLeadSeekers()) {
            waitList.offerLead();
        } else if (hasDemand()) {
            wakeOwnThread();
        }
    }

    /** An adapter has something outstanding. Who leads drives it, and hands it on when it leaves. */
    private void driveAdapters() {
        if (!lead.isHeld() && !virtualLeader.hasTurn()) {
            callOwnThread();
        }
    }

    /** Offers the lead, which is free, to who wants it; not one that is asleep. */
    void passLeadOn() {
        if (lead.isAsleep()) {
            return;
        }
        if (waitList.hasLeadSeekers()) {
            waitList.offerLead();
        } else if (hasDemand()) {
            callOwnThread();
        }
    }

    /** Has the session's own thread look whether the lead is free, unless it sleeps with it. */
    private void callOwnThread() {
        if (lead.hasLodger()) {
            wakeLodger();
        } else {
            ownThreads.onDuty().leadIsFree();
        }
    }

    /** There is something to do for the session's own thread, unless it sleeps with the lead. */
    private void wakeOwnThread() {
        if (lead.hasLodger()) {
            wakeLodger();
        } else {
            ownThreads.onDuty().wake();
        }
    }

    /** The reactor's sleeper, if it does not have the lead: who has taken it may have left. */
    private void wakeLodger() {
        if (!lead.isAsleep()) {
            reactor.wakeUp();
        }
    }

    /** What interests has changed while a source may have been armed for less: a leader that sleeps looks again. */
    public void lookAgain() {
        wakeLeader();
    }

    private void wakeLeader() {
        if (sleeping.isAsleep()) {
            reactor.wakeUp();
        }
    }

    /**
     * Polls and sleeps until the condition is met, the deadline has come, or a virtual thread should lead. The caller holds
     * the lead.
     */
    WaitOutcome lead(boolean inHandler, Waitable on, Condition condition, long deadlineNs) {
        return leading.lead(inHandler, on, condition, deadlineNs);
    }

    /** Ends a wait whose engine is closed or whose thread is interrupted; a handler's wait goes on, and so does who leads for others. */
    void checkWait(long deadlineNs) {
        if (lead.isClosed()) {
            throw closedException();
        }
        if (Thread.interrupted()) {
            Thread self = Thread.currentThread();
            Dispatcher handling = rounds.dispatcherRunBy(self);
            if (handling != null) {
                handling.holdInterrupt();
                return;
            }
            if (isOwn(self)) {
                return;
            }
            self.interrupt();
            throw new WaitInterruptedException(
                    "the wait was interrupted" + (deadlineNs == NO_DEADLINE ? "" : " before its deadline"));
        }
    }

    static SessionException closedException() {
        return new SessionException("the session is closed");
    }

    /** A thread that could lead has begun to wait: the session's own hands the lead over. */
    void relieveProgressThread() {
        if (lead.isHeldBy(ownThreads.onDuty())) {
            reactor.wakeUp(); // a thread that waits for itself is served faster
        }
    }

    /** The session's own thread leads only while nobody else wants to. */
    boolean progressThreadShouldYield() {
        return lead.isHeldBy(ownThreads.onDuty()) && waitList.hasLeadSeekers();
    }

    /**
     * Ends all waits with {@link SessionException}, stops the session's own thread, and takes the lead for good: when
     * this returns nobody polls any more, and what was polled may be freed. Idempotent.
     *
     * @throws IllegalStateException from within a callback of a poll, whose caller would go on with what is freed
     */
    @Override
    public void close() {
        if (lead.isHeldBy(Thread.currentThread()) && rounds.isPolling()) {
            throw new IllegalStateException("the action of a completion must not close the session, which is being"
                    + " polled: let another thread do it");
        }
        lead.close();
        reactor.wakeUp(); // who sleeps there need not be the leader
        waitList.wakeAll();
        virtualLeader.end();
        ownThreads.end();
        lead.takeForGood(reactor);
        rounds.closeHandlers(System.nanoTime() + LONGEST_HANDLER_NS);
    }
}
