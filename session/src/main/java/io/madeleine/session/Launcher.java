package io.madeleine.session;

import io.madeleine.api.SessionException;
import io.madeleine.session.bootstrap.BootstrapServer;
import io.madeleine.session.bootstrap.ControlMessage;
import io.madeleine.session.bootstrap.Exit;
import io.madeleine.session.bootstrap.Secrets;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.HostAddress;
import io.madeleine.session.config.ProcessEnvironment;
import io.madeleine.session.config.SessionConfig;
import io.madeleine.session.launch.Leftovers;
import io.madeleine.session.launch.OrphanGuard;
import io.madeleine.session.launch.OutputPump;
import io.madeleine.session.launch.ProcessGroup;
import io.madeleine.session.launch.Spawner;
import io.madeleine.session.network.Families;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Starts the processes of a session on this machine, keeps a control connection to each, forwards their output, and
 * leaves no process behind: neither when one fails, nor on a signal, nor when the launcher itself is killed.
 *
 * <p>A process learns its rank and the launcher's address from the environment variables {@code MADELEINE_LAUNCHER},
 * {@code MADELEINE_RANK}, {@code MADELEINE_SIZE} and {@code MADELEINE_SECRET}. The configuration also travels in the
 * environment. Nothing is on a command line, where other users could read it.
 *
 * <p>Threading: thread-safe.
 */
public final class Launcher implements AutoCloseable {
    private static final long OUTPUT_TIMEOUT_NS = 2_000_000_000;
    private static final int LEFT_OPEN = 1;
    private static final int SIGNAL_BASE = 128;

    private final LaunchPlan plan;
    private final String secret;
    private final Spawner.Terminal terminal;
    private final PrintStream errors;
    private final Spawner spawner;
    private final BootstrapServer server;
    private final OrphanGuard guard;
    private final Leftovers leftovers;
    private final List<Process> processes = new CopyOnWriteArrayList<>();
    private final List<OutputPump> pumps = new ArrayList<>();
    private final BlockingQueue<Integer> ended = new LinkedBlockingQueue<>();
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final Set<Integer> missed = ConcurrentHashMap.newKeySet();
    private final long abortNs;
    private final AtomicReference<ControlMessage.SessionAbort> aborted = new AtomicReference<>();

    /** The processes whose connections had ended when the session was aborted: one of them may be the cause. */
    private final Set<Long> goneBeforeAbort = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicBoolean unwritable = new AtomicBoolean();

    /** Until when this launcher waits for output of processes that have ended; 0 until the first wait. */
    private final AtomicLong outputEndNs = new AtomicLong();

    private final AtomicBoolean outputHeld = new AtomicBoolean();

    /**
     * Held while a process is started. A thread that stops all processes thus either finds the new one in {@code
     * processes} or prevents its start.
     */
    private final ReentrantLock starting = new ReentrantLock();

    private boolean startsNoMore;

    private Launcher(LaunchPlan plan, SessionConfig config, PrintStream out, PrintStream errors) {
        this.plan = plan;
        this.terminal = new Spawner.Terminal(out, errors, new ReentrantLock(), this::unwritable);
        this.errors = errors;
        this.leftovers = new Leftovers(config);
        this.abortNs = config.timeouts().abortNs();
        this.secret = config.membership().secret();
        try {
            this.server = new BootstrapServer(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    new BootstrapServer.Settings(
                            plan.processes(), secret, -1, config.timeouts().peerNs()));
        } catch (IOException e) {
            throw new SessionException("the launcher cannot listen on the loopback interface: " + e.getMessage(), e);
        }
        server.onEnd(this::aborted);
        server.onMissed(this::missed);
        server.exitsFrom(pid -> {
            if (aborted.get() == null) {
                goneBeforeAbort.add(pid);
            }
            return ProcessGroup.exitCode(processes, pid);
        });
        this.spawner = new Spawner(
                new Spawner.Settings(
                        environment(),
                        plan.directory(),
                        plan.conduct().prefix(),
                        plan.conduct().grace().toNanos(),
                        abortNs,
                        config.timeouts().peerNs(),
                        leftovers::expect),
                terminal);
        server.launchBy(spawner::start);
        this.guard = new OrphanGuard(plan.conduct().grace().toMillis());
    }

