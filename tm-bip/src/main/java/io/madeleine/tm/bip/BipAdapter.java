package io.madeleine.tm.bip;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.handshake.ConnectionManager;
import io.madeleine.pmm.handshake.Handshake;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.InternetAddress;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.pmm.spi.SocketAdapterConfig;
import io.madeleine.tm.bip.io.DatagramPort;
import io.madeleine.tm.bip.io.FaultyPort;
import io.madeleine.tm.bip.io.NioPort;
import io.madeleine.tm.bip.protocol.Cookies;
import io.madeleine.tm.bip.protocol.Datagram;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import io.madeleine.tm.bip.protocol.Endpoint;
import io.madeleine.tm.bip.protocol.EndpointSettings;
import io.madeleine.tm.bip.protocol.GrantScheduler;
import io.madeleine.tm.bip.protocol.RingPool;
import io.madeleine.tm.bip.tls.TlsExchange;
import io.madeleine.tm.bip.tls.TlsIdentity;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One socket, and the connections to all peers over it.
 *
 * <p>Threading: as {@link Adapter}; a lock guards the handshakes.
 */
final class BipAdapter implements Adapter {
    static final byte[] NOTHING = {};
    private static final int ADDRESS_BYTES = 18;
    private static final long CLOSE_PAUSE_NS = 100_000;

    /** After this time a closing adapter polls only every {@link #LONG_CLOSE_PAUSE_NS}: its peers are busy. */
    private static final long LONG_LINGER_NS = 100_000_000;

    private static final long LONG_CLOSE_PAUSE_NS = 2_000_000;

    /** At most this many connections whose handshake failed stay to tell their peers why. */
    static final int MOST_REFUSED = 32;

    /** The least time between two notices about a lack of memory. */
    private static final long MEMORY_NOTICE_NS = 5_000_000_000L;

    private static final String DIRECT_MEMORY_REMEDY =
            "Each peer whose messages wait to be read, or to be sent, needs up to " + BipConfig.PATH
                    + ".short.window and .long.window of direct memory (-XX:MaxDirectMemorySize)";

    /** How much longer a closing adapter sends the last datagrams of connections whose time to linger is over. */
    private static final long GRACE_NS = 100_000_000;

    private final String name;
    private final ProcessContext context;
    private final DatagramPort port;
    private final InternetAddress address;
    private final Reactor.Registration registration;
    private final BipProgress progress;
    private final ArrivalWatcher watcher;
    private final Timers timers;
    private final RingPool rings;
    private final EndpointSettings settings;
    private final GrantScheduler grants;
    private final ConnectionManager manager;
    private final @Nullable TlsIdentity tls;
    private final Cookies cookies = new Cookies();
    private final AnswerBudget answers;
    private final SecureRandom random = new SecureRandom();

    /** Completions of requests, to be run once the lock is free. */
    private final Queue<Runnable> upcalls = new ConcurrentLinkedQueue<>();

    /** Attempts to be made by a poll once they are due. */
    private final Queue<BipCall> calls = new ConcurrentLinkedQueue<>();

    /** The connections whose handshake is not over; guarded by the manager's lock. */
    private final List<BipLine> lines = new ArrayList<>();

    /** Closed connections without a handshake, which tell their peers why; guarded by the manager's lock. */
    private final Deque<BipConnection> refused = new ArrayDeque<>();

    private long memoryNoticeNs = System.nanoTime() - MEMORY_NOTICE_NS; // of the thread that polls
    private volatile boolean closed;

