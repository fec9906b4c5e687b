package io.madeleine.session;

import io.madeleine.api.SessionException;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Starts more processes on request: in a launcher for all of its processes, elsewhere in the process that asks.
 *
 * <p>Threading: thread-safe.
 */
final class Spawner {
    private final Settings settings;
    private final Terminal terminal;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<ProcessGroup> groups = new CopyOnWriteArrayList<>();
    private int started;
    private boolean stopped;

    /**
     * How processes are started.
     *
     * @param environment what they inherit
     * @param prefix whether each line of output begins with the numbers of the request and the process, {@code [1:0] }
     * @param graceNs how long a process that was asked to end may take until it is killed
     * @param abortNs how long those may take whose session is aborted
     * @param peerNs after how long without a sign a process of another host is dead
     * @param unclean called when all of a request have ended and some have not cleaned up
     */
    record Settings(
            Map<String, String> environment,
            boolean prefix,
            long graceNs,
            long abortNs,
            long peerNs,
            Runnable unclean) {}

    /**
     * Where output goes, whole lines at a time.
     *
     * @param unwritable called when it cannot be written, again and again
     */
    record Terminal(PrintStream out, PrintStream errors, ReentrantLock lock, Runnable unwritable) {}

    Spawner(Settings settings, Terminal terminal) {
        this.settings = settings;
        this.terminal = terminal;
    }

    /** In a process without launcher: output goes where its own goes, and what is left behind is removed. */
    static Spawner ofThisProcess(SessionConfig config) {
        Leftovers leftovers = new Leftovers(config);
        Timeouts timeouts = config.timeouts();
        Settings settings = new Settings(
                new HashMap<>(System.getenv()),
                false,
                LaunchPlan.Conduct.DEFAULT.grace().toNanos(),
                timeouts.abortNs(),
                timeouts.peerNs(),
                () -> {
                    leftovers.expect();
                    leftovers.remove();
                });
        return new Spawner(settings, new Terminal(System.out, System.err, new ReentrantLock(), () -> {}));
    }

    Settings settings() {
        return settings;
    }

    Terminal terminal() {
        return terminal;
    }

    /**
     * Starts processes.
     *
     * @throws SessionException if one of them cannot be started; none runs then
     */
    ProcessGroup start(LaunchSpec spec) {
        lock.lock();
        try {
            if (stopped) {
                throw new SessionException("nothing is launched any more: all processes are being stopped");
            }
            ProcessGroup group = new ProcessGroup(++started, spec, this);
            groups.add(group);
            return group;
        } finally {
            lock.unlock();
        }
    }

    /** Whether some that were started have not ended. */
    boolean hasRunning() {
        return groups.stream().anyMatch(ProcessGroup::isRunning);
    }

    /** Waits until all that were started have ended, also those that are started meanwhile. */
    void awaitEnd() throws InterruptedException {
        for (int i = 0; i < groups.size(); i++) {
            while (!groups.get(i).awaitEnd(Long.MAX_VALUE)) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("while launched processes run");
                }
            }
        }
    }

    /** Starts nothing more, and asks all to end. */
    void requestEnd() {
        lock.lock();
        try {
            stopped = true;
        } finally {
            lock.unlock();
        }
        groups.forEach(ProcessGroup::requestEnd);
    }

    /** Starts nothing more, asks all to end, and kills those that do not in time. */
    void stop() {
        requestEnd();
        groups.forEach(ProcessGroup::stop);
    }
}
