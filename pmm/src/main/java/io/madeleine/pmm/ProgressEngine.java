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
 * Drives all networks of a session; its threads wait here.
 *
 * <p>The engine works as leader and followers. One waiting thread holds the <i>lead</i> and polls for all. The others
 * park; the engine wakes them when the object on which they wait is signalled, or offers them the lead when the leader
 * leaves. Virtual threads of the user never lead. While no other thread leads, the session's own thread ({@link
 * ProgressThread}) leads for them, for handlers and for asynchronous operations. If the leader mainly wakes virtual
 * threads, the session's virtual thread ({@link VirtualLeader}) leads instead. The leader waits as {@link WaitPolicy}
 * says and sleeps in one place, the {@link Reactor}.
 *
 * <p>No wake-up is lost: a thread that waits registers first and then checks its condition again; a thread that changes
 * something does so first and then checks for waiters. Both use volatile accesses.
 *
 * <p>Threading: thread-safe.
 */
public final class ProgressEngine implements AutoCloseable {
    /** The deadline of a wait that has none. */
    public static final long NO_DEADLINE = Long.MAX_VALUE;

    /** A virtual thread parks in place of one yield in this many: a park takes about 50 us, a yield less than 1 us. */
    private static final int ASIDE_YIELDS = 16;

    /** How long {@link #close} waits for a handler that another thread than the leader runs. */
    private static final long LONGEST_HANDLER_NS = 1_000_000_000;

    private final Reactor reactor;
    private final Thread absentThread = Thread.ofPlatform().unstarted(() -> {});
    private final ProgressThreads progressThreads;
    private final VirtualLeader virtualLeader;
    private final Rounds rounds;
    private final WaitHintCounts hintCounts = new WaitHintCounts();
    private final WaitList waitList;
    private final Lead lead = new Lead();
    private final VirtualWakeups wakeups = new VirtualWakeups(lead);
    private final Demands demands;
    private final Sleeping sleeping;
    private final Leading leading;
    private final Following following;
    private final HandlerWaits handlerWaits;
    private final AtomicInteger demand = new AtomicInteger();

    private volatile boolean roundIsWanted;
    private int asideCount; // a lost increment does no harm

    /**
     * An engine that sleeps in {@code reactor}, which the caller keeps. The names of the engine's threads contain
     * {@code name}.
     */
    public ProgressEngine(String name, Reactor reactor, WaitPolicy policy) {
        this(name, reactor, policy, new Demands());
    }

    /** As {@link #ProgressEngine(String, Reactor, WaitPolicy)}, for a session whose adapters have these demands. */
    public ProgressEngine(String name, Reactor reactor, WaitPolicy policy, Demands demands) {
        this(name, reactor, policy, demands, SpareProcessor.of(policy));
    }

