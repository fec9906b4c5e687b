package io.madeleine.session.bootstrap;

import io.madeleine.admission.Acceptor;
import io.madeleine.admission.NoticeLimit;
import io.madeleine.admission.Proofs;
import io.madeleine.admission.UnauthenticatedConnection;
import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.SessionException;
import io.madeleine.session.config.Membership;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/**
 * The server at which the processes of sessions meet. It assigns the session id, distributes values, and tells all
 * processes who left or died. A launcher runs one for its processes; without launcher, rank 0 runs one while the
 * session is open.
 *
 * <p>One server can serve sessions of any names, and a name again after its session has ended: each such session is a
 * {@link BootstrapSession}.
 *
 * <p>Threading: thread-safe; one daemon thread {@linkplain Acceptor accepts}; per member, one reads and one
 * {@linkplain ControlSender sends}.
 */
public final class BootstrapServer implements AutoCloseable, BootstrapSession.Server, Acceptor.Host<ControlHandshake> {
    /** The random bytes of a session id. Nobody can predict the next id and create that session's files in advance. */
    private static final int ID_BYTES = 12;

    private static final Logger LOGGER = System.getLogger(BootstrapServer.class.getName());
    public static final int ANY_SIZE = 0;
    static final int HANDSHAKE_TIMEOUT_MS = 5_000;
    private static final Acceptor.Settings ADMISSION = new Acceptor.Settings(
            "madeleine-bootstrap",
            HANDSHAKE_TIMEOUT_MS,
            "it has not proved within " + HANDSHAKE_TIMEOUT_MS + " ms that it knows madeleine.session.secret",
            Acceptor.MAX_UNAUTHENTICATED);
    private static final long LAST_WORDS_MS = 2_000;
    private static final long TELL_ALL_NS = 500_000_000;
    private static final int OTHERS_NAMED = 4;

    private final Settings settings;
    private final ThreadFactory memberThreads;
    private final byte[] key;
    private final Acceptor<ControlHandshake> acceptor;
    private final Set<ControlConnection> connections = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Deque<BootstrapSession>> sessions = new HashMap<>();

    /** How the processes of ranks ended, in the order of their ends: the first end may be the cause of the others. */
    private final Map<Integer, String> endedRanks = new LinkedHashMap<>();

    /** By process id, what processes that exited without leaving did wrong, until the launcher asks. */
    private final Map<Long, String> exitedInside = new ConcurrentHashMap<>();

    private volatile Optional<Function<LaunchSpec, LaunchedGroup>> launching = Optional.empty();
    private final Map<LaunchKey, LaunchedGroup> running = new ConcurrentHashMap<>();
    private volatile LongFunction<OptionalInt> exitCodes = _ -> OptionalInt.empty();
    private volatile boolean closed;
    private volatile boolean processLost;
    private volatile String rejection = "";
    private boolean portClosed;
    private volatile Bootstrap.EndListener endListener = _ -> {};
    private volatile IntConsumer missedListener = _ -> {};
    private String onlySession = "";

    /** A launch request: its sender, and its number there. */
    private record LaunchKey(ControlSender sender, long id) {}

    /**
     * The settings of a server.
     *
     * @param size the number of processes of each session; {@link #ANY_SIZE} for a port, which serves sessions of any
     *     size, also several with the same name, each with this process as rank 0
     * @param secret the secret that proves membership
     * @param serverRank the rank of this process in the sessions, or -1 for a launcher
     * @param peerTimeoutNs the silence after which a process on another host counts as dead
     */
    public record Settings(int size, String secret, int serverRank, long peerTimeoutNs) {
        boolean ofPort() {
            return size == ANY_SIZE;
        }

        @Override
        public String toString() {
            return size + " processes, server in " + (serverRank < 0 ? "the launcher" : "rank " + serverRank);
        }
    }

    /**
     * Listens and serves.
     *
     * @param address the address to listen at; port 0 for any free port
     * @throws IOException if the server cannot listen there
     */
    public BootstrapServer(InetSocketAddress address, Settings settings) throws IOException {
        this(
                address,
                settings,
                Thread.ofPlatform().daemon().name("madeleine-control-server").factory());
    }

