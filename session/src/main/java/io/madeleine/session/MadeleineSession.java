package io.madeleine.session;

import io.madeleine.api.Channel;
import io.madeleine.api.ConfigurationException;
import io.madeleine.api.LaunchRequest;
import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.Session;
import io.madeleine.api.SessionException;
import io.madeleine.api.Signal;
import io.madeleine.pmm.Attempts;
import io.madeleine.pmm.EngineSignal;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SessionArenas;
import io.madeleine.pmm.spi.Suggestions;
import io.madeleine.session.bootstrap.Bootstrap;
import io.madeleine.session.bootstrap.LaunchSpec;
import io.madeleine.session.bootstrap.Resources;
import io.madeleine.session.bootstrap.Secrets;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.ProcessEnvironment;
import io.madeleine.session.config.SessionConfig;
import io.madeleine.session.launch.Spawner;
import io.madeleine.switching.ChannelShutdown;
import io.madeleine.switching.MemoryDrain;
import io.madeleine.switching.SwitchedChannel;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * An open session: its channels by name, its progress engine, and everything that has to be closed.
 *
 * <p>Threading: thread-safe.
 */
final class MadeleineSession implements Session, Bootstrap.Events {
    private static final Logger LOGGER = System.getLogger(MadeleineSession.class.getName());

    private final Membership membership;
    private final String id;
    private final MemberKeys keys;
    private final long closeTimeoutNs;
    private final ProgressEngine engine;
    private final Resources resources;
    private final PeerFailures failures;
    private final Ending ending;
    private final Spawner spawner;
    private final SessionArenas arenas;
    private final Map<String, SwitchedChannel> channels = new TreeMap<>();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicBoolean told = new AtomicBoolean();
    private volatile String newsLost = "";
    private volatile Consumer<String> opening = _ -> {};
    private volatile boolean lacksNotices;
    private volatile boolean opened;

    /** The two parts that an abort needs. */
    record Ending(Bootstrap bootstrap, SessionEnd end) {}

    /**
     * A session without channels. Ownership: the resources, the arenas among them, belong to the session from now on.
     */
    MadeleineSession(
            String id,
            SessionConfig config,
            MemberKeys keys,
            ProgressEngine engine,
            Resources resources,
            PeerFailures failures,
            SessionArenas arenas,
            Ending ending) {
        this.id = id;
        this.membership = config.membership();
        this.keys = keys;
        this.closeTimeoutNs = config.timeouts().closeNs();
        this.engine = engine;
        this.resources = resources;
        this.failures = failures;
        this.arenas = arenas;
        this.ending = ending;
        this.spawner =
                Spawner.ofThisProcess(config, LaunchPlan.Conduct.DEFAULT.grace().toNanos());
        arenas.drainBy(
                new MemoryDrain(channels.values(), engine), config.timeouts().peerNs());
        ending.end.afterwards(this::failAll);
    }

    /** Adds a channel. Call it only before the user gets the session. */
    void addChannel(String name, SwitchedChannel channel) {
        channels.put(name, channel);
        channel.explainLossesBy(this::afterTheNewsWereLost);
        channel.onConnectionLost((rank, kind, reason) ->
                failures.suspect(rank, kind, "channel " + name + ": " + reason + afterTheNewsWereLost()));
    }

    /**
     * A note for the errors of connections. After a process has lost its control connection, the others give it up, and
     * only broken connections tell it so.
     */
    private String afterTheNewsWereLost() {
        String reason = newsLost;
        return reason.isEmpty()
                ? ""
                : "; this process lost its control connection before (" + reason
                        + "), so the others have given it up if they are alive";
    }

    @Override
    public int rank() {
        return membership.rank();
    }

    @Override
    public int size() {
        return membership.size();
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public byte[] deriveKey(String purpose) {
        Objects.requireNonNull(purpose, "purpose");
        if (membership.secret().isEmpty()) {
            throw new ConfigurationException(membership + " has no secret, and no key can be made of it: expected"
                    + " madeleine.session.secret to be set, to the same text in all processes that are to know it");
        }
        return Secrets.userKey(membership.secret(), purpose);
    }

    @Override
    public byte[] deriveSessionKey(String purpose) {
        Objects.requireNonNull(purpose, "purpose");
        return keys.deriveSessionKey(purpose);
    }

    @Override
    public byte[] publicKey(int rank) {
        return keys.publicKey(rank);
    }

    @Override
    public byte[] sign(String purpose, byte[] message) {
        Objects.requireNonNull(purpose, "purpose");
        Objects.requireNonNull(message, "message");
        return keys.sign(purpose, message);
    }

    @Override
    public Set<String> channelNames() {
        return Collections.unmodifiableSet(channels.keySet());
    }

    @Override
    public Channel channel(String name) {
        Objects.requireNonNull(name, "name");
        Channel channel = channels.get(name);
        if (channel == null) {
            throw new ConfigurationException("session " + membership.name() + " has no channel \"" + name
                    + "\": madeleine.channels names " + String.join(", ", channels.keySet())
                    + Suggestions.didYouMean(name, channels.keySet()));
        }
        return channel;
    }

    @Override
    public int progress() {
        return engine.progress();
    }

    @Override
    public Executor virtualThreads(String name) {
        Objects.requireNonNull(name, "name");
        return engine.virtualThreads(name);
    }

    @Override
    public Signal newSignal() {
        return new EngineSignal(engine);
    }

    @Override
    public MemorySegment allocate(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException(bytes + " bytes: expected at least 1");
        }
        throwIfClosing();
        return arenas.lasting().allocate(bytes);
    }

