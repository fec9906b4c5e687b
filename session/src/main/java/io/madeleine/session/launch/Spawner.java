package io.madeleine.session.launch;

import io.madeleine.api.SessionException;
import io.madeleine.session.bootstrap.LaunchSpec;
import io.madeleine.session.config.SessionConfig;
import io.madeleine.session.config.Timeouts;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Starts more processes on request. In a launcher, it serves all the launcher's processes; without launcher, it runs in
 * the process that makes the request.
 *
 * <p>Threading: thread-safe.
 */
public final class Spawner {
    private final Settings settings;
    private final Terminal terminal;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<ProcessGroup> groups = new CopyOnWriteArrayList<>();
    private int started;
    private boolean stopped;

    /**
     * How processes are started.
     *
     * @param environment the environment that they inherit
     * @param directory their working directory; empty for that of this process
     * @param prefix whether each line of output begins with the numbers of the request and of the process, {@code [1:0]
     *     }
     * @param graceNs the time between the request to end and the kill
     * @param abortNs the time that processes of an aborted session have to end by themselves
     * @param peerNs the silence after which a process on another host counts as dead
     * @param unclean called when all processes of a request have ended and some may not have cleaned up
     */
    public record Settings(
            Map<String, String> environment,
            Optional<Path> directory,
            boolean prefix,
            long graceNs,
            long abortNs,
            long peerNs,
            Runnable unclean) {}

    /**
     * Where the output of processes goes, in whole lines.
     *
     * @param lock held while lines are written to either stream
     * @param unwritable called after each write that failed
     */
    public record Terminal(PrintStream out, PrintStream errors, ReentrantLock lock, Runnable unwritable) {}

    public Spawner(Settings settings, Terminal terminal) {
        this.settings = settings;
        this.terminal = terminal;
    }

    /**
     * For a process without launcher. Launched processes share its output streams, and it removes what they leave
     * behind.
     *
     * @param graceNs the time between the request to end and the kill
     */
    public static Spawner ofThisProcess(SessionConfig config, long graceNs) {
        Leftovers leftovers = new Leftovers(config);
        Timeouts timeouts = config.timeouts();
        Settings settings = new Settings(
                new HashMap<>(System.getenv()),
                Optional.empty(),
                false,
                graceNs,
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
    public ProcessGroup start(LaunchSpec spec) {
        lock.lock();
        try {
            if (stopped) {
                throw new SessionException("no process can be launched: all processes are being stopped");
            }
            ProcessGroup group = new ProcessGroup(++started, spec, this);
            groups.add(group);
            return group;
        } finally {
            lock.unlock();
        }
    }

    /** Whether some launched process still runs. */
    public boolean hasRunning() {
        return groups.stream().anyMatch(ProcessGroup::isRunning);
    }

    /** Waits until all launched processes have ended, also those that are launched meanwhile. */
    public void awaitEnd() throws InterruptedException {
        for (int i = 0; i < groups.size(); i++) {
            while (!groups.get(i).awaitEnd(Long.MAX_VALUE)) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("while launched processes run");
                }
            }
        }
    }

    /** Refuses further requests and asks all launched processes to end. */
    public void requestEnd() {
        lock.lock();
        try {
            stopped = true;
        } finally {
            lock.unlock();
        }
        groups.forEach(ProcessGroup::requestEnd);
    }

    /**
     * Refuses further requests, asks all launched processes to end, and kills those that do not end within the grace
     * time.
     */
    public void stop() {
        requestEnd();
        groups.forEach(ProcessGroup::stop);
    }
}
