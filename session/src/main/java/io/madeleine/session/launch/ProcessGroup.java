package io.madeleine.session.launch;

import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.SessionException;
import io.madeleine.session.bootstrap.BootstrapServer;
import io.madeleine.session.bootstrap.Exit;
import io.madeleine.session.bootstrap.LaunchSpec;
import io.madeleine.session.bootstrap.LaunchedGroup;
import io.madeleine.session.bootstrap.Secrets;
import io.madeleine.session.config.HostAddress;
import io.madeleine.session.config.ProcessEnvironment;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The processes of one launch request. They are the ranks of a session of their own, with a bootstrap server of their
 * own. An {@link OrphanGuard} ends them if this process is killed.
 *
 * <p>Threading: thread-safe after construction.
 */
public final class ProcessGroup implements LaunchedGroup {
    private static final long EXIT_MS = 500;
    private static final long OUTPUT_TIMEOUT_NS = 2_000_000_000;

    private final int number;
    private final Spawner.Settings settings;
    private final Spawner.Terminal terminal;
    private final BootstrapServer server;
    private final OrphanGuard guard;
    private final List<Process> processes = new CopyOnWriteArrayList<>();
    private final List<LaunchedProcess> launched = new ArrayList<>();
    private final List<OutputPump> pumps = new ArrayList<>();
    private final AtomicInteger left;
    private final CompletableFuture<Boolean> over = new CompletableFuture<>();
    private volatile boolean stopping;
    private volatile boolean unclean;

    /** Starts all processes. If one cannot be started, none is left running. */
    ProcessGroup(int number, LaunchSpec spec, Spawner spawner) {
        this.number = number;
        this.settings = spawner.settings();
        this.terminal = spawner.terminal();
        this.left = new AtomicInteger(spec.processes());
        String secret = Secrets.generate();
        try {
            this.server = new BootstrapServer(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    new BootstrapServer.Settings(spec.processes(), secret, -1, settings.peerNs()));
        } catch (IOException e) {
            throw new SessionException(
                    "cannot listen on the loopback interface for launched processes: " + e.getMessage(), e);
        }
        server.exitsFrom(pid -> exitCode(processes, pid));
        server.onEnd(_ -> aborted());
        server.launchBy(spawner::start);
        this.guard = new OrphanGuard(TimeUnit.NANOSECONDS.toMillis(settings.graceNs()));
        boolean complete = false;
        try {
            for (int rank = 0; rank < spec.processes(); rank++) {
                start(rank, spec, secret);
            }
            complete = true;
        } catch (IOException | RuntimeException e) {
            throw new SessionException(
                    "only " + processes.size() + " of " + spec.processes() + " processes could be started: "
                            + e.getMessage(),
                    e);
        } finally {
            if (!complete) {
                killStarted();
                server.close();
                guard.close();
            }
        }
        for (LaunchedProcess one : launched) {
            Process process = processes.get(one.rank());
            process.onExit().thenRunAsync(() -> ended(one, process), ProcessGroup::beside);
        }
    }

    /** Kills the processes that have been started, and waits until none runs. */
    private void killStarted() {
        processes.forEach(ProcessGroup::kill);
        processes.forEach(process -> process.onExit().join());
        if (!processes.isEmpty()) {
            settings.unclean().run();
        }
    }

    /**
     * Asks a process to end. What it prints until then is still read, while {@link Process#destroy} would close its
     * output here.
     */
    public static void requestEnd(Process process) {
        boolean _ = process.toHandle().destroy();
    }

    /** Kills a process; what it has printed is still read. */
    public static void kill(Process process) {
        boolean _ = process.toHandle().destroyForcibly();
    }

    private static void beside(Runnable task) {
        Thread.ofPlatform().daemon().name("madeleine-launched").start(task);
    }

    private void start(int rank, LaunchSpec spec, String secret) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(spec.command());
        Map<String, String> environment = builder.environment();
        settings.directory().map(Path::toFile).ifPresent(builder::directory);
        environment.clear();
        environment.putAll(settings.environment());
        environment.putAll(spec.environment());
        InetSocketAddress contact = server.address();
        environment.put(
                ProcessEnvironment.LAUNCHER,
                new HostAddress(contact.getAddress().getHostAddress(), contact.getPort()).toString());
        environment.put(ProcessEnvironment.RANK, Integer.toString(rank));
        environment.put(ProcessEnvironment.SIZE, Integer.toString(spec.processes()));
        environment.put(ProcessEnvironment.SECRET, secret);
        Process process = builder.redirectInput(Redirect.PIPE).start();
        processes.add(process);
        guard.started(process.pid());
        process.getOutputStream().close();
        String prefix = settings.prefix() ? "[" + number + ":" + rank + "] " : "";
        pumps.add(new OutputPump(process.getInputStream(), terminal.out(), terminal, prefix));
        pumps.add(new OutputPump(process.getErrorStream(), terminal.errors(), terminal, prefix));
        launched.add(new LaunchedProcess(rank, process.pid(), new CompletableFuture<>()));
    }

    @Override
    public List<LaunchedProcess> launched() {
        return List.copyOf(launched);
    }

    /**
     * The exit code of one of these processes, which is ending: waits for it for half a second at most. Empty if it
     * has not ended by then, or is none of these.
     */
    public static OptionalInt exitCode(List<Process> processes, long pid) {
        try {
            for (Process process : processes) {
                if (process.pid() == pid && process.waitFor(EXIT_MS, TimeUnit.MILLISECONDS)) {
                    return OptionalInt.of(process.exitValue());
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return OptionalInt.empty();
    }

    private void ended(LaunchedProcess one, Process process) {
        int code = process.exitValue();
        guard.ended(one.pid());
        Optional<String> wrong = server.processEnded(one.rank(), one.pid(), "its process ended " + Exit.describe(code));
        if (code != 0 || server.hasLostProcess()) { // set only: several ends may be handled at once
            unclean = true;
        }
        if (!stopping) {
            wrong.ifPresent(words -> terminal.errors().println("madeleine: launch request " + number + ": " + words));
        }
        boolean last = left.decrementAndGet() == 0;
        if (last) {
            awaitOutput();
            server.close();
            guard.close();
            if (unclean) {
                settings.unclean().run();
            }
        }
        one.exit().complete(code);
        if (last) {
            over.complete(true);
        }
    }

    private void awaitOutput() {
        try {
            boolean _ = OutputPump.awaitAll(pumps, System.nanoTime() + OUTPUT_TIMEOUT_NS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void stopBeside() {
        stopping = true;
        beside(this::stop);
    }

    private void aborted() {
        stopping = true;
        beside(() -> stopAfter(settings.abortNs()));
    }

    private void stopAfter(long patienceNs) {
        if (!awaitEnd(patienceNs)) {
            stop();
        }
    }

    boolean isRunning() {
        return !over.isDone();
    }

    /** Whether all processes end within this time. */
    boolean awaitEnd(long timeoutNs) {
        try {
            return over.get(Math.max(0, timeoutNs), TimeUnit.NANOSECONDS);
        } catch (java.util.concurrent.TimeoutException | java.util.concurrent.ExecutionException _) {
            return false;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Asks all processes to end. */
    void requestEnd() {
        stopping = true;
        processes.forEach(ProcessGroup::requestEnd);
    }

    /** Asks all processes to end, kills those that do not end within the grace time, and waits for their end. */
    void stop() {
        requestEnd();
        if (!awaitEnd(settings.graceNs())) {
            processes.forEach(ProcessGroup::kill);
            over.join();
        }
    }
}
