package io.madeleine.tm.tcp;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.handshake.ConnectionManager;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.InternetAddress;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.pmm.spi.SocketAdapterConfig;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.io.StreamBuffers;
import io.madeleine.tm.tcp.io.Wire;
import io.madeleine.tm.tcp.reactor.LoopWatcher;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import io.madeleine.tm.tcp.stream.AddressPair;
import io.madeleine.tm.tcp.stream.Coalescing;
import io.madeleine.tm.tcp.stream.Lingering;
import io.madeleine.tm.tcp.stream.PathWatch;
import io.madeleine.tm.tcp.stream.SocketTable;
import io.madeleine.tm.tcp.stream.TcpConnection;
import io.madeleine.tm.tcp.stream.TcpProgress;
import io.madeleine.tm.tcp.tls.TlsBuffers;
import io.madeleine.tm.tcp.tls.TlsIdentity;
import io.madeleine.tm.tcp.tls.TlsSide;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A listening socket and the connections made through it. Netty accepts, connects and carries the handshakes;
 * established connections leave its pipelines.
 *
 * <p>Threading: as {@link Adapter} says. Connections are set up in the event loop, which the leader runs.
 */
final class TcpAdapter implements Adapter, HandshakeHandler.Host {
    private static final long BIND_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long CLOSE_NS = TimeUnit.SECONDS.toNanos(1);

    private final String name;
    private final TcpConfig config;
    private final StreamBuffers buffers;
    private final TlsBuffers tlsBuffers;
    private final @Nullable TlsIdentity tls;
    private final ProcessContext context;
    private final NettyReactor reactor;

    /** Not null if the session sleeps in another reactor; then this adapter owns {@link #reactor}. */
    private final @Nullable LoopWatcher watcher;

    private final TcpProgress progress;
    private final Lingering lingering;
    private final Coalescing coalescing;
    private final PathWatch paths;
    private final ConnectionManager connections;
    private final HandshakeTimer handshakeTimer;
    private final SocketOptions options;
    private final Channel server;
    private final InternetAddress address;
    private final Set<TcpChannel> channels = ConcurrentHashMap.newKeySet();
    private boolean closed;

    /**
     * Starts to listen.
     *
     * @param reactor the session's reactor if that is Netty's; otherwise one that belongs to the adapter, which closes
     *     it
     * @throws ConfigurationException if it cannot listen, or cannot load the TLS files
     */
    TcpAdapter(String name, TcpConfig config, ProcessContext context, NettyReactor reactor) {
        this(
                name,
                config,
                context,
                reactor,
                config.tls().enabled()
                        ? TlsIdentity.load(config.tls(), config.handshake().timeoutNs())
                        : null);
    }

    /**
     * As above, with the identity that the configuration names. Ownership: the adapter closes the identity, even if
     * this constructor fails.
     */
    TcpAdapter(
            String name,
            TcpConfig config,
            ProcessContext context,
            NettyReactor reactor,
            @Nullable TlsIdentity identity) {
        this.name = name;
        this.config = config;
        this.buffers = new StreamBuffers(config.stream().bufferBytes());
        this.tls = identity;
        this.tlsBuffers = new TlsBuffers(tls != null && tls.prefersDirect());
        this.context = context;
        this.reactor = reactor;
        this.lingering = new Lingering(reactor, config.closeLingerNs());
        this.coalescing = new Coalescing(name, config.coalesceNs());
        this.paths = new PathWatch(name, config.peerTimeoutNs(), new SocketTable(), context.logger());
        Reactor sessions = context.reactor();
        this.watcher = sessions == reactor ? null : new LoopWatcher(name, reactor, sessions);
        this.progress = new TcpProgress(reactor, sessions, watcher, lingering, coalescing);
        this.connections = new ConnectionManager(TcpPmm.NAME, context, config.handshake(), Runnable::run);
        this.handshakeTimer = new HandshakeTimer(connections, loop());
        SocketAdapterConfig own = Objects.requireNonNull(config.adapters().get(name), name);
        this.options = new SocketOptions(config, reactor.io());
        Channel bound = null;
        try {
            bound = bind(own);
            this.address = InternetAddress.of((InetSocketAddress) bound.localAddress(), own.advertise());
            if (watcher != null) {
                watcher.start(); // last, when nothing else can fail
            }
        } catch (RuntimeException | Error e) {
            if (bound != null) {
                bound.close();
            }
            if (identity != null) {
                identity.close();
            }
            throw e;
        }
        this.server = bound;
    }