    BootstrapServer(InetSocketAddress address, Settings settings, ThreadFactory memberThreads) throws IOException {
        this.settings = settings;
        this.memberThreads = memberThreads;
        this.key = Secrets.controlKey(settings.secret());
        this.acceptor = new Acceptor<>(address, ADMISSION, new NoticeLimit(LOGGER, "bootstrap server: "), this);
    }

    /** The address it listens at. */
    public InetSocketAddress address() {
        return acceptor.address();
    }

    /**
     * Restricts the server to one session: refuses all others, stops listening when all its processes have joined, and
     * closes the server when it has ended.
     */
    void serveOnly(String session) {
        lock.lock();
        try {
            onlySession = session;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public ControlHandshake newHandshake() {
        return new ControlHandshake(key);
    }

    @Override
    public void proven(UnauthenticatedConnection<ControlHandshake> member) {
        memberThreads
                .newThread(() -> serve(member.channel(), member.handshake()))
                .start();
    }

    @Override
    public void refused(String why) {
        rejection = "; " + why;
    }

    private void serve(SocketChannel channel, ControlHandshake handshake) {
        try (channel;
                ControlConnection connection = handshake.admit(channel.socket())) {
            connections.add(connection);
            try {
                connection.receiveTimeoutMs(HANDSHAKE_TIMEOUT_MS);
                ControlMessage.Hello hello = greeting(connection);
                if (!closed) { // the connection may have been accepted while the server was being closed
                    join(connection, hello);
                }
            } finally {
                connections.remove(connection);
            }
        } catch (IOException e) {
            LOGGER.log(Level.DEBUG, () -> "lost the connection to an authenticated process: " + e.getMessage());
        }
    }

    private static ControlMessage.Hello greeting(ControlConnection connection) throws IOException {
        return switch (connection.receive().orElse(null)) {
            case ControlMessage.Hello first -> first;
            case null -> throw new IOException("no greeting in " + HANDSHAKE_TIMEOUT_MS + " ms");
            case ControlMessage other -> throw new IOException("expected a greeting, found " + other);
        };
    }

    private void join(ControlConnection connection, ControlMessage.Hello hello) {
        BootstrapSession session;
        ControlSender sender;
        lock.lock();
        try {
            String refusal = refusal(hello);
            if (!refusal.isEmpty()) {
                refused("process " + hello.pid() + " on " + connection.peerHost() + ", as rank " + hello.rank()
                        + ", was refused: " + refusal);
                connection.trySend(new ControlMessage.Refused(refusal));
                return;
            }
            sender = new ControlSender(connection, memberThreads);
            session = sessionFor(hello);
            session.admit(sender, hello);
        } finally {
            lock.unlock();
        }
        try (sender) {
            if (servesOnlyOne() && session.isFull()) {
                acceptor.close();
            }
            session.serve(hello.rank(), connection, sender);
        }
        sessionLeft(hello.session(), session);
    }

    private boolean servesOnlyOne() {
        lock.lock();
        try {
            return !onlySession.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    private String refusal(ControlMessage.Hello hello) {
        if (!onlySession.isEmpty() && !onlySession.equals(hello.session())) {
            return "this server serves session " + onlySession + ", not " + hello.session()
                    + ": expected the same madeleine.session.name, or another port in madeleine.session.hosts";
        }
        if (portClosed) {
            return "the port is closed";
        }
        if (settings.ofPort()) {
            return refusalOfPort(hello);
        }
        if (hello.size() != settings.size()) {
            return "it expects " + hello.size() + " processes, the session has " + settings.size()
                    + ": madeleine.session.size differs";
        }
        if (hello.rank() < 0 || hello.rank() >= settings.size()) {
            return "rank " + hello.rank() + ": expected 0 to " + (settings.size() - 1);
        }
        String end = endedRanks.get(hello.rank());
        if (end != null) {
            return "rank " + hello.rank() + ": " + end;
        }
        for (BootstrapSession session : sessions.getOrDefault(hello.session(), new ArrayDeque<>())) {
            if (session.isPresent(hello.rank())) {
                return "rank " + hello.rank() + " is in session " + hello.session() + " already, as process "
                        + session.pidOf(hello.rank()) + ": expected another madeleine.session.rank or .name";
            }
        }
        return "";
    }

    private static String refusalOfPort(ControlMessage.Hello hello) {
        if (hello.size() < 1
                || hello.size() > Membership.MAX_SIZE
                || hello.rank() < 0
                || hello.rank() >= hello.size()) {
            return "rank " + hello.rank() + " of " + hello.size() + " processes: expected 0 to size-1";
        }
        boolean own =
                hello.pid() == ProcessHandle.current().pid() && hello.host().equals(HostKey.ofThisNetwork());
        return hello.rank() == 0 && !own
                ? "rank 0 of a session that meets at a port is the port's process: expected another rank"
                : "";
    }

    /** Finds the oldest session of this name that this process can still join, or makes one. */
    private BootstrapSession sessionFor(ControlMessage.Hello hello) {
        Deque<BootstrapSession> ofName = sessions.computeIfAbsent(hello.session(), _ -> new ArrayDeque<>());
        for (BootstrapSession session : ofName) {
            if (settings.ofPort() ? session.suits(hello) : !session.knows(hello.rank())) {
                return session;
            }
        }
        BootstrapSession session = new BootstrapSession(
                HexFormat.of().formatHex(Proofs.nonce(), 0, ID_BYTES), hello.size(), settings, this);
        ofName.add(session);
        endedRanks.forEach((rank, reason) -> miss(session, rank, reason));
        return session;
    }

    /**
     * Tells the session that a rank's process ended before it joined. If processes in the session wait for it, tells
     * the launcher too.
     */
    private void miss(BootstrapSession session, int rank, String reason) {
        if (session.isMissing(rank, reason + " before it joined")) {
            missedListener.accept(rank);
        }
    }

    private void sessionLeft(String name, BootstrapSession session) {
        boolean closing = false;
        lock.lock();
        try {
            Deque<BootstrapSession> ofName = sessions.get(name);
            if (session.isOver() && ofName != null && ofName.remove(session) && ofName.isEmpty()) {
                sessions.remove(name);
                closing = !onlySession.isEmpty() && sessions.isEmpty();
            }
        } finally {
            lock.unlock();
        }
        if (closing) {
            close();
        }
    }

    /** Sets the function that starts more processes. */
    public void launchBy(Function<LaunchSpec, LaunchedGroup> how) {
        launching = Optional.of(how);
    }

    @Override
    public void launch(ControlMessage.Launch request, ControlSender sender) {
        long id = request.id();
        try {
            LaunchSpec spec = LaunchSpec.decode(request.spec());
            LaunchedGroup group = launching
                    .orElseThrow(() -> new SessionException("this server belongs to no launcher"))
                    .apply(spec);
            List<LaunchedProcess> launched = group.launched();
            remember(new LaunchKey(sender, id), group);
            long[] pids = launched.stream().mapToLong(LaunchedProcess::pid).toArray();
            sender.send(new ControlMessage.Launched(id, pids, ""));
            launched.forEach(one ->
                    one.exit().thenAccept(code -> sender.send(new ControlMessage.LaunchedEnded(id, one.rank(), code))));
        } catch (IOException | RuntimeException e) {
            sender.send(new ControlMessage.Launched(id, new long[0], "nothing was launched: " + e.getMessage()));
        }
    }

    /** Remembers the processes of a request until all have ended. */
    private void remember(LaunchKey key, LaunchedGroup group) {
        running.put(key, group);
        CompletableFuture<?>[] exits =
                group.launched().stream().map(LaunchedProcess::exit).toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(exits).whenComplete((_, _) -> running.remove(key));
    }

    @Override
    public void launchGivenUp(ControlMessage.LaunchGivenUp request, ControlSender sender) {
        LaunchedGroup group = running.get(new LaunchKey(sender, request.id()));
        if (group != null) {
            group.stopBeside();
        }
    }

    /** Sets the function that returns exit codes by process id. */
    public void exitsFrom(LongFunction<OptionalInt> codes) {
        exitCodes = codes;
    }

    @Override
    public OptionalInt exitCode(long pid) {
        return exitCodes.apply(pid);
    }

    @Override
    public void exitedInside(int rank, Exit exit) {
        if (settings.serverRank() < 0) { // else there is no launcher that would ask for it
            exitedInside.put(exit.pid(), Exit.sentence(rank, "is gone", exit.reason()));
        }
    }

    /**
     * Sets the listener for ranks that other processes wait for although their process ended before it joined. The
     * listener must not block.
     */
    public void onMissed(IntConsumer listener) {
        missedListener = listener;
    }

    /**
     * Records the end of a launched process. Tells the other processes of all its sessions why, unless its connection
     * has told them; sessions that open later, or that it has not joined, learn it too.
     *
     * @return what the process did wrong, if it ended by itself without leaving
     */
    public Optional<String> processEnded(int rank, long pid, String reason) {
        List<BootstrapSession> all = new ArrayList<>();
        lock.lock();
        try {
            endedRanks.put(rank, reason);
            sessions.values().forEach(all::addAll);
        } finally {
            lock.unlock();
        }
        all.forEach(session -> {
            session.awaitGone(rank, LAST_WORDS_MS); // the messages it sent before its end are still being read
            session.lost(rank, reason);
            miss(session, rank, reason);
        });
        return Optional.ofNullable(exitedInside.remove(pid));
    }

    @Override
    public void processLost() {
        processLost = true;
    }

    /** Sets the listener for aborts. It is called before the processes are told. */
    public void onEnd(Bootstrap.EndListener listener) {
        endListener = listener;
    }

    @Override
    public void aborted(ControlMessage.SessionAbort end) {
        endListener.ended(end);
    }

    @Override
    public String rejection() {
        return rejection;
    }

    @Override
    public String othersWaiting(BootstrapSession session) {
        if (!settings.ofPort()) {
            return "";
        }
        List<String> others = new ArrayList<>();
        lock.lock();
        try {
            sessions.forEach((name, ofName) -> ofName.stream()
                    .filter(other -> other != session)
                    .forEach(other -> other.waiting().ifPresent(who -> others.add("session " + name + " of " + who))));
        } finally {
            lock.unlock();
        }
        if (others.isEmpty()) {
            return "";
        }
        String more = others.size() > OTHERS_NAMED ? " and " + (others.size() - OTHERS_NAMED) + " more" : "";
        return "; others wait at this port: "
                + others.stream().sorted().limit(OTHERS_NAMED).collect(Collectors.joining(", ")) + more;
    }

    /** Whether a process ended, or seemed to end, without leaving its session. */
    public boolean hasLostProcess() {
        return processLost;
    }

    /** Stops accepting and tells the processes of incomplete sessions. Complete sessions go on. */
    public void closePort(String reason) {
        acceptor.close();
        lock.lock();
        try {
            portClosed = true; // also for a connection that is accepted but has not sent its Hello
        } finally {
            lock.unlock();
        }
        List<BootstrapSession> all = allSessions();
        all.forEach(session -> session.turnOut(reason));
        awaitSent(all);
    }

    private List<BootstrapSession> allSessions() {
        lock.lock();
        try {
            return sessions.values().stream().flatMap(Deque::stream).toList();
        } finally {
            lock.unlock();
        }
    }

    /** Waits a bounded time until all processes have been told what they are to know: this process may end then. */
    private static void awaitSent(List<BootstrapSession> sessions) {
        long deadlineNs = System.nanoTime() + TELL_ALL_NS;
        sessions.forEach(session -> session.awaitSent(deadlineNs));
    }

    @Override
    public void close() {
        closed = true;
        acceptor.close();
        awaitSent(allSessions());
        connections.forEach(ControlConnection::close);
    }
}