    @Override
    public MemorySegment allocateKept(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException(bytes + " bytes: expected at least 1");
        }
        throwIfClosing();
        return arenas.kept().allocate(bytes);
    }

    private void throwIfClosing() {
        if (closing.get()) {
            throw new SessionException("the session is closed");
        }
    }

    @Override
    public Arena newArena() {
        throwIfClosing();
        return arenas.newArena();
    }

    @Override
    public MemorySegment allocateShared(long bytes, Arena owner) {
        Objects.requireNonNull(owner, "arena");
        throwIfClosing();
        return arenas.own(owner).allocateShared(bytes);
    }

    @Override
    public Arena arena() {
        return arenas.lasting();
    }

    @Override
    public void onPeerFailure(PeerFailureListener listener) {
        Objects.requireNonNull(listener, "listener");
        failures.listen(listener);
    }

    @Override
    public void peerDied(int rank, String reason) {
        failures.notice(rank, reason);
    }

    @Override
    public void peerGaveUp(int rank, String reason) {
        failures.gaveUp(rank, reason);
    }

    @Override
    public void peerLeft(int rank) {
        failures.left(rank);
    }

    /** Fails all waits for a dead peer, on all channels. */
    void endWaitsFor(int rank, String reason) {
        channels.values().forEach(channel -> channel.peerLost(rank, false, reason));
    }

    /** Calls this if the session cannot be opened, until it is. Before the bootstrap knows this listener. */
    void whileOpening(Consumer<String> failed) {
        opening = failed;
    }

    @Override
    public void cannotOpen(String reason) {
        opening.accept(reason);
    }

    @Override
    public void givenUp(String reason) {
        newsLost = reason;
        failAll("the others have given this process up: " + reason);
    }

    private void failAll(String reason) {
        for (int rank = 0; rank < size(); rank++) {
            if (rank != rank()) {
                failures.notice(rank, reason);
            }
        }
    }

    /** Reports all peers as failed: the session was aborted and this process goes on. */
    private void failAll() {
        failAll(ending.end.reason().orElse("the session was aborted"));
    }

    @Override
    public List<LaunchedProcess> launch(LaunchRequest request) {
        Objects.requireNonNull(request, "request");
        if (closing.get()) {
            throw new SessionException(membership + " is closed: nothing can be launched");
        }
        LaunchSpec spec = completed(request);
        try {
            return membership.contact() instanceof Membership.Contact.Launcher
                    ? ending.bootstrap.launch(spec)
                    : spawner.start(spec).launched();
        } catch (SessionException e) {
            throw new SessionException(membership + ": " + request + ": " + e.getMessage(), e);
        }
    }

    /** Completes a request of this process: a Java program gets this JVM's executable, options and class path. */
    private static LaunchSpec completed(LaunchRequest request) {
        List<String> command = new ArrayList<>();
        if (request.program() == LaunchRequest.Program.JAVA) {
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(JavaArguments.likeThisProcess(
                    ProcessEnvironment.ownCommandLine(), System.getProperty("java.class.path", "")));
        }
        command.addAll(request.command());
        return new LaunchSpec(request.processes(), command, request.environment());
    }

    @Override
    public void abort(int code, String reason) {
        Objects.requireNonNull(reason, "reason");
        ending.end.abort(ending.bootstrap, code, reason);
    }

    @Override
    public void newsLost(String reason) {
        newsLost = reason;
        lacksNotices = true;
        tellOfLostNotices();
    }

    /** Everything is connected, and the user gets the session. */
    void opened() {
        opened = true;
        opening = _ -> {};
        tellOfLostNotices();
    }

    /** Warns once, of a session that goes on; one that is still being opened fails, and says why. */
    private void tellOfLostNotices() {
        String reason = newsLost;
        if (opened && lacksNotices && !closing.get() && told.compareAndSet(false, true)) {
            LOGGER.log(
                    Level.WARNING,
                    membership + ": " + reason
                            + "; the session goes on and learns only from its networks that a peer has died");
        }
    }

    @Override
    public void close() {
        if (closing.get()) {
            return;
        }
        engine.checkMayClose(); // before anything is closed
        if (!closing.compareAndSet(false, true)) {
            return;
        }
        Attempts steps = new Attempts();
        steps.take(failures::awaitDecisions);
        steps.take(this::leave);
        steps.take(engine);
        resources.closeAll(steps);
        steps.take(arenas);
        Throwable first = steps.failure();
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw new SessionException(
                    membership + ": closing failed in part; the first failure: " + first.getMessage(), first);
        }
    }

    private void leave() {
        if (!new ChannelShutdown(channels.values(), engine).leave(closeTimeoutNs)) {
            LOGGER.log(
                    Level.WARNING,
                    membership + ": not all messages that endPackingAsync accepted could be sent"
                            + " within madeleine.session.close-timeout");
        }
    }

    @Override
    public String toString() {
        return membership.toString();
    }
}
