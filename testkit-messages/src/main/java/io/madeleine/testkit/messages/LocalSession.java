package io.madeleine.testkit.messages;

import io.madeleine.api.Channel;
import io.madeleine.api.ConfigurationException;
import io.madeleine.api.LaunchRequest;
import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import io.madeleine.pmm.Demands;
import io.madeleine.pmm.EngineSignal;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.SessionArenas;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.switching.ChannelShutdown;
import io.madeleine.switching.MemoryDrain;
import io.madeleine.switching.SelectionTable;
import io.madeleine.switching.SwitchSettings;
import io.madeleine.switching.SwitchedChannel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;

/**
 * One rank of {@link LocalSessions}.
 *
 * <p>Threading: thread-safe once opened.
 */
final class LocalSession implements Session {
    private static final long DRAIN_NS = 10_000_000_000L;
    private static final byte[] SECRET = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

    /** Identifies a process: session, rank, and number of ranks. */
    record Place(String sessionId, int rank, int size) {}

    private final Place place;
    private final IntFunction<LocalKeys> keysOfRank;
    private final Map<String, ProtocolModule> drivers;
    private final SwitchSettings settings;
    private final long quietNs;
    private final Reactor reactor;
    private final ProgressEngine engine;
    private final Map<String, Adapter> adapters = new LinkedHashMap<>();
    private final Map<String, ProtocolChannel> protocolChannels = new LinkedHashMap<>();
    private final Map<String, SwitchedChannel> channels = new LinkedHashMap<>();
    private final List<PeerFailureListener> failureListeners = new CopyOnWriteArrayList<>();
    private final SessionArenas arenas = new SessionArenas(Optional.empty());
    private final AtomicBoolean closed = new AtomicBoolean();

    LocalSession(
            Place place,
            IntFunction<LocalKeys> keysOfRank,
            Map<String, ProtocolModule> drivers,
            WaitPolicy policy,
            SwitchSettings settings,
            long quietNs) {
        this.place = place;
        this.keysOfRank = keysOfRank;
        this.drivers = drivers;
        this.settings = settings;
        this.quietNs = quietNs;
        this.reactor = drivers.values().stream()
                .map(ProtocolModule::offerReactor)
                .flatMap(Optional::stream)
                .findFirst()
                .orElseGet(SelectorReactor::new);
        Demands demands = new Demands();
        this.engine = new ProgressEngine("local-" + place.rank(), reactor, policy, demands);
        arenas.drainBy(new MemoryDrain(channels.values(), engine), DRAIN_NS);
        ProcessContext context = new ProcessContext(
                place.sessionId(),
                new ProcessIdentity(place.rank(), 0),
                SECRET,
                true,
                reactor,
                System.getLogger("io.madeleine.testkit"),
                arenas.memory(),
                demands::newDemand);
        drivers.forEach((network, driver) -> {
            Adapter adapter = driver.openAdapter(driver.adapterNames().getFirst(), context);
            adapters.put(network, adapter);
            engine.addSource(adapter.progress());
        });
        arenas.takeFrom(adapters.values().stream()
                .flatMap(adapter -> adapter.memorySource().stream())
                .toList());
    }

    ProtocolModule driver(String network) {
        return known(drivers.get(network), network);
    }

    Adapter adapter(String network) {
        return known(adapters.get(network), network);
    }

    private static <T> T known(@org.jspecify.annotations.Nullable T found, String name) {
        if (found == null) {
            throw new IllegalArgumentException("no network or channel is called " + name + " in this session");
        }
        return found;
    }

    void openChannel(String name, String network) {
        channels.put(name, new SwitchedChannel(this, name, engine, settings));
        protocolChannels.put(name, adapter(network).openChannel(name));
        known(channels.get(name), name)
                .onConnectionLost((rank, kind, reason) -> failureListeners.forEach(
                        listener -> listener.peerFailed(rank, new PeerFailedException(rank, kind, reason))));
    }

    CompletableFuture<ProtocolConnection> connect(String channel, ConnectionRequest request) {
        return known(protocolChannels.get(channel), channel).connect(request);
    }

    void attach(String channel, String network, int rank, ProtocolConnection connection, SelectionTable table) {
        known(channels.get(channel), channel).attach(rank, network, connection, table);
    }

    int demand() {
        return engine.demand();
    }

    @Override
    public int rank() {
        return place.rank();
    }

    @Override
    public int size() {
        return place.size();
    }

    @Override
    public String id() {
        return place.sessionId();
    }

    @Override
    public byte[] deriveKey(String purpose) {
        byte[] key = new byte[32];
        new java.util.Random(purpose.hashCode()).nextBytes(key);
        return key;
    }

    @Override
    public byte[] deriveSessionKey(String purpose) {
        return keysOfRank.apply(place.rank()).deriveSessionKey(purpose);
    }

    @Override
    public byte[] publicKey(int rank) {
        return keysOfRank.apply(place.rank()).publicKey(rank);
    }

    @Override
    public byte[] sign(String purpose, byte[] message) {
        return keysOfRank.apply(place.rank()).sign(purpose, message);
    }

    @Override
    public Set<String> channelNames() {
        return channels.keySet();
    }

    @Override
    public Channel channel(String name) {
        SwitchedChannel channel = channels.get(name);
        if (channel == null) {
            throw new ConfigurationException("no channel is called " + name + "; expected one of " + channels.keySet());
        }
        return channel;
    }

    @Override
    public int progress() {
        return engine.progress();
    }

    @Override
    public Executor virtualThreads(String name) {
        return engine.virtualThreads(name);
    }

    @Override
    public Signal newSignal() {
        return new EngineSignal(engine);
    }

    @Override
    public MemorySegment allocate(long bytes) {
        return arenas.lasting().allocate(bytes);
    }

    @Override
    public MemorySegment allocateKept(long bytes) {
        return arenas.kept().allocate(bytes);
    }

    @Override
    public Arena newArena() {
        return arenas.newArena();
    }

    @Override
    public MemorySegment allocateShared(long bytes, Arena owner) {
        return arenas.own(owner).allocateShared(bytes);
    }

    @Override
    public Arena arena() {
        return arenas.lasting();
    }

    @Override
    public void onPeerFailure(PeerFailureListener listener) {
        failureListeners.add(listener);
    }

    @Override
    public List<LaunchedProcess> launch(LaunchRequest request) {
        throw new UnsupportedOperationException("a session inside one JVM cannot launch processes");
    }

    @Override
    public void abort(int code, String reason) {
        throw new UnsupportedOperationException("a session inside one JVM cannot abort; expected Sessions.open with an"
                + " ExitAction, whose ranks may share a JVM too");
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            new ChannelShutdown(channels.values(), engine, quietNs).leave(DRAIN_NS);
            free();
        }
    }

    void die() {
        if (closed.compareAndSet(false, true)) {
            free();
        }
    }

    private void free() {
        engine.close();
        channels.values().forEach(SwitchedChannel::close);
        protocolChannels.values().forEach(ProtocolChannel::close);
        adapters.values().forEach(Adapter::close);
        reactor.close();
        arenas.close();
    }
}