    static BipAdapter open(String name, BipConfig config, ProcessContext context) {
        SocketAdapterConfig own = Objects.requireNonNull(config.adapters().get(name), name);
        String keys = BipConfig.PATH + ".adapters." + name;
        InetSocketAddress place = new InetSocketAddress(own.bind(), own.port());
        if (!context.secretConfigured()
                && !place.isUnresolved()
                && !place.getAddress().isLoopbackAddress()) {
            throw new ConfigurationException("madeleine.session.secret is empty, and " + keys + ".bind = " + own.bind()
                    + " lets other hosts connect: set the same secret text in every process, or bind to the loopback"
                    + " address");
        }
        TlsIdentity tls = config.endpoint().encrypts()
                ? TlsIdentity.load(BipConfig.TLS_KEYS, BipConfig.ENCRYPTION_ON, config.tls())
                : null;
        NioPort socket = new NioPort(place, config.sendBufferBytes(), config.receiveBufferBytes(), keys);
        try {
            DatagramPort port = config.offload().over(socket, own.bind());
            return new BipAdapter(
                    name,
                    config,
                    context,
                    config.faults().any() ? new FaultyPort(port, config.faults()) : port,
                    own.advertise(),
                    tls);
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    private BipAdapter(
            String name,
            BipConfig config,
            ProcessContext context,
            DatagramPort port,
            String advertise,
            @Nullable TlsIdentity tls) {
        this.tls = tls;
        this.name = name;
        this.context = context;
        this.port = port;
        this.address = InternetAddress.of(port.address(), advertise, port::knows);
        this.answers = new AnswerBudget(port.sendBufferBytes(), System.nanoTime());
        // not closed with the adapter: a thread may still be inside a call of a link then
        Arena arena = Arena.ofAuto();
        this.rings = new RingPool(System::nanoTime);
        this.timers = new Timers(context.newDemand());
        this.settings = config.endpoint().fitting(port.receiveBufferBytes());
        this.grants = new GrantScheduler(settings, port.receiveBufferBytes(), config.grants());
        this.manager = new ConnectionManager(BipPmm.NAME, context, config.handshake(), upcalls::add);
        this.progress = new BipProgress(this, port, timers, grants, arena, config.coalesceNs(), config.rebinding());
        this.registration = context.reactor().register(port.channel(), SelectionKey.OP_READ, _ -> progress.onReady());
        this.watcher = ArrivalWatcher.of(name, progress, port);
        watcher.start();
    }

    // ---- connections

    private void want(PendingConnection wanted) {
        answers.member(wanted.request().peerAddress());
        synchronized (manager) {
            manager.request(wanted);
            if (wanted.request().initiator()) {
                call(new BipCall(this, wanted));
            }
        }
        wake();
    }

    private void call(BipCall call) {
        PendingConnection wanted = call.wanted();
        List<InetSocketAddress> places;
        String hint;
        try {
            InternetAddress peer = InternetAddress.parse(wanted.request().peerAddress(), "bip");
            hint = peer.hint(bindKey());
            places = peer.resolve().stream()
                    .filter(place -> !place.isUnresolved())
                    .toList();
        } catch (IllegalArgumentException e) {
            boolean _ = wanted.fail(String.valueOf(e.getMessage()));
            return;
        }
        if (places.isEmpty()) {
            boolean _ = wanted.fail("the host name in the peer's address "
                    + wanted.request().peerAddress() + " is unknown here: set " + BipConfig.PATH + ".adapters." + name
                    + ".advertise at the peer to an address that this host can reach");
            return;
        }
        places = places.stream().filter(place -> port.knows(place.getAddress())).toList();
        if (places.isEmpty()) {
            boolean _ = wanted.fail("the peer is at " + wanted.request().peerAddress() + ", an address of IPv6, and the"
                    + " socket here is of IPv4: set " + bindKey()
                    + " to \"::\", which serves both, here, or to an address"
                    + " of IPv4 at the peer");
            return;
        }
        places.forEach(place -> answers.member(place.getAddress()));
        call.begin("the peer has not answered"
                + (hint.isEmpty()
                        ? " at " + wanted.request().peerAddress() + ", the address that its " + BipConfig.PATH
                                + ".adapters." + name + ".advertise and .bind give"
                        : hint));
        long nowNs = System.nanoTime();
        Endpoint end = Endpoint.initiator(settings, rings, grants, newId(), nowNs);
        BipConnection made = new BipConnection(progress, end, places, call);
        progress.connections().add(made);
        begin(made, manager.call(wanted, made.line(), nowNs), true);
        made.flush();
    }

    /** Begins the handshake of a connection; with encryption, after the TLS handshake. */
    private void begin(BipConnection made, Handshake begun, boolean isInitiator) {
        made.line().handshake(begun);
        lines.add(made.line());
        TlsIdentity identity = tls;
        if (identity == null) {
            begun.start();
        } else {
            TlsExchange exchange = identity.begin(isInitiator, () -> {
                progress.listReady(made);
                progress.wake();
            });
            made.opening(new SecureOpening(exchange, isInitiator, made.endpoint()));
        }
    }

    /** The endpoint of a connection whose TLS handshake is over. */
    Endpoint protectedEndpoint(SecureOpening opening, long nowNs) throws SSLException {
        Endpoint first = opening.endpoint();
        return Endpoint.sealed(settings, rings, grants, first.ownId(), first.remoteId(), opening.protection(), nowNs);
    }

    /** An attempt failed; a poll makes another one once it is due. */
    void callAgain(BipCall call) {
        if (!closed) {
            calls.add(call);
        }
    }

    private long newId() {
        long id;
        do {
            id = random.nextLong();
        } while (id == 0 || progress.connections().find(id) != null);
        return id;
    }

    /** A process without a connection asks for a cookie, or returns one. Called by the thread that polls. */
    void onRequest(Datagram datagram, InetSocketAddress from, long nowNs) {
        if (closed || !datagram.isRequest()) {
            return;
        }
        long peerId = datagram.number();
        if (datagram.kind() == DatagramLayout.INIT) {
            answer(from, DatagramLayout.COOKIE, peerId, 0, cookies.make(bytesOf(from), peerId, nowNs), nowNs);
            return;
        }
        byte[] cookie = new byte[DatagramLayout.COOKIE_BYTES];
        datagram.bytes().get(DatagramLayout.HEADER_BYTES, cookie);
        if (!cookies.isValid(cookie, bytesOf(from), peerId, nowNs)) {
            return;
        }
        answers.proved(from.getAddress());
        BipConnection known = progress.connections().findByPeer(peerId, from);
        if (known == null) {
            known = accept(peerId, from, (int) datagram.floorDistance(), nowNs);
        } else {
            known.acceptAgain();
        }
        progress.touch(known);
    }

    /**
     * The handshake of a connection has failed. It stays for a moment, so that its peer learns why. More than a few of
     * them cannot stay: they count no more as connections in the handshake, and strangers can open any number of them.
     * Under the manager's lock.
     */
    void refused(BipConnection connection) {
        refused.removeIf(BipConnection::isGone);
        if (refused.size() == MOST_REFUSED) {
            refused.removeFirst().giveUp();
        }
        refused.add(connection);
    }

    /** A datagram was dropped. Called by the thread that polls. */
    void outOfMemory(OutOfMemoryError why, long nowNs) {
        if (isMemoryNoticeDue(nowNs)) {
            notice("a datagram was dropped, and others may be, for lack of memory (" + why.getMessage()
                    + "); peers repeat what was in them. " + remedy(String.valueOf(why.getMessage())));
        }
    }

    /** A sender waits for memory. Called by the thread that polls. */
    void lacksMemoryToSend(long nowNs) {
        if (isMemoryNoticeDue(nowNs)) {
            notice("messages wait to be sent for lack of memory. " + DIRECT_MEMORY_REMEDY);
        }
    }

    private boolean isMemoryNoticeDue(long nowNs) {
        boolean isDue = nowNs - memoryNoticeNs >= MEMORY_NOTICE_NS;
        memoryNoticeNs = isDue ? nowNs : memoryNoticeNs;
        return isDue;
    }

    /** What mends a lack of memory of which the JVM says this. */
    static String remedy(String why) {
        if (why.contains("heap") || why.contains("GC")) {
            return "The heap is full (-Xmx): bip needs up to 16 KiB of it per peer";
        }
        return DIRECT_MEMORY_REMEDY;
    }

    /** A closed connection is gone, and its peer lacks messages. */
    void undelivered(BipConnection connection, long bytes) {
        notice("the connection to " + connection.remote() + " was closed, and " + bytes + " bytes of messages may not"
                + " have arrived there; " + BipConfig.PATH + ".close-linger says how long a close waits for an answer,"
                + " and madeleine.peer-timeout how long in total");
    }

    /** Writes to the log once no lock is held. */
    private void notice(String text) {
        upcalls.add(() -> context.logger().log(System.Logger.Level.WARNING, "bip: " + text));
    }

    /** Answers a datagram that belongs to no connection, unless too many have come. Called by the thread that polls. */
    void answer(InetSocketAddress to, int kind, long destination, long number, byte[] body, long nowNs) {
        if (answers.takeFor(to.getAddress(), nowNs)) {
            progress.output().sendAnswer(to, kind, destination, number, body);
        }
    }

    private static byte[] bytesOf(InetSocketAddress from) {
        InetAddress host = from.getAddress();
        return ByteBuffer.allocate(ADDRESS_BYTES)
                .put(host.getAddress())
                .putShort(ADDRESS_BYTES - Short.BYTES, (short) from.getPort())
                .array();
    }

    private BipConnection accept(long peerId, InetSocketAddress from, int encryption, long nowNs) {
        Endpoint end = Endpoint.acceptor(settings, rings, grants, newId(), peerId, nowNs);
        end.peerEncryption(encryption);
        end.distrust();
        BipConnection made = new BipConnection(progress, end, List.of(from), null);
        progress.connections().add(made);
        synchronized (manager) {
            begin(made, manager.accept(made.line(), nowNs), false);
        }
        return made;
    }

    /** Drives handshakes and requests; returns the number of events. */
    int pollHandshakes(long nowNs) {
        int work = 0;
        synchronized (manager) {
            if (!calls.isEmpty()) { // an iterator would be garbage in each poll
                callWhatIsDue(nowNs);
            }
            manager.poll(nowNs);
            for (int i = lines.size() - 1; i >= 0; i--) {
                BipLine line = lines.get(i);
                work += line.connection().hasWork() ? line.feed(nowNs) : 0;
                if (!line.connection().isHandshaking()) {
                    lines.remove(i);
                }
            }
        }
        return work + tell();
    }

    private void callWhatIsDue(long nowNs) {
        for (Iterator<BipCall> waiting = calls.iterator(); waiting.hasNext(); ) {
            BipCall next = waiting.next();
            if (next.untilDueNs(nowNs) <= 0) {
                waiting.remove();
                if (!next.wanted().isDone() && !closed) {
                    call(next);
                }
            }
        }
    }

    private int tell() {
        int told = 0;
        for (Runnable next = upcalls.poll(); next != null; next = upcalls.poll()) {
            next.run();
            told++;
        }
        return told;
    }

    boolean isQuiet() {
        return upcalls.isEmpty() && (calls.isEmpty() || untilCallsNs(System.nanoTime()) > 0);
    }

    private long untilCallsNs(long nowNs) {
        long leastNs = Long.MAX_VALUE;
        if (!calls.isEmpty()) {
            for (BipCall each : calls) {
                leastNs = Math.min(leastNs, each.untilDueNs(nowNs));
            }
        }
        return leastNs;
    }

    long untilHandshakesNs(long nowNs) {
        synchronized (manager) {
            return Math.min(manager.untilNextNs(nowNs), Math.max(0, untilCallsNs(nowNs)));
        }
    }

    /** How long the adapter may go without checking for silent peers. */
    long idleCheckNs() {
        return settings.peerTimeoutNs() / 3;
    }

    void wakeReactor() {
        context.reactor().wakeUp();
    }

    private void wake() {
        progress.wake();
    }

    /** How many TLS handshakes wait to be served, for tests. */
    int waitingTlsCount() {
        return tls == null ? 0 : tls.waitingCount();
    }

    /** How much memory of rings the connections have, for tests. */
    long takenRingBytes() {
        return rings.takenBytes();
    }

    // ---- Adapter

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
        return InternetAddress.unreachable(peerAddress, "bip", bindKey());
    }

    /** The key of a peer's adapter with the same name. */
    private String bindKey() {
        return BipConfig.PATH + ".adapters." + name + ".bind";
    }

    @Override
    public ProtocolChannel openChannel(String channelName) {
        return new BipChannel(this, channelName);
    }

    /** Connects a channel to the peer of a request. */
    CompletableFuture<ProtocolConnection> connect(String channelName, ConnectionRequest request) {
        PendingConnection wanted = manager.prepare(channelName, request);
        want(wanted);
        return wanted.future();
    }

    void closeChannel(String channelName) {
        synchronized (manager) {
            manager.closeChannel(channelName);
        }
        wake();
    }

    @Override
    public ProgressSource progress() {
        return progress;
    }

    /** Drives the connections until their peers have everything, or no longer answer; each has its own bound. */
    private void linger() {
        long beganNs = System.nanoTime();
        long nowNs = beganNs;
        while (progress.connections().all().length > 0 && nowNs - beganNs < settings.longestLingerNs() + GRACE_NS) {
            progress.onReady();
            int _ = progress.pollSocket(nowNs);
            LockSupport.parkNanos(nowNs - beganNs < LONG_LINGER_NS ? CLOSE_PAUSE_NS : LONG_CLOSE_PAUSE_NS);
            nowNs = System.nanoTime();
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        synchronized (manager) {
            manager.close();
        }
        watcher.close(); // this thread polls from now on
        for (BipConnection each : progress.connections().all()) {
            each.close();
        }
        linger();
        for (BipConnection each : progress.connections().all()) {
            each.giveUp();
        }
        tell();
        registration.cancel();
        progress.output().close();
        progress.close();
        timers.close();
        port.close();
        if (tls != null) {
            tls.close();
        }
    }
}
