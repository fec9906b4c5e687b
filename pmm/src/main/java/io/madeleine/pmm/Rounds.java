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
 * What the leader does in a round: poll every source, retry pending steps, look at the reactor now and then, call
 * handlers.
 *
 * <p>Threading: {@link #run}, {@link #arm} and {@link #disarm} belong to the leader; the rest is thread-safe.
 */
final class Rounds {
    /** The reactor's events are rare and looking for them is a system call: every so many rounds. */
    private static final int REACTOR_ROUNDS = 1024;

    /** What a round returns in which a handler has let the lead go: the caller is leader no more. */
    static final int LEAD_IS_GONE = -1;

    /** Two for each connection at most; the queue grows to what is needed and allocates no more then. */
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

    /** Lets no handler be called any more; waits no longer than that for those that run. */
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
     * Whether the leader is at a point where another round must not begin: within a poll or step, or about to sleep; not
     * within a handler.
     */
    boolean isPolling() {
        return polling;
    }

    /** The dispatcher in which that thread is, if it runs a handler. */
    @Nullable
    Dispatcher dispatcherRunBy(Thread thread) {
        for (Dispatcher dispatcher : dispatchers) {
            if (dispatcher.isRunBy(thread)) {
                return dispatcher;
            }
        }
        return null;
    }

    /** One round; returns how many events were handled, or {@link #LEAD_IS_GONE}. */
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

    /** One round without handlers. */
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

    /** Whether an error was of one of the sources, which has dealt with it. Any thread. */
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

    /** Memory may be short: none is lost for that. */
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

    /** Does a step; one that fails is given up, so that the others go on. What lacks memory is tried again in the next round. */
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

    /** Prepares all sources for sleep; false if one has news. {@link #disarm} follows in any case. */
    boolean arm() {
        polling = true;
        armed = sources;
        boolean quiet = newSteps.isEmpty();
        for (armedCount = 0; armedCount < armed.length; ) {
            quiet &= armed[armedCount++].armForBlocking();
        }
        return quiet;
    }

    /** The same for a sleep that has never ended, if that costs next to nothing; false if not, or one has news. */
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

    /** How long a sleep of the armed sources may take, in nanoseconds. */
    long longestSleepNs() {
        long longest = Long.MAX_VALUE;
        for (ProgressSource source : armed) {
            longest = Math.min(longest, source.longestSleepNs());
        }
        return longest;
    }

    void disarm() {
        Throwable failure = null;
        for (int i = 0; i < armedCount; i++) {
            try {
                armed[i].disarm();
            } catch (RuntimeException | Error e) { // the others must not be taken for asleep
                failure = e;
            }
        }
        polling = false;
        switch (failure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException(failure);
        }
    }

    /** Instead of {@link #disarm}, by who has taken the lead from a sleeper. */
    void disarmForAMoment() {
        for (int i = 0; i < armedCount; i++) {
            armed[i].disarmForAMoment();
        }
        polling = false;
    }
}