    private Channel bind(SocketAdapterConfig own) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loop())
                .channelFactory(() -> reactor.io().newServerChannel())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel accepted) {
                        accepted.pipeline()
                                .addLast(new HandshakeHandler(
                                        TcpAdapter.this, tls == null ? null : tls.forAccepted(accepted.alloc()), null));
                    }
                });
        options.applyTo(bootstrap);
        InetSocketAddress place = new InetSocketAddress(own.bind(), own.port());
        if (place.isUnresolved()) {
            throw cannotListen(own, "the host name is unknown", null);
        }
        if (!context.secretConfigured() && !place.getAddress().isLoopbackAddress()) {
            throw new ConfigurationException(
                    "madeleine.session.secret is empty, and " + TcpConfig.PATH + ".adapters." + name + ".bind = "
                            + own.bind()
                            + " lets other hosts connect: set the same secret text in every process, or bind to the"
                            + " loopback address");
        }
        ChannelFuture bound = bootstrap.bind(place);
        if (!reactor.await(bound::isDone, BIND_NS)) {
            bound.channel().close();
            throw cannotListen(
                    own, "bind() did not finish within " + TimeUnit.NANOSECONDS.toSeconds(BIND_NS) + " s", null);
        }
        if (!bound.isSuccess()) {
            throw cannotListen(own, String.valueOf(bound.cause().getMessage()), bound.cause());
        }
        return bound.channel();
    }

    private ConfigurationException cannotListen(SocketAdapterConfig own, String reason, @Nullable Throwable cause) {
        String message = "tcp cannot listen on " + own.bind() + " port " + own.port() + ": " + reason + "; see "
                + TcpConfig.PATH + ".adapters." + name + ".bind and .port (0 for any free port)";
        return cause == null ? new ConfigurationException(message) : new ConfigurationException(message, cause);
    }

    /** The TLS handler for an outgoing connection, or null without TLS. */
    @Nullable
    TlsSide tlsForCall() {
        return tls == null ? null : tls.forCalled(UnpooledByteBufAllocator.DEFAULT);
    }

    /** Begins to connect. Called in the loop. */
    ChannelFuture connect(InetSocketAddress place, HandshakeHandler handshake) {
        Bootstrap bootstrap = new Bootstrap()
                .group(loop())
                .channel(reactor.io().socketChannel())
                .handler(handshake);
        options.applyTo(bootstrap);
        return bootstrap.connect(place);
    }

    /** Takes a channel out of its Netty pipeline and makes a connection of it. Called in the loop. */
    @Override
    public void establish(HandshakeHandler handshake, PendingConnection wanted) {
        try {
            Optional<AddressPair> ends = AddressPair.of(handshake.channel());
            options.settle(handshake.channel(), ends.isPresent() && ends.get().areOnOneHost());
            Wires.takeOver(handshake, reactor, tlsBuffers).addListener(taken -> {
                if (taken.isSuccess()) {
                    establish((Wire) taken.getNow(), ends, handshake, wanted);
                } else {
                    setUpFailed(handshake.channel(), wanted, taken.cause());
                }
            });
        } catch (RuntimeException | Error e) { // Netty would only log it
            setUpFailed(handshake.channel(), wanted, e);
        }
    }

    private void establish(
            Wire wire, Optional<AddressPair> ends, HandshakeHandler handshake, PendingConnection wanted) {
        TcpConnection connection;
        try {
            connection = new TcpConnection(
                    wanted.request().peer(),
                    wire,
                    progress,
                    wanted.request().modules().getFirst(),
                    config.stream(),
                    buffers);
            connect(connection, ends, handshake.leftover());
        } catch (IOException | RuntimeException | Error e) {
            wire.close();
            setUpFailed(handshake.channel(), wanted, e);
            return;
        }
        wanted.complete(connection);
        if (!reactor.isLedHere()) {
            progress.wakeSession(); // a thread may sleep until there is a connection
        }
    }

    private void connect(TcpConnection connection, Optional<AddressPair> ends, ByteBuffer leftover) throws IOException {
        try {
            if (leftover.hasRemaining()) {
                connection.prepend(leftover);
            }
            ends.flatMap(known -> paths.watch(known, connection::heardPackets, connection::pathLost))
                    .ifPresent(connection::watched);
            connection.wire().register(connection.poller()::onReady);
            progress.add(connection.poller());
        } catch (IOException | RuntimeException | Error e) {
            connection.abandon();
            throw e;
        }
    }

    private static void setUpFailed(Channel channel, PendingConnection wanted, Throwable cause) {
        channel.close();
        boolean _ = wanted.fail("the connection broke while it was being set up: " + cause.getMessage(), cause);
    }

    /** Announces a connection that this process wants. Called in the loop. */
    void request(PendingConnection wanted) {
        connections.request(wanted);
        deadlinesChanged();
    }

    @Override
    public void deadlinesChanged() {
        handshakeTimer.update();
    }

    @Override
    public ConnectionManager connections() {
        return connections;
    }

    /** The listening socket. */
    Channel server() {
        return server;
    }

    EventLoop loop() {
        return reactor.channels();
    }

    /**
     * Runs a task in the loop: now if the calling thread runs the loop, otherwise later; not at all if the loop is
     * closed.
     */
    void inLoop(Runnable task) {
        if (loop().inEventLoop()) {
            task.run();
        } else {
            try {
                loop().execute(task);
            } catch (RejectedExecutionException _) {
                // the loop has closed everything in it
            }
        }
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
        return InternetAddress.unreachable(peerAddress, "tcp", bindKey());
    }

    /** The key of a peer's adapter with the same name. */
    String bindKey() {
        return TcpConfig.PATH + ".adapters." + name + ".bind";
    }

    @Override
    public ProtocolChannel openChannel(String channelName) {
        TcpChannel channel = new TcpChannel(this, channelName);
        channels.add(channel);
        return channel;
    }

    void channelClosed(TcpChannel channel) {
        channels.remove(channel);
    }

    @Override
    public ProgressSource progress() {
        return progress;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (watcher != null) {
            watcher.close();
        }
        Set.copyOf(channels).forEach(TcpChannel::close);
        coalescing.close();
        paths.close();
        try {
            if (!loop().isShutdown()) {
                closeSockets();
            }
        } finally { // also after a failure of a handler in the loop
            if (tls != null) {
                tls.close();
            }
            if (watcher != null) {
                reactor.close();
            }
        }
    }

    private void closeSockets() {
        Promise<Void> done = loop().newPromise();
        loop().execute(() -> {
            connections.close();
            server.close();
            done.setSuccess(null);
        });
        reactor.await(done::isDone, CLOSE_NS);
        lingering.awaitAll();
        reactor.poll(); // a selector frees closed sockets only in its next select
    }
}
