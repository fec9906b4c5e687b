package io.madeleine.pmm;

import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;
import org.jctools.queues.varhandle.MpscGrowableVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The work of one round: poll every source, retry pending steps, poll the reactor now and then, call handlers.
 *
 * <p>Threading: {@link #run}, {@link #arm} and {@link #disarm} belong to the leader; the rest is thread-safe.
 */
final class Rounds {
    /** Polls the reactor once in this many rounds: its events are rare, and a poll is a system call. */
    private static final int REACTOR_ROUNDS = 1024;

    /** The result of a round in which a handler has released the lead: the caller is no longer the leader. */
    static final int LEAD_IS_GONE = -1;

    /** A connection has at most two steps in the queue, which grows as needed and then allocates nothing more. */
    private static final int MAX_NEW_STEPS = 1 << 20;

    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");

    private final Reactor reactor;
    private final CopyOnWriteArrayList<ProgressSource> sourceList = new CopyOnWriteArrayList<>();
    private volatile ProgressSource[] sources = {};
    private volatile Dispatcher[] dispatchers = {};
    private volatile int handlerCount;
    private final MpscGrowableVarHandleArrayQueue<Step> newSteps =
            new MpscGrowableVarHandleArrayQueue<>(64, MAX_NEW_STEPS);
    private final ArrayList<Step> steps = new ArrayList<>();
    private ProgressSource[] armed = {};
    private int armedCount;
    private int reactorCountdown = REACTOR_ROUNDS;
    private boolean polling;

    Rounds(Reactor reactor) {
        this.reactor = reactor;
    }

    void addSource(ProgressSource source) {
        sourceList.add(source);
        sources = sourceList.toArray(ProgressSource[]::new);
    }

    void removeSource(ProgressSource source) {
        sourceList.remove(source);
        sources = sourceList.toArray(ProgressSource[]::new);
    }

    void addDispatcher(IntSupplier dispatcher) {
        addDispatcher(new Dispatcher("the session", dispatcher, () -> true, true));
    }

    synchronized void addDispatcher(Dispatcher dispatcher) {
        Dispatcher[] grown = Arrays.copyOf(dispatchers, dispatchers.length + 1);
        grown[grown.length - 1] = dispatcher;
        dispatchers = grown;
        if (dispatcher.isForHandlers()) {
            handlerCount++;
        }
    }

    /** How many dispatchers call handlers. */
    int handlerCount() {
        return handlerCount;
    }

    /** How often threads have polled for a dispatcher's work without leading, roughly. */
    int visits() {
        int sum = 0;
        for (Dispatcher dispatcher : dispatchers) {
            sum += dispatcher.visits();
        }
        return sum;
    }

    /** Prevents further calls of handlers; waits until {@code giveUpNs} for running ones. */
    void closeHandlers(long giveUpNs) {
        for (Dispatcher dispatcher : dispatchers) {
            if (dispatcher.isForHandlers()) {
                boolean _ = dispatcher.close(giveUpNs);
            }
        }
    }

    void addStep(Step step) {
        if (!newSteps.offer(step)) {
            throw new IllegalStateException("more than " + MAX_NEW_STEPS + " pending operations");
        }
    }

    boolean hasNewSteps() {
        return !newSteps.isEmpty();
    }

    /**
     * Whether the leader is where another round must not begin: in a poll or step, or about to sleep. Not in a handler.
     */
    boolean isPolling() {
        return polling;
    }

    /** The dispatcher whose handler this thread runs, if any. */
    @Nullable
    Dispatcher dispatcherRunBy(Thread thread) {
        for (Dispatcher dispatcher : dispatchers) {
            if (dispatcher.isRunBy(thread)) {
                return dispatcher;
            }
        }
        return null;
    }

    /** Does one round; returns how many events were handled, or {@link #LEAD_IS_GONE}. */
    int run(long nowNs) {
        int work = poll(nowNs);
        Thread self = Thread.currentThread();
        for (Dispatcher dispatcher : dispatchers) {
            int handled = dispatcher.run(self);
            if (handled == LEAD_IS_GONE) {
                return LEAD_IS_GONE;
            }
            work += handled;
        }
        return work;
    }

    /** Does one round without handlers. */
    int poll(long nowNs) {
        int work = 0;
        polling = true;
        try {
            for (ProgressSource source : sources) {
                work += source.poll(nowNs);
            }
            if (!steps.isEmpty() || !newSteps.isEmpty()) {
                work += runSteps();
            }
            if (--reactorCountdown <= 0) {
                reactorCountdown = REACTOR_ROUNDS;
                work += reactor.poll();
            }
        } finally {
            polling = false;
        }
        return work;
    }

    /** Whether the error came from one of the sources, which has handled it. Any thread. */
    boolean recover(InternalError fault) {
        boolean recovered = false;
        for (ProgressSource source : sources) {
            recovered |= source.recover(fault);
        }
        return recovered;
    }

    private int runSteps() {
        takeNewSteps();
        int finished = 0;
        for (int i = 0; i < steps.size(); ) {
            if (isFinished(steps.get(i))) {
                int last = steps.size() - 1;
                steps.set(i, steps.get(last));
                steps.remove(last);
                finished++;
            } else {
                i++;
            }
        }
        return finished;
    }

    /** Reserves room before it takes a step: if memory is short, no step is lost. */
    private void takeNewSteps() {
        while (!newSteps.isEmpty()) {
            steps.ensureCapacity(steps.size() + 1);
            Step next = newSteps.poll();
            if (next == null) {
                return;
            }
            steps.add(next);
        }
    }

    /**
     * Tries a step. A step that lacks memory is retried in the next round; one that fails otherwise is dropped, so that
     * the others go on.
     */
    private boolean isFinished(Step step) {
        try {
            return step.step();
        } catch (OutOfMemoryError _) {
            return false;
        } catch (InternalError e) {
            if (recover(e)) {
                return false;
            }
            LOGGER.log(System.Logger.Level.ERROR, "pending work failed and is given up: " + step, e);
            return true;
        } catch (RuntimeException | Error e) {
            LOGGER.log(System.Logger.Level.ERROR, "pending work failed and is given up: " + step, e);
            return true;
        }
    }

    /** Arms all sources for sleep; returns false if one has an event. {@link #disarm} follows in either case. */
    boolean arm() {
        polling = true;
        armed = sources;
        boolean quiet = newSteps.isEmpty();
        for (armedCount = 0; armedCount < armed.length; ) {
            quiet &= armed[armedCount++].armForBlocking();
        }
        return quiet;
    }

    /**
     * Arms all sources again for a thread that has not woken up since; returns false if one has an event or would need
     * too much time.
     */
    boolean rearm() {
        polling = true;
        armed = sources;
        armedCount = 0;
        boolean quiet = newSteps.isEmpty();
        while (quiet && armedCount < armed.length) {
            quiet = armed[armedCount++].rearm();
        }
        return quiet;
    }

    /** How long the armed sources permit to sleep, in nanoseconds. */
    long longestSleepNs() {
        long longest = Long.MAX_VALUE;
        for (ProgressSource source : armed) {
            longest = Math.min(longest, source.longestSleepNs());
        }
        return longest;
    }

    void disarm() {
        disarm(false);
    }

    private void disarm(boolean forAMoment) {
        Throwable failure = null;
        for (int i = 0; i < armedCount; i++) {
            try {
                if (forAMoment) {
                    armed[i].disarmForAMoment();
                } else {
                    armed[i].disarm();
                }
            } catch (RuntimeException | Error e) { // disarm the other sources in any case
                failure = e;
            }
        }
        polling = false;
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
    }

    /**
     * Disarms, probably for a moment only; called instead of {@link #disarm} by a thread that has taken the lead from a
     * sleeper.
     */
    void disarmForAMoment() {
        disarm(true);
    }
}
