package io.madeleine.tm.via;

import io.madeleine.api.LossKind;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.handshake.ConnectionManager;
import io.madeleine.pmm.handshake.Handshake;
import io.madeleine.pmm.handshake.HandshakeLimits;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.tm.via.ffi.FabricInfo;
import io.madeleine.tm.via.link.ActiveList;
import io.madeleine.tm.via.link.ConnectionSizes;
import io.madeleine.tm.via.link.GrantFlyweight;
import io.madeleine.tm.via.link.Home;
import io.madeleine.tm.via.link.ViaConnection;
import io.madeleine.tm.via.link.ViaLine;
import io.madeleine.tm.via.port.LocalEndpoints;
import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.Opening;
import io.madeleine.tm.via.port.PortSettings;
import io.madeleine.tm.via.port.Receives;
import io.madeleine.tm.via.port.RegionUses;
import io.madeleine.tm.via.port.ViaPort;
import io.madeleine.tm.via.remote.RemoteHome;
import io.madeleine.tm.via.remote.ViaRemoteMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One endpoint of libfabric for one session: its lines, its connections, and the handshake between them.
 *
 * <p>Threading: the control path is guarded by one lock, and no callback runs under it; the thread that polls calls
 * {@link #poll} and {@link #bury}; the thread that handles completions, which may be a receiver that polls directly,
 * calls {@link #onMessage}.
 */
final class ViaAdapter implements Adapter, Home, RemoteHome, Receives.Receiver {
    /** Receives for openings and frames of peers that have no connection yet. */
    private static final int LINE_RECEIVES = 16;

    /**
     * How many of the endpoint's peers may not have proved the session's secret yet. All peers of a session may call at
     * once. Over shm an endpoint has room for 256 peers.
     */
    private static final int MOST_UNPROVED = 256;

    private static final int MOST_UNPROVED_SHM = 128;

    private static final long CLOSING_NS = 1_000_000_000;
    private static final long BEHIND_NS = 200_000;

    private final String name;
    private final ProcessContext context;
    private final ConnectionSizes sizes;
    private final ViaPort port;
    private final ViaAddress address;
    private final boolean isShared;
    private final ViaProgress progress;
    private final RegionUses regions;
    private final Peers peers;
    private final PeerProcesses processes;
    private final RefusedLines refused = new RefusedLines();
    private final ShmLocks locks;
    private final ViaRemoteMemory remote;
    private final ConnectionTable connections;
    private final ConnectionManager manager;
    private final ReentrantLock lock = new ReentrantLock();
    private final ActiveList active = new ActiveList();
    private final Queue<Runnable> upcalls = new ConcurrentLinkedQueue<>();
    private final List<ViaLine> lines = new ArrayList<>();
    private final Map<ViaConnection, PendingConnection> calls = new HashMap<>();
    private final Queue<ViaConnection> graves = new ConcurrentLinkedQueue<>();
    private final Queue<Arrived> openings = new ConcurrentLinkedQueue<>();
    private final Queue<Long> released = new ConcurrentLinkedQueue<>();
    private boolean someUnheard;
    private volatile boolean someBehind;
    private volatile boolean linesHaveWork;
    private volatile long controlDueNs = Long.MAX_VALUE;
    private volatile boolean closed;

    ViaAdapter(String name, FabricInfo info, PortSettings settings, ConnectionSizes sizes, ProcessContext context) {
        this.name = name;
        this.context = context;
        this.sizes = sizes;
        this.connections = new ConnectionTable();
        this.isShared = info.provider().equals(Providers.SHM);
        this.manager = new ConnectionManager(ViaPmm.NAME, context, limits(isShared), upcalls::add);
        this.port = new ViaPort(info, settings, context.newDemand(), this, this::onWritten);
        if (sizes.rdma().isOn() && !port.hasImmediateData() && !port.putsVisibly()) {
            String provider = info.provider();
            port.close();
            throw new SessionException(
                    "via: the provider " + provider + " has neither immediate data nor completions that"
                            + " say that data has landed; set " + ViaConfig.ROOT + ".rdma.from = off");
        }
        this.regions = port.regions(
                context.memory(),
                sizes.rdma().chunkBytes(),
                sizes.rdma().keptBytes(),
                sizes.rdma().keptCount(),
                sizes.rdma().trustsNative());
        this.address = ViaAddress.own(info.provider(), port.name());
        this.locks = new ShmLocks(address);
        this.peers = new Peers(port, isShared, locks);
        this.processes = new PeerProcesses(address);
        if (isShared) {
            LocalEndpoints.open(localName());
        }
        this.remote = new ViaRemoteMemory(this, context);
        this.progress = new ViaProgress(this, context.reactor());
        port.receives().reserve(LINE_RECEIVES);
    }

    private static HandshakeLimits limits(boolean isShared) {
        HandshakeLimits usual = HandshakeLimits.DEFAULT;
        return new HandshakeLimits(
                usual.timeoutNs(), isShared ? MOST_UNPROVED_SHM : MOST_UNPROVED, usual.maxWaitNs(), usual.keys());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String address() {
        return address.toString();
    }

    @Override
    public Optional<String> unreachable(String peerAddress) {
        Optional<ViaAddress> peer = ViaAddress.read(peerAddress);
        if (peer.isEmpty()) {
            return Optional.of(
                    "its address is not one of this release of via: use the same release of Madeleine in all processes");
        }
        if (!peer.get().provider().equals(address.provider())) {
            return Optional.of("it uses libfabric's provider " + peer.get().provider() + ", this process "
                    + address.provider() + " (" + ViaConfig.ROOT + ".adapters)");
        }
        if (isShared && !peer.get().isOnHostOf(address)) {
            return Optional.of("it is on another host, which the provider shm does not reach");
        }
        return peer.get().unreachableFrom(address, addressKey());
    }

    /** The key of a peer's adapter with the same name. */
    private String addressKey() {
        return ViaConfig.ROOT + ".adapters." + name + ".address";
    }

    @Override
    public ProtocolChannel openChannel(String channelName) {
        return new ViaChannel(this, channelName);
    }

    @Override
    public ProgressSource progress() {
        return progress;
    }

    @Override
    public Optional<MemorySource> memorySource() {
        return Optional.of(remote);
    }

    @Override
    public Optional<RemoteMemory> remoteMemory() {
        return Optional.of(remote);
    }

    @Override
    public ViaPort port() {
        return port;
    }

    // ---- connecting

    /** What is missing for another connection; empty if nothing is. */
    Optional<String> lacks() {
        int wanted = port.receives().count() + sizes.receiveCount(port);
        return wanted <= port.receiveLimit()
                ? Optional.empty()
                : Optional.of("the provider " + address.provider() + " lets an endpoint post " + port.receiveLimit()
                        + " receives, and a further connection needs " + sizes.receiveCount(port) + " more than the "
                        + port.receives().count() + " in use; use fewer channels, or a smaller " + ViaConfig.ROOT
                        + ".pool.packets");
    }

    CompletableFuture<ProtocolConnection> connect(String channel, ConnectionRequest request) {
        PendingConnection wanted = manager.prepare(channel, request);
        lock.lock();
        try {
            manager.request(wanted);
            if (request.initiator()) {
                call(wanted);
            }
            setDue();
        } finally {
            lock.unlock();
        }
        wake();
        return wanted.future();
    }

    private void call(PendingConnection wanted) {
        String stopped = port.stopped();
        if (stopped != null) {
            boolean _ = wanted.fail("the adapter " + name + " is broken: " + stopped);
            return;
        }
        Optional<ViaAddress> peer = ViaAddress.read(wanted.request().peerAddress());
        if (peer.isEmpty()) {
            boolean _ = wanted.fail(
                    "its address is not one of this release of via: use the same release of Madeleine in all processes");
            return;
        }
        wanted.note(peer.get().silence(addressKey()));
        try {
            ViaConnection made = newConnection(
                    peer.get().name(),
                    peer.get().provider() + " of process " + peer.get().pid());
            calls.put(made, wanted);
            processes.called(made, peer.get());
            made.reserve();
            made.line().sendOpening(MessageFlyweight.OPEN, port.name());
        } catch (MadeleineException e) {
            boolean _ = wanted.fail(String.valueOf(e.getMessage()), e);
        }
    }

    private ViaConnection newConnection(byte[] peerName, String remote) {
        long peer = peers.use(peerName);
        try {
            ViaConnection made =
                    connections.add((number, token) -> new ViaConnection(this, number, token, peer, remote, sizes));
            lines.add(made.line());
            return made;
        } catch (RuntimeException | Error e) { // its buffers cannot be registered, for instance
            releasePeer(peer);
            throw e;
        }
    }

    void closeChannel(String channel) {
        lock.lock();
        try {
            manager.closeChannel(channel);
            setDue();
        } finally {
            lock.unlock();
        }
        wake();
    }

    private void setDue() {
        controlDueNs = System.nanoTime();
    }

    // ---- messages

    @Override
    public void onMessage(int slot, MemorySegment memory, long at, int bytes) {
        if (bytes >= MessageFlyweight.BYTES) {
            int to = MessageFlyweight.to(memory, at);
            int kind = MessageFlyweight.kind(memory, at);
            ViaConnection connection = connections.get(to);
            if (connection != null && connection.token() == MessageFlyweight.token(memory, at)) {
                if (kind != MessageFlyweight.ACCEPT) {
                    connection.onMessage(slot, memory, at, bytes);
                    return;
                }
                openings.add(new Arrived(slot, memory, at, bytes, connection));
                lineHasWork();
                return;
            } else if (to == MessageFlyweight.NO_CONNECTION && kind == MessageFlyweight.OPEN) {
                openings.add(new Arrived(slot, memory, at, bytes, null));
                lineHasWork();
                return;
            } else if (to == MessageFlyweight.NO_CONNECTION && ViaRemoteMemory.isKind(kind)) {
                remote.onMessage(memory, at, bytes);
            }
        }
        port.receives().post(slot);
    }

    /** An opening that has arrived: it waits in its slot for the thread that polls. */
    private record Arrived(
            int slot,
            MemorySegment memory,
            long at,
            int bytes,
            @Nullable ViaConnection connection) {}

    private int takeOpenings() {
        int taken = 0;
        for (Arrived next = openings.poll(); next != null; next = openings.poll()) {
            ViaConnection called = next.connection();
            if (called == null) {
                onOpen(next.memory(), next.at(), next.bytes());
            } else {
                onAccept(called, next.memory(), next.at(), next.bytes());
            }
            port.receives().post(next.slot());
            taken++;
        }
        return taken;
    }

    private static Optional<Opening> opening(MemorySegment memory, long at, int bytes) {
        return Opening.read(memory, at + MessageFlyweight.BYTES, bytes - MessageFlyweight.BYTES);
    }

    private void onOpen(MemorySegment memory, long at, int bytes) {
        Optional<Opening> opening = opening(memory, at, bytes);
        if (opening.isEmpty() || closed || !peers.mayExist(opening.get().name())) {
            return;
        }
        lock.lock();
        try {
            ViaConnection made = newConnection(opening.get().name(), address.provider());
            boolean _ = made.opened(opening.get(), MessageFlyweight.word(memory, at));
            made.line().sendOpening(MessageFlyweight.ACCEPT, port.name());
            Handshake handshake = manager.accept(made.line(), System.nanoTime());
            made.line().use(handshake);
            handshake.start();
            setDue();
        } catch (MadeleineException e) {
            context.logger().log(System.Logger.Level.WARNING, "via: a peer cannot be accepted: {0}", e.getMessage());
        } finally {
            lock.unlock();
        }
    }

    private void onAccept(ViaConnection called, MemorySegment memory, long at, int bytes) {
        Optional<Opening> opening = opening(memory, at, bytes);
        lock.lock();
        try {
            PendingConnection wanted = calls.remove(called);
            if (wanted == null || opening.isEmpty()) {
                return;
            }
            wanted.note("the peer has taken the call, and has not answered the handshake");
            boolean _ = called.opened(opening.get(), MessageFlyweight.word(memory, at));
            Handshake handshake = manager.call(wanted, called.line(), System.nanoTime());
            called.line().use(handshake);
            handshake.start();
            setDue();
        } finally {
            lock.unlock();
        }
    }

    private void onWritten(long immediate) {
        ViaConnection connection = connections.get(GrantFlyweight.connection(immediate));
        if (connection != null) {
            connection.onWritten(immediate);
        }
    }

    @Override
    public void onBroken(String reason) {
        for (ViaConnection connection : connections.all()) {
            connection.lost(LossKind.ADAPTER, "the adapter " + name + " is broken: " + reason);
        }
        wake();
    }

    // ---- RemoteHome

    @Override
    public long usePeer(byte[] name) {
        lock.lock();
        try {
            return peers.use(name);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void keepPeer(long peer) {
        lock.lock();
        try {
            peers.keep(peer);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void releasePeer(long peer) {
        released.add(peer);
        wake();
    }

    /** How many peers the endpoint knows. */
    int peerCount() {
        lock.lock();
        try {
            return peers.count();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the uses of peers that are over, while no thread handles completions for them. */
    private void releasePeers() {
        lock.lock();
        try {
            if (!port.tryQuiet()) {
                return; // the next poll comes here again
            }
            try {
                for (Long peer = released.poll(); peer != null; peer = released.poll()) {
                    peers.release(peer);
                }
            } finally {
                port.endQuiet();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public byte[] shortName() {
        return ShortNames.of(port.name(), address.provider());
    }

    @Override
    public byte[] nameOf(byte[] shortName) {
        return ShortNames.name(shortName, port.name());
    }

    @Override
    public byte[] nameIn(String text) {
        return ViaAddress.read(text)
                .filter(peer -> peer.provider().equals(address.provider()))
                .map(ViaAddress::name)
                .orElseGet(() -> new byte[0]);
    }

    @Override
    public boolean isDead(String text) {
        return ViaAddress.read(text).filter(peer -> peer.isDead(address)).isPresent();
    }

    // ---- Home

    @Override
    public RegionUses regions() {
        return regions;
    }

    @Override
    public void wake() {
        progress.wake();
    }

    @Override
    public void active(ViaConnection connection) {
        active.add(connection);
        wake();
    }

    @Override
    public void behind() {
        someBehind = true;
        port.outstanding().need();
    }

    @Override
    public void lineHasWork() {
        linesHaveWork = true;
        wake();
    }

    @Override
    public void closing(ViaConnection connection) {
        if (connection.hasFailedToOpen()) {
            refuse(connection);
        }
        graves.add(connection);
        port.outstanding().need();
    }

    private void refuse(ViaConnection failed) {
        lock.lock();
        try {
            if (!processes.isKnown(failed)) {
                refused.add(failed);
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- polling

    int poll(long nowNs, long idleNs) {
        int work = Math.max(0, port.poll());
        if (someBehind) {
            flush();
        }
        if (linesHaveWork || nowNs - controlDueNs >= 0 && controlDueNs != Long.MAX_VALUE) {
            work += control(nowNs);
        }
        work += remote.poll(nowNs);
        work += tell();
        work += active.poll();
        if (!graves.isEmpty()) {
            bury();
        }
        if (!released.isEmpty()) {
            releasePeers();
        }
        if (processes.isDue(nowNs)) {
            checkProcesses(nowNs);
        }
        port.look(nowNs, someBehind || !graves.isEmpty() || regions.isAny() || remote.needsPolls(), idleNs);
        return work;
    }

    private void flush() {
        someBehind = false;
        boolean done = true;
        for (ViaConnection connection : connections.all()) {
            done &= connection.flush();
        }
        if (!done) {
            someBehind = true;
        }
    }

    private int control(long nowNs) {
        int work = 0;
        lock.lock();
        try {
            linesHaveWork = false;
            work += takeOpenings();
            boolean _ = manager.poll(System.nanoTime());
            for (ViaLine line : List.copyOf(lines)) {
                work += line.feed(nowNs);
                ViaConnection called = line.connection();
                PendingConnection wanted = calls.get(called);
                if (wanted != null && (wanted.isDone() || line.hasWork())) {
                    calls.remove(called);
                    boolean _ = wanted.fail("no line could be opened: " + called.seenOfLoss());
                    called.close();
                }
            }
            lines.removeIf(line -> line.isOver() && !calls.containsKey(line.connection()));
            long untilNs = manager.untilNextNs(System.nanoTime());
            controlDueNs = untilNs == Long.MAX_VALUE ? Long.MAX_VALUE : System.nanoTime() + untilNs;
        } finally {
            lock.unlock();
        }
        return work;
    }

    private int tell() {
        int told = 0;
        if (!upcalls.isEmpty()) {
            for (Runnable next = upcalls.poll(); next != null; next = upcalls.poll()) {
                next.run();
                told++;
            }
        }
        return told;
    }

    /** Frees closed connections whose messages have left, while no thread handles completions for them. */
    private void bury() {
        lock.lock();
        try {
            refused.dropOldest();
        } finally {
            lock.unlock();
        }
        for (Iterator<ViaConnection> left = graves.iterator(); left.hasNext(); ) {
            ViaConnection connection = left.next();
            if (connection.flush() && connection.isIdle()) {
                lock.lock();
                try {
                    if (!port.tryQuiet()) {
                        return; // the next poll comes here again
                    }
                    try {
                        left.remove();
                        free(connection);
                    } finally {
                        port.endQuiet();
                    }
                } finally {
                    lock.unlock();
                }
            }
        }
    }

    private void free(ViaConnection connection) {
        someUnheard |= !connection.wasHeard();
        connections.remove(connection);
        lines.remove(connection.line());
        calls.remove(connection);
        processes.remove(connection);
        refused.remove(connection);
        connection.free();
        peers.release(connection.peerAddress());
    }

    private void checkProcesses(long nowNs) {
        lock.lock();
        try {
            processes.check(connections.all(), nowNs);
        } finally {
            lock.unlock();
        }
        if (isShared && port.stopped() == null) {
            processes.whyStuck(port.oldestToTheDead()).ifPresent(this::getOverTheDead);
        }
    }

    /** Fails what waits for dead processes; gives up the endpoint if that is not possible. */
    private void getOverTheDead(String why) {
        if (!port.failToTheDead(new ShmResponses(address))) {
            port.stop(why);
            onBroken(why);
        }
    }

    /** Whether anything keeps the engine from sleeping, once completions have been handled. */
    boolean hasWork() {
        return port.poll() != 0
                || linesHaveWork
                || remote.hasWork()
                || !released.isEmpty()
                || !upcalls.isEmpty()
                || active.hasWork();
    }

    /** How long until something is due, in nanoseconds. */
    long untilDueNs(long nowNs) {
        long control = controlDueNs == Long.MAX_VALUE ? Long.MAX_VALUE : Math.max(0, controlDueNs - nowNs);
        return connections.isEmpty() && !remote.needsPolls()
                ? control
                : Math.min(control, someBehind ? BEHIND_NS : PostingLink.LONGEST_SLEEP_NS);
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            manager.close();
        } finally {
            lock.unlock();
        }
        remote.close();
        for (ViaConnection connection : connections.all()) {
            connection.close();
        }
        int _ = tell();
        long deadlineNs = System.nanoTime() + CLOSING_NS;
        while (!graves.isEmpty() && System.nanoTime() - deadlineNs < 0) {
            int _ = port.poll();
            bury();
            Thread.onSpinWait();
        }
        progress.close();
        lock.lock();
        try {
            peers.close();
        } finally {
            lock.unlock();
        }
        graves.forEach(ViaConnection::drop);
        regions.close();
        LocalEndpoints.close(localName(), this::free);
    }

    private String localName() {
        return HexFormat.of().formatHex(port.name());
    }

    private void free() {
        lock.lock();
        try {
            if (isShared
                    && (someUnheard || remote.hasUnheard() || graves.stream().anyMatch(each -> !each.wasHeard()))) {
                ShmFiles.closeButKeep(port.name(), port::closeEndpoint);
            } else {
                port.closeEndpoint();
            }
            List.copyOf(graves).forEach(this::free);
            remote.free();
            port.close();
        } finally {
            lock.unlock();
            locks.close(); // not before: to close an endpoint may send
        }
    }
}
