package io.madeleine.session;

import com.typesafe.config.Config;
import io.madeleine.api.LossKind;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A network inside one JVM, for tests of the session alone: packets are copied into queues. What goes wrong on
 * request: {@code available = false}, {@code broken}, {@code unreachable = true}, {@code refuse-adapter = true},
 * {@code refuse-connections = true}, {@code await-connections = true} (for ever), {@code fail-connections-late = true}
 * (just after the deadline), {@code fail-in = [open, finish, close]} with {@code fail-with}, the name of a class of
 * exceptions or errors.
 */
final class LoopProtocol implements ProtocolModule {
    static final AtomicInteger OPEN_ADAPTERS = new AtomicInteger();

    /** How often anybody wanted to know whether the network can be used. */
    static final AtomicInteger ASKED = new AtomicInteger();

    /** What the next poll of a process runs whose {@code in-poll} has this name. */
    static final Map<String, Runnable> IN_POLL = new ConcurrentHashMap<>();

    private static final Map<String, Pair> PAIRS = new ConcurrentHashMap<>();
    private static final TransmissionCapabilities STREAM = new TransmissionCapabilities(
            "loop/stream",
            BufferMode.DYNAMIC,
            LinkMode.BUFFER_GROUP,
            AggregationMode.ASYMMETRIC,
            Long.MAX_VALUE,
            0,
            "queues of this JVM");

    private final String name;
    private final Config config;

    LoopProtocol(Config config) {
        this("loop", config);
    }

    LoopProtocol(String name, Config config) {
        this.name = name;
        this.config = config;
    }

    /** Cuts the connections of a session; both ends see it. */
    static void cut(String sessionId, LossKind kind) {
        PAIRS.forEach((key, pair) -> {
            if (key.startsWith(sessionId + " ")) {
                for (LoopConnection end : pair.ends) {
                    end.listener.onLost(kind, false, "the loop is cut");
                }
            }
        });
    }

    private boolean is(String key) {
        return config.hasPath(key) && config.getBoolean(key);
    }