    /**
     * Runs a plan to its end with this process's output, as {@code mad run} does. Stops the processes if this process
     * is asked to end, also while it is still starting them.
     *
     * @return as {@link #await}
     */
    public static int run(LaunchPlan plan) {
        Launcher launcher = prepare(plan, System.out, System.err);
        try {
            Thread hook = Thread.ofPlatform().name("madeleine-stop").unstarted(launcher::close);
            try {
                Runtime.getRuntime().addShutdownHook(hook);
            } catch (IllegalStateException _) {
                return SIGNAL_BASE; // the JVM is already shutting down and will exit with another code
            }
            launcher.startAll();
            int code = launcher.await();
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException _) {
                // the JVM is already shutting down and runs the hook
            }
            return code;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return SIGNAL_BASE + 2;
        } finally {
            launcher.close();
        }
    }

    /**
     * Starts the processes.
     *
     * @param out receives their standard output
     * @param errors receives their standard error and the launcher's own messages
     * @throws io.madeleine.api.ConfigurationException if the configuration is wrong; nothing is started then
     * @throws SessionException if a process cannot be started; the others are stopped then
     */
    public static Launcher start(LaunchPlan plan, PrintStream out, PrintStream errors) {
        Launcher launcher = prepare(plan, out, errors);
        try {
            launcher.startAll();
        } catch (RuntimeException e) {
            launcher.close();
            throw e;
        }
        return launcher;
    }

    private static Launcher prepare(LaunchPlan plan, PrintStream out, PrintStream errors) {
        Map<String, String> given = new HashMap<>(configurationVariables(plan));
        given.put(ProcessEnvironment.LAUNCHER, "127.0.0.1:1");
        given.put(ProcessEnvironment.RANK, "0");
        given.put(ProcessEnvironment.SIZE, Integer.toString(plan.processes()));
        given.put(ProcessEnvironment.SECRET, inheritedSecret(plan).orElseGet(Secrets::generate));
        ProcessEnvironment surroundings =
                new ProcessEnvironment(given, new Properties(), ProcessEnvironment.ownCommandLine());
        SessionConfig config = SessionConfig.from(ConfigSources.ofArguments(List.of(), surroundings));
        Families.check(config);
        return new Launcher(plan, config, out, errors);
    }

    private static Optional<String> inheritedSecret(LaunchPlan plan) {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.putAll(plan.environment());
        return new ProcessEnvironment(environment, new Properties()).variable(ProcessEnvironment.SECRET);
    }

    private static Map<String, String> configurationVariables(LaunchPlan plan) {
        Map<String, String> variables = new HashMap<>();
        String inherited =
                plan.environment().getOrDefault(ProcessEnvironment.CONF, System.getenv(ProcessEnvironment.CONF));
        plan.configuration()
                .map(file -> file.toAbsolutePath().toString())
                .or(() -> Optional.ofNullable(inherited))
                .ifPresent(file -> variables.put(ProcessEnvironment.CONF, file));
        if (!plan.settings().isEmpty()) {
            variables.put(ProcessEnvironment.SETTINGS, String.join("\n", plan.settings()));
        }
        return variables;
    }

    /** The environment that all processes inherit. */
    private Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.putAll(plan.environment());
        environment.remove(ProcessEnvironment.SETTINGS);
        environment.putAll(configurationVariables(plan));
        return environment;
    }

    /** Starts the processes. Returns early when another thread stops them. */
    private void startAll() {
        for (int rank = 0; rank < plan.processes(); rank++) {
            starting.lock();
            try {
                if (startsNoMore) {
                    return;
                }
                add(rank, start(rank));
            } finally {
                starting.unlock();
            }
        }
    }

    private void add(int rank, Process process) {
        guard.started(process.pid());
        processes.add(process);
        String prefix = plan.conduct().prefix() ? "[" + rank + "] " : "";
        pumps.add(new OutputPump(process.getInputStream(), terminal.out(), terminal, prefix));
        pumps.add(new OutputPump(process.getErrorStream(), errors, terminal, prefix));
        process.onExit().thenRun(() -> ended.add(rank));
    }

    private void startNoMore() {
        starting.lock();
        try {
            startsNoMore = true;
        } finally {
            starting.unlock();
        }
    }

    private Process start(int rank) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(plan.javaArguments());
        ProcessBuilder builder = new ProcessBuilder(command);
        Map<String, String> environment = builder.environment();
        environment.clear();
        environment.putAll(environment());
        plan.directory().map(Path::toFile).ifPresent(builder::directory);
        InetSocketAddress contact = server.address();
        environment.put(
                ProcessEnvironment.LAUNCHER,
                new HostAddress(contact.getAddress().getHostAddress(), contact.getPort()).toString());
        environment.put(ProcessEnvironment.RANK, Integer.toString(rank));
        environment.put(ProcessEnvironment.SIZE, Integer.toString(plan.processes()));
        environment.put(ProcessEnvironment.SECRET, secret);
        boolean input = rank == 0 && plan.conduct().input();
        try {
            Process process = builder.redirectInput(input ? Redirect.INHERIT : Redirect.PIPE)
                    .start();
            if (!input) {
                process.getOutputStream().close();
            }
            return process;
        } catch (IOException e) {
            throw new SessionException("rank " + rank + " cannot be started: " + e.getMessage(), e);
        }
    }

    /** The process ids, by rank. */
    public List<Long> pids() {
        return processes.stream().map(Process::pid).toList();
    }

    /**
     * Waits until all processes have ended, also those that these have {@linkplain io.madeleine.api.Session#launch
     * launched}.
     *
     * @return the exit code of the first process that failed, or 0; 128 + N for a process that signal N killed; 1 for a
     *     process that exited with 0 without closing its session, or before it joined a session that others open; the
     *     code of the abort if the session was {@linkplain io.madeleine.api.Session#abort aborted} before any process
     *     failed; 1 if the output of the processes could not be written
     */
    public int await() throws InterruptedException {
        int failure = 0;
        int causeOfAbort = 0;
        for (int left = processes.size(); left > 0; left--) {
            int rank = ended.take();
            Process process = processes.get(rank);
            int code = process.exitValue();
            guard.ended(process.pid());
            Optional<String> wrong =
                    server.processEnded(rank, process.pid(), "its process ended " + Exit.describe(code));
            if (code != 0 && aborted.get() != null) {
                leftovers.expect();
            }
            int own = code == 0 && wrong.isPresent() ? LEFT_OPEN : code;
            if (causeOfAbort == 0 && goneBeforeAbort.contains(process.pid())) {
                causeOfAbort = own;
            }
            if (own == 0 || stopping.get()) {
                continue;
            }
            leftovers.expect();
            if (failure == 0) {
                failure = own;
            }
            boolean stop = plan.conduct().onFailure() == OnFailure.STOP && (left > 1 || spawner.hasRunning());
            errors.println(
                    "mad run: " + wrong.orElseGet(() -> sentence(rank, code)) + (stop ? "; stopping the others" : ""));
            if (stop) {
                stopBeside();
            }
        }
        spawner.awaitEnd();
        awaitOutput();
        ControlMessage.SessionAbort abort = aborted.get();
        if (abort != null) {
            return causeOfAbort == 0 ? abort.code() : causeOfAbort;
        }
        return failure == 0 && (!missed.isEmpty() || unwritable.get()) ? LEFT_OPEN : failure;
    }

    /** Waits for what the processes, which have ended, have printed; once only, since others may hold their output. */
    private void awaitOutput() throws InterruptedException {
        outputEndNs.compareAndSet(0, System.nanoTime() + OUTPUT_TIMEOUT_NS);
        if (!OutputPump.awaitAll(pumps, outputEndNs.get()) && outputHeld.compareAndSet(false, true)) {
            errors.println("mad run: processes that the ranks have started still run and hold their output: what they"
                    + " print from now on is lost");
        }
    }

    private void stopBeside() {
        stopping.set(true);
        Thread.ofPlatform().daemon().name("madeleine-stop").start(this::stop);
    }

    /**
     * The output of the processes cannot be written: the disk is full, or the reader of a pipe is gone. Reports that
     * once, since the output would otherwise be lost silently.
     */
    private void unwritable() {
        if (unwritable.compareAndSet(false, true)) {
            boolean stop = plan.conduct().onFailure() == OnFailure.STOP;
            errors.println(
                    "mad run: what the processes print can no longer be written: the disk is full, or nobody reads it"
                            + (stop ? "; stopping them" : ""));
            if (stop) {
                stopBeside();
            }
        }
    }

    /**
     * Other processes wait for a rank that ended before it joined; the server has told them. Reports an exit code of 0
     * here, since {@link #await} reports every other code.
     */
    private void missed(int rank) {
        int code = processes.get(rank).exitValue();
        if (code == 0 && !stopping.get() && missed.add(rank)) {
            errors.println("mad run: " + sentence(rank, code) + " before it joined a session that others open");
        }
    }

    private String sentence(int rank, int code) {
        return "rank " + rank + " (process " + processes.get(rank).pid() + ") ended " + Exit.describe(code);
    }

    /**
     * The session was aborted. The aborting process prints the reason, and each member ends itself. This thread waits
     * for that and then stops the rest: processes outside the session, and members that hang.
     */
    private void aborted(ControlMessage.SessionAbort end) {
        aborted.set(end);
        stopping.set(true);
        Thread.ofPlatform().daemon().name("madeleine-stop").start(() -> {
            boolean _ = awaitEnds(System.nanoTime() + abortNs);
            stop();
        });
    }

    /**
     * Asks all processes to end, kills those that do not end within the grace time, and waits for their end.
     * Idempotent.
     */
    public void stop() {
        stopping.set(true);
        startNoMore();
        processes.forEach(ProcessGroup::requestEnd);
        spawner.requestEnd();
        stopRanks();
        spawner.stop();
    }

    private void stopRanks() {
        if (awaitEnds(System.nanoTime() + plan.conduct().grace().toNanos())) {
            return;
        }
        for (Process process : processes) {
            if (process.isAlive()) {
                leftovers.expect();
                ProcessGroup.kill(process);
                process.onExit().join();
            }
        }
    }

    /** Whether all processes end before the deadline. Returns false early if this thread is interrupted. */
    private boolean awaitEnds(long deadlineNs) {
        try {
            for (Process process : processes) {
                long leftNs = Math.max(0, deadlineNs - System.nanoTime());
                if (!process.waitFor(leftNs, TimeUnit.NANOSECONDS)) {
                    return false;
                }
            }
            return true;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * {@linkplain #stop() Stops} the processes that still run and removes what dead processes left behind. Idempotent.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        startNoMore();
        if (processes.stream().anyMatch(Process::isAlive)) {
            leftovers.expect();
            stop();
        }
        spawner.stop();
        try {
            awaitOutput();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        if (server.hasLostProcess()) {
            leftovers.expect(); // a lost process may not have cleaned up, even if its exit code was 0
        }
        server.close();
        guard.close();
        leftovers.remove();
    }
}