    /** For tests of the policy, which must hold even on a busy machine. */
    ProgressEngine(String name, Reactor reactor, WaitPolicy policy, Demands demands, SpareProcessor processor) {
        this.reactor = reactor;
        this.rounds = new Rounds(reactor);
        this.waitList = new WaitList(reactor, hintCounts, wakeups);
        this.demands = demands;
        this.sleeping = new Sleeping(this, lead, rounds, waitList, reactor, demands);
        this.leading = new Leading(
                this,
                lead,
                rounds,
                waitList,
                reactor,
                policy,
                hintCounts,
                wakeups,
                sleeping,
                processor,
                System::nanoTime);
        this.following = new Following(this, lead, waitList, sleeping);
        this.handlerWaits = new HandlerWaits(this, lead, leading, following, policy.inHandlersNs());
        this.virtualLeader = new VirtualLeader(this, leading, wakeups, name);
        this.progressThreads = new ProgressThreads(
                number -> new ProgressThread(this, virtualLeader, number == 0 ? name : name + "-" + number));
        progressThreads.onDuty().start();
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

    /** Adds a source to poll. */
    public void addSource(ProgressSource source) {
        rounds.addSource(source);
        wakeLeader();
    }

    /**
     * Stops polling a source. When this returns, no thread polls it any more, and the caller may close it; if the
     * caller is a callback of a poll, only when the round is over.
     *
     * @throws WaitInterruptedException if the thread is interrupted while another leads; the source is removed
     *     nevertheless
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
                () -> { // between two polls, in the thread that leads
                    rounds.removeSource(source);
                    done.set(true);
                    signal(removed);
                    return true;
                });
        await(removed, done::get, NO_DEADLINE);
    }

    /**
     * Adds a task that calls handlers. The leader runs it after each round, outside all polls. The task returns how
     * much it has handled; while that is above 0, the leader counts as busy.
     *
     * @param name the channel or object whose handlers it calls, for error messages
     * @param hasWork a cheap check, from the leader's view, whether the task has work
     * @param hint the wait hint of those handlers
     */
    public Dispatcher addDispatcher(String name, IntSupplier dispatcher, BooleanSupplier hasWork, WaitHint hint) {
        Dispatcher added = new Dispatcher(name, dispatcher, hasWork, true);
        hintCounts.add(hint);
        rounds.addDispatcher(added);
        raiseDemand();
        return added;
    }

    /**
     * As {@link #addDispatcher(String, IntSupplier, BooleanSupplier, WaitHint)}, for a task that runs in each round.
     */
    public Dispatcher addDispatcher(String name, IntSupplier dispatcher, WaitHint hint) {
        return addDispatcher(name, dispatcher, () -> true, hint);
    }

    /** As {@link #addDispatcher(String, IntSupplier, WaitHint)}, with a default name. */
    public Dispatcher addDispatcher(IntSupplier dispatcher, WaitHint hint) {
        return addDispatcher("the session", dispatcher, hint);
    }

    /**
     * Adds a task that any thread may run by {@link #dispatch}; otherwise the leader runs it after its next round. It
     * runs outside all polls and handlers, in one thread at a time, and waits in it count as waits of a handler. A
     * thread that gives the task work {@linkplain #raiseDemand raises demand}.
     *
     * @param name for error messages
     * @param task returns how much it has done
     * @param hasWork a cheap check whether the task has work
     */
    public Dispatcher addDispatcher(String name, IntSupplier task, BooleanSupplier hasWork) {
        Dispatcher added = new Dispatcher(name, task, hasWork, false);
        rounds.addDispatcher(added);
        return added;
    }

    /**
     * Runs a dispatcher in the calling thread if {@code here} permits it, the caller is a platform thread outside all
     * polls, handlers and dispatchers, and no other thread is inside. The next leader does the rest.
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
        } else if (dispatcher.hasWork()) {
            roundIsWanted = true;
            wakeLeader();
            callOwnThread();
        }
    }

    /** Runs a dispatcher in the calling thread until it has no work; for a closed engine, which has no leader. */
    public void dispatchRest(Dispatcher dispatcher) {
        while (dispatcher.hasWork() && dispatcher.run(Thread.currentThread()) != 0) {
            Thread.onSpinWait();
        }
    }

    /**
     * Returns an executor that runs each task in a new virtual thread. If handlers start many of them in the leader,
     * the threads need not wait until the system has woken a carrier ({@link VirtualLeader}).
     *
     * @param name the prefix of the threads' names; a number follows
     */
    public Executor virtualThreads(String name) {
        ThreadFactory threads = Thread.ofVirtual().name(name, 0).factory();
        return task -> {
            threads.newThread(task).start();
            wakeups.note();
        };
    }

    /** Retries {@code step} in each round until it is finished. Do not enqueue a step again before that. */
    public void enqueue(Step step) {
        rounds.addStep(step);
        wakeLeader();
    }

    /**
     * Demands progress although no thread waits for it: the session's own thread leads if no other does. Call {@link
     * #lowerDemand} once for each call.
     */
    public void raiseDemand() {
        // the virtual leader checks the demand after its turn
        if (demand.getAndIncrement() == 0 && !virtualLeader.hasTurn()) {
            wakeOwnThread();
        }
    }

    /** As {@link #raiseDemand()}, for a thread that waits and cannot lead. */
    void raiseDemandAtOnce() {
        raiseDemand();
        progressThreads.onDuty().hurry();
    }

    /** Undoes one {@link #raiseDemand()}. */
    public void lowerDemand() {
        demand.decrementAndGet();
    }

    /** How many demands for progress are raised, without those of adapters. */
    public int demand() {
        return demand.get();
    }

    boolean hasDemand() {
        return demand.get() > 0 || roundIsWanted || demands.isHeld();
    }

    /** Whether only adapters demand progress: no handler, no waiting thread. */
    boolean isOnlyForDemands() {
        return demand.get() == 0 && !roundIsWanted;
    }

    /**
     * Whether threads have polled, without the lead, every adapter that demands it since the last call. Called by the
     * session's own thread.
     */
    boolean areDemandsPolledAside() {
        return demands.arePolledAside();
    }

    /** Whether only handlers demand progress. */
    boolean isOnlyForHandlers() {
        return demand.get() <= rounds.handlerCount() && !roundIsWanted;
    }

    /** Whether anything but handlers demands progress: a waiting thread, pending work, or an adapter. */
    boolean needsMoreThanHandlers() {
        return !isOnlyForHandlers() || demands.isHeld();
    }

    /** Whether the leader has to do another round before it sleeps. */
    boolean isRoundWanted() {
        return roundIsWanted;
    }

    boolean isClosed() {
        return lead.isClosed();
    }

    boolean isLed() {
        return lead.isHeld();
    }

    /** Whether the session's own thread leads and sleeps, so that another thread may take the lead from it. */
    boolean isLeadAsleep() {
        return lead.isAsleep();
    }

    /** Whether the lead is held, awake or asleep, by another thread than this one, which is awake. */
    boolean isLedByAnother(Thread thread) {
        return lead.isHeldByAnother(thread);
    }

    /** How often a thread has taken the lead. */
    int leadCount() {
        return lead.takeCount();
    }

    /** How often threads have begun to poll, with the lead or beside it, roughly. */
    int pollCount() {
        return lead.takeCount() + rounds.visits();
    }

    /** Whether a thread that could lead is parked. */
    boolean hasLeadSeekers() {
        return waitList.hasLeadSeekers();
    }

    /**
     * The session's own thread on duty, which leads if no other thread does. It may be the caller if that is a handler.
     */
    public Thread ownThreadOnDuty() {
        return progressThreads.onDuty();
    }

    ProgressThreads progressThreads() {
        return progressThreads;
    }

    /** Whether this thread belongs to the session and works for all: no interrupt is meant for it. */
    private boolean isOwn(Thread thread) {
        return thread instanceof ProgressThread || virtualLeader.isRunBy(thread);
    }

    /**
     * Restores the interrupt status after a call of the user's code, before which the caller cleared it by {@link
     * Thread#interrupted()}. A thread of the user is interrupted again if it was interrupted before or during the call;
     * a thread of the engine never is.
     *
     * @param wasInterrupted the result of {@link Thread#interrupted()} before the call
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
     * Clears the thread's interrupt status after a block's memory was freed while the thread copied it: the JVM stops a
     * thread that accesses memory which another thread closes, and leaves it interrupted. Nobody has asked for that
     * interrupt: the waits of the thread must not end because of it, neither the engine's nor the program's. (One that
     * was meant is lost with it; the call that copied fails all the same.)
     */
    public static void afterFreedMemory() {
        boolean _ = Thread.interrupted();
    }

    /** A thread that never runs; memory confined to it is accessible to no thread. */
    public Thread absentThread() {
        return absentThread;
    }

    /**
     * Does one round without waiting; in a handler, a round without handlers. For a virtual thread, the session's own
     * thread does it a moment later.
     *
     * @return how many events were handled; 0 also if another thread leads, if the caller is virtual, or if it is a
     *     callback of a poll
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
            progressThreads.onDuty().hurry();
            leaveCarrier();
            return 0;
        }
        long selfId = self.threadId();
        if (!lead.tryTake(self)) {
            return 0;
        }
        try {
            leading.begin();
            int work = once(inHandler);
            boolean _ = sleeping.giveBack();
            return work;
        } finally {
            if (lead.holder == selfId) {
                lead.holder = Lead.NOBODY; // no call here: the stack may be exhausted
            }
            passLeadOn();
        }
    }

    /**
     * Requests one more round, because there is work that no event announces. The session's own thread does it if no
     * thread leads.
     */
    public void requestRound() {
        roundIsWanted = true;
        wakeLeader();
        if (!lead.isHeld()) {
            passLeadOn();
        }
    }

    /**
     * Whether the calling thread, which is about to wait, may call handlers without leading: it is a platform thread
     * that runs no handler and does not lead, and the policy spins.
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
     * Lets other virtual threads have the carrier. A thread that only yields may be resumed again and again before
     * threads that others have made runnable; so this parks now and then.
     */
    private void leaveCarrier() {
        if (++asideCount % ASIDE_YIELDS == 0) {
            LockSupport.parkNanos(this, 1);
        } else {
            Thread.yield();
        }
    }

    /**
     * Checks whether an error of the JVM comes from memory that a network shares with other processes, such as a
     * truncated file. If so, the network gives up the connections that need the memory, and the next poll reports their
     * loss. Any thread.
     *
     * @return whether the error comes from such memory
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
        if (work == Rounds.LEAD_IS_GONE) { // work that arrived for the handler meanwhile needs a round
            requestRound();
        }
        return work;
    }

    /**
     * Waits until the condition holds. The calling thread drives all networks meanwhile, or sleeps while another thread
     * does.
     *
     * @param on the object that is signalled when the condition may have changed
     * @param deadlineNs in {@link System#nanoTime()} terms, or {@link #NO_DEADLINE}
     * @return whether the condition held by the deadline
     * @throws WaitInterruptedException if the thread is interrupted; not in a handler, for which no interrupt is meant
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
        if (leads) { // the caller is a condition that the leader checks
            return lead(true, on, condition, deadlineNs) == WaitOutcome.MET;
        }
        boolean mayLead = !self.isVirtual();
        long selfId = self.threadId();
        if (!mayLead) {
            raiseDemandAtOnce();
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
                            lead.holder = Lead.NOBODY; // no call here: the stack may be exhausted
                        }
                        if (outcome == WaitOutcome.LEFT_TO_VIRTUAL) {
                            mayLead = false; // the rest of this wait follows, as that of a virtual thread
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
                    default -> Thread.onSpinWait(); // the lead is free: try to take it
                }
            }
        } finally {
            if (!mayLead) {
                lowerDemand();
            }
        }
    }

    /** Whether the calling thread may spin for a moment: it is a platform thread, and the policy spins. */
    public boolean maySpin() {
        return leading.spins() && !Thread.currentThread().isVirtual();
    }

    /** Makes all threads that wait on {@code on} check their conditions again. */
    public void signal(Waitable on) {
        if (!on.waiters.isEmpty()) {
            waitList.signal(on);
        }
    }

    /**
     * Makes the thread that has waited on {@code on} for longest check its condition again. This is enough for a change
     * that serves any one of the waiters, such as an arriving message. If that thread gives up or fails before its
     * condition holds, the engine tells the next one. A thread whose condition holds but that does not take what it
     * waited for calls this again.
     */
    public void signalOne(Waitable on) {
        if (!on.waiters.isEmpty() && !leading.takesNote(on)) {
            waitList.signalOne(on);
        }
    }

    /** Whether a parked thread, or a leader that sleeps, waits on {@code on}. */
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

    /** Passes the lead on, according to the outcome of the leader's wait. */
    void releaseLead(WaitOutcome outcome) {
        if (outcome == WaitOutcome.LEAD_IS_GONE) {
            return;
        }
        if (outcome == WaitOutcome.LEFT_TO_VIRTUAL) {
            lead.release();
            virtualLeader.giveTurn();
            callOwnThread(); // it watches the virtual leader
        } else {
            releaseLead();
        }
    }

    /** Releases the lead for a moment and offers it to no thread. */
    void stepAside() {
        lead.release();
    }

    /** The virtual leader's turn is over: another thread does the rest. */
    void turnIsOver() {
        if (waitList.hasLeadSeekers()) {
            waitList.offerLead();
        } else if (hasDemand()) {
            wakeOwnThread();
        }
    }

    /**
     * An adapter holds a demand. A leader drives it, and passes the lead on when it leaves; without one, the session's
     * own thread does.
     */
    private void driveAdapters() {
        if (!lead.isHeld() && !virtualLeader.hasTurn()) {
            callOwnThread();
        }
    }

    /** Offers the free lead to a thread that wants it; does nothing if the lead is asleep. */
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

    /** Makes the session's own thread check whether the lead is free, unless it sleeps with the lead. */
    private void callOwnThread() {
        if (lead.hasOtherSleeper()) {
            wakeSleeper();
        } else {
            progressThreads.onDuty().leadIsFree();
        }
    }

    /** Wakes the session's own thread, which has work, unless it sleeps with the lead. */
    private void wakeOwnThread() {
        if (lead.hasOtherSleeper()) {
            wakeSleeper();
        } else {
            progressThreads.onDuty().wake();
        }
    }

    /**
     * Wakes the thread in the reactor's sleep if it does not have the lead: the thread that took the lead from it may
     * have left.
     */
    private void wakeSleeper() {
        if (!lead.isAsleep()) {
            reactor.wakeUp();
        }
    }

    /** Makes a sleeping leader check again: a source wants more events than those for which it may be armed. */
    public void lookAgain() {
        wakeLeader();
    }

    private void wakeLeader() {
        if (sleeping.isAsleep()) {
            reactor.wakeUp();
        }
    }

    /**
     * Polls and sleeps until the condition holds, the deadline has come, or a virtual thread should lead. The caller
     * holds the lead.
     */
    WaitOutcome lead(boolean inHandler, Waitable on, Condition condition, long deadlineNs) {
        return leading.lead(inHandler, on, condition, deadlineNs);
    }

    /**
     * Throws if the engine is closed or the thread is interrupted. An interrupt does not end the wait of a handler, or
     * of a thread that leads for others.
     */
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

    /**
     * A thread that could lead has begun to wait: if the session's own thread leads, it wakes up and passes the lead
     * on.
     */
    void relieveProgressThread() {
        if (lead.isHeldBy(progressThreads.onDuty())) {
            reactor.wakeUp(); // a thread that leads for itself gets its message sooner
        }
    }

    /** Whether the session's own thread leads although a parked thread could. */
    boolean progressThreadShouldYield() {
        return lead.isHeldBy(progressThreads.onDuty()) && waitList.hasLeadSeekers();
    }

    /**
     * Checks that the calling thread may {@linkplain #close close} the engine.
     *
     * @throws IllegalStateException from a callback of a poll, because the poll would then use what is freed
     */
    public void checkMayClose() {
        if (lead.isHeldBy(Thread.currentThread()) && rounds.isPolling()) {
            throw new IllegalStateException("the action of a completion must not close the session, which is being"
                    + " polled: let another thread do it");
        }
    }

    /**
     * Ends all waits with {@link SessionException}, stops the session's own threads, and takes the lead for good: when
     * this returns, no thread polls any more, and what was polled may be freed. Idempotent.
     *
     * @throws IllegalStateException from a callback of a poll, because the poll would then use what is freed
     */
    @Override
    public void close() {
        checkMayClose();
        lead.close();
        reactor.wakeUp(); // the thread that sleeps there need not be the leader
        waitList.wakeAll();
        virtualLeader.end();
        progressThreads.end();
        lead.takeForGood(reactor);
        rounds.closeHandlers(System.nanoTime() + LONGEST_HANDLER_NS);
    }
}