    private void failIn(String method) {
        if (!config.hasPath("fail-in") || !config.getStringList("fail-in").contains(method)) {
            return;
        }
        try {
            Throwable failure = (Throwable) Class.forName(config.getString("fail-with"))
                    .getConstructor(String.class)
                    .newInstance("told so by tm.loop.fail-in, " + method);
            throw failure;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Availability availability() {
        ASKED.incrementAndGet();
        if (config.hasPath("broken")) {
            throw new InternalError("no file");
        }
        return config.hasPath("available") && !config.getBoolean("available")
                ? Availability.off("told so by tm.loop.available", "set it to true")
                : Availability.on("queues of this JVM");
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules() {
        return List.of(STREAM);
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules(String adapter) {
        return adapter.equals("loop0")
                ? transmissionModules()
                : List.of(new TransmissionCapabilities(
                        STREAM.id(),
                        STREAM.bufferMode(),
                        STREAM.linkMode(),
                        STREAM.aggregation(),
                        STREAM.maxBlockBytes(),
                        STREAM.bufferBytes(),
                        "other queues"));
    }

    @Override
    public List<String> thresholdKeys() {
        return List.of("madeleine.tm.loop.parcel");
    }

    @Override
    public List<String> adapterNames() {
        return List.of("loop0", "loop1");
    }

    @Override
    public Adapter openAdapter(String name, ProcessContext context) {
        if (is("refuse-adapter")) {
            throw new SessionException("the loop adapter refuses");
        }
        failIn("open");
        OPEN_ADAPTERS.incrementAndGet();
        return new LoopAdapter(name, context);
    }

    private record Packet(long header, byte[] payload) {}

    /** Both directions of a connection. */
    private static final class Pair {
        final Queue<Packet>[] queues = newQueues();
        final LoopConnection[] ends = new LoopConnection[2];
        final long digest;

        Pair(long digest) {
            this.digest = digest;
        }

        @SuppressWarnings({"unchecked", "rawtypes"})
        private static Queue<Packet>[] newQueues() {
            return new Queue[] {new ConcurrentLinkedQueue<Packet>(), new ConcurrentLinkedQueue<Packet>()};
        }
    }

    private final class LoopAdapter implements Adapter, ProgressSource {
        private final String name;
        private final ProcessContext context;
        private final List<LoopConnection> connections = new CopyOnWriteArrayList<>();
        private boolean closed;

        LoopAdapter(String name, ProcessContext context) {
            this.name = name;
            this.context = context;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public String address() {
            return "loop:" + context.self();
        }

        @Override
        public Optional<String> unreachable(String peerAddress) {
            return is("unreachable") ? Optional.of("told so by tm.loop.unreachable") : Optional.empty();
        }

        @Override
        public ProtocolChannel openChannel(String channelName) {
            return new ProtocolChannel() {
                @Override
                public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
                    if (is("refuse-connections")) {
                        return CompletableFuture.failedFuture(new SessionException("the loop refuses to connect"));
                    }
                    if (is("await-connections")) {
                        return new CompletableFuture<>();
                    }
                    if (is("fail-connections-late")) {
                        return failingAt(request.deadlineNs());
                    }
                    return LoopAdapter.this.connect(channelName, request);
                }

                @Override
                public void close() {}
            };
        }

        private static CompletableFuture<ProtocolConnection> failingAt(long deadlineNs) {
            CompletableFuture<ProtocolConnection> connection = new CompletableFuture<>();
            long lateNs = deadlineNs + 50_000_000 - System.nanoTime(); // as a timer's thread is that starts late
            CompletableFuture.delayedExecutor(lateNs, TimeUnit.NANOSECONDS)
                    .execute(() -> connection.completeExceptionally(new SessionException("the loop waits in vain")));
            return connection;
        }

        private CompletableFuture<ProtocolConnection> connect(String channelName, ConnectionRequest request) {
            ProcessIdentity first = request.initiator() ? context.self() : request.peer();
            Pair pair = PAIRS.computeIfAbsent(
                    context.sessionId() + " " + channelName + " " + first + " "
                            + (request.initiator() ? request.peer() : context.self()),
                    _ -> new Pair(request.tableDigest()));
            if (pair.digest != request.tableDigest()) {
                return CompletableFuture.failedFuture(new SessionException("unequal digests"));
            }
            LoopConnection connection = new LoopConnection(this, pair, request.initiator() ? 0 : 1, request.peer());
            connections.add(connection);
            return CompletableFuture.completedFuture(connection);
        }

        @Override
        public ProgressSource progress() {
            return this;
        }

        @Override
        public int poll(long nowNs) {
            if (closed) {
                throw new AssertionError("polled after the close");
            }
            Runnable task = config.hasPath("in-poll") ? IN_POLL.remove(config.getString("in-poll")) : null;
            if (task != null) {
                task.run();
            }
            int work = 0;
            for (LoopConnection connection : connections) {
                if (!connection.incoming().isEmpty() && connection.listener != null) {
                    work += connection.listener.onReadable();
                }
            }
            return work;
        }

        @Override
        public boolean armForBlocking() {
            return connections.stream()
                    .allMatch(connection -> connection.incoming().isEmpty() || !connection.interested);
        }

        @Override
        public void disarm() {}

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                OPEN_ADAPTERS.decrementAndGet();
                failIn("close");
            }
        }
    }

    private final class LoopConnection implements ProtocolConnection, DynamicLink {
        private final LoopAdapter adapter;
        private final Pair pair;
        private final int end;
        private final ProcessIdentity peer;
        private volatile ConnectionListener listener;
        private volatile boolean interested = true;
        private volatile boolean closed;
        private int taken;

        LoopConnection(LoopAdapter adapter, Pair pair, int end, ProcessIdentity peer) {
            this.adapter = adapter;
            this.pair = pair;
            this.end = end;
            this.peer = peer;
            pair.ends[end] = this;
        }

        Queue<Packet> incoming() {
            return pair.queues[1 - end];
        }

        @Override
        public int send(long header, BufferGroup group, long trailer) {
            if (closed) {
                return LinkStatus.CLOSED;
            }
            byte[] payload = new byte[(int) group.remainingBytes()];
            group.drainTo(MemorySegment.ofArray(payload), 0, payload.length);
            pair.queues[end].add(new Packet(header, payload));
            if (trailer != 0) {
                pair.queues[end].add(new Packet(trailer, new byte[0]));
            }
            ring();
            return LinkStatus.COMPLETE;
        }

        private void ring() {
            LoopConnection other = pair.ends[1 - end];
            if (other != null) {
                other.adapter.context.reactor().wakeUp();
            }
        }

        @Override
        public TransmissionCapabilities capabilities() {
            return STREAM;
        }

        @Override
        public long front() {
            Packet packet = incoming().peek();
            return packet != null ? packet.header : closed ? LinkStatus.CLOSED : 0;
        }

        @Override
        public long receive(BufferGroup group, long maxBytes) {
            Packet packet = incoming().peek();
            long moved = group.fillFrom(MemorySegment.ofArray(packet.payload), taken, maxBytes);
            taken += (int) moved;
            return moved;
        }

        @Override
        public long skip(long maxBytes) {
            taken += (int) maxBytes;
            return maxBytes;
        }

        @Override
        public void release() {
            incoming().remove();
            taken = 0;
        }

        @Override
        public ProcessIdentity peer() {
            return peer;
        }

        @Override
        public boolean bidirectional() {
            return true;
        }

        @Override
        public List<TransmissionLink> links() {
            return List.of(this);
        }

        @Override
        public void start(ConnectionListener upward) {
            listener = upward;
        }

        @Override
        public void receiveInterest(boolean wanted) {
            interested = wanted;
        }

        @Override
        public void finish() {
            failIn("finish");
            LoopConnection other = pair.ends[1 - end];
            if (other != null && other.listener != null) {
                other.listener.onLost(LossKind.CONNECTION, true, "it left the session");
            }
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
