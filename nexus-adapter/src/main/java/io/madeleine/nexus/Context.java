package io.madeleine.nexus;

import io.madeleine.api.Channel;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A process's place in the world of remote service requests: its endpoints, and its ways to all other contexts of the
 * session. A context takes all messages of one channel, which nobody else uses; all processes open theirs on the channel
 * of the same name.
 *
 * <p>Requests are received by whoever drives the session: a thread that waits in it, as in {@link #await}, else the
 * session's own. Non-threaded handlers run in that thread.
 *
 * <p>Threading: thread-safe.
 */
public final class Context implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final Session session;
    private final ContextOptions options;
    private final Signal signal;
    private final Peer[] peers;
    private final Endpoint system;
    private final IntTable<Endpoint> endpoints = new IntTable<>();
    private final AtomicInteger lastEndpoint = new AtomicInteger(Wire.SYSTEM_ENDPOINT);
    private final Failures failures;
    private final Workers workers;
    private final Inbound inbound;
    private final SystemRequests systemRequests;
    private final Barrier barrier;
    private final Codecs codecs = new Codecs();
    private final Calls calls;
    private final ServedCalls servedCalls;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean refuses;

    /** Why a request was not carried out. */
    public enum Reason {
        /** The endpoint is unknown there, or has been closed. */
        NO_SUCH_ENDPOINT,
        /** The endpoint has no handler of that name. */
        NO_SUCH_HANDLER,
        /** As many threaded requests as {@link ContextOptions#maxRunning} allows are being carried out. */
        OVERLOADED,
        /** The context is being closed. */
        CLOSING
    }

    /**
     * Requests of this process that another one has not carried out.
     *
     * @param rank who refused
     * @param endpoint the number of the endpoint
     * @param handler the number of the handler's name
     * @param reason why
     * @param count how many, since the last notice of this kind
     */
    public record Refusal(int rank, int endpoint, int handler, Reason reason, long count) {
        @Override
        public String toString() {
            return "rank " + rank + " refused " + count + " requests to endpoint #" + endpoint + ", handler #" + handler
                    + ": " + reason;
        }
    }

    /** Told of what handlers of this context throw. */
    @FunctionalInterface
    public interface HandlerFailureListener {
        /** A handler has failed; from the thread that ran it, and soon to return. */
        void handlerFailed(Endpoint endpoint, String handler, int sender, Throwable cause);
    }

    /** Told of requests that were refused elsewhere. */
    @FunctionalInterface
    public interface RefusalListener {
        /** Called from the receiving thread; must not wait. */
        void refused(Refusal refusal);
    }

    private Context(Channel channel, ContextOptions options) {
        this.session = channel.session();
        this.options = options;
        this.signal = session.newSignal();
        this.failures = new Failures(session.rank());
        this.workers = new Workers(options, session.rank());
        this.peers = new Peer[session.size()];
        for (int rank = 0; rank < peers.length; rank++) {
            peers[rank] = new Peer(this, channel, rank, signal);
        }
        this.system = new Endpoint(this, Wire.SYSTEM_ENDPOINT, "nexus");
        endpoints.putIfAbsent(Wire.SYSTEM_ENDPOINT, system);
        this.inbound = new Inbound(this);
        this.systemRequests = new SystemRequests(this, system);
        this.barrier = new Barrier(this, system);
        this.calls = new Calls(this, system);
        this.servedCalls = new ServedCalls(this, system);
    }

    /** A context on the session's channel {@code default}, with the default options and no endpoints yet. */
    public static Context open(Session session) {
        return open(session, _ -> {});
    }

    /** As {@link #open(Session)}; {@code setup} adds endpoints before the first request is received. */
    public static Context open(Session session, Consumer<Context> setup) {
        return open(session.channel(), ContextOptions.DEFAULT, setup);
    }

    /**
     * A context on a channel.
     *
     * @param setup adds the endpoints that others expect to be there; requests are received from then on
     */
    public static Context open(Channel channel, ContextOptions options, Consumer<Context> setup) {
        Context context = new Context(channel, options);
        try {
            setup.accept(context);
        } catch (RuntimeException | Error e) {
            context.inbound.close();
            throw e;
        }
        channel.onMessage(context.inbound);
        context.session.onPeerFailure((rank, cause) -> context.peerGone(rank, String.valueOf(cause.getMessage())));
        return context;
    }

    /** The number of this process in the session. */
    public int rank() {
        return session.rank();
    }

    /** How many contexts there are. */
    public int size() {
        return session.size();
    }

    /** The options it was opened with. */
    public ContextOptions options() {
        return options;
    }

    // ---- endpoints

    /** A new endpoint, to which only its startpoints lead. */
    public Endpoint endpoint() {
        while (true) {
            int id = lastEndpoint.incrementAndGet() & Integer.MAX_VALUE;
            Endpoint created = new Endpoint(this, id, null);
            if (id != Wire.SYSTEM_ENDPOINT && endpoints.putIfAbsent(id, created)) {
                return created;
            }
        }
    }

    /**
     * A new endpoint that {@link #startpoint(int, String)} finds by its name.
     *
     * @throws IllegalArgumentException if there is one of that name, or of another name with the same number
     */
    public Endpoint endpoint(String name) {
        int id = namedId(name);
        Endpoint created = new Endpoint(this, id, name);
        if (!endpoints.putIfAbsent(id, created)) {
            throw new IllegalArgumentException(find(id) + " exists already, with the number that \"" + name
                    + "\" would have: choose another name");
        }
        return created;
    }

    private static int namedId(String name) {
        return Wire.id(name) | Integer.MIN_VALUE;
    }

    /** A pointer to the endpoint of that name in the process of rank {@code rank}; whether it is there, requests will show. */
    public Startpoint startpoint(int rank, String name) {
        if (rank < 0 || rank >= size()) {
            throw new IllegalArgumentException("rank " + rank + ": expected 0 to " + (size() - 1));
        }
        return new Startpoint(this, new int[] {rank}, new int[] {namedId(name)}, true);
    }

    /** How values of typed services travel; types of one's own are registered here. */
    public Codecs codecs() {
        return codecs;
    }

    /** A new endpoint that serves a remote service, and is found by the service's name. */
    public <S> Endpoint export(Class<S> type, S implementation) {
        return endpoint(ServiceMethod.nameOf(type)).serve(type, implementation);
    }

    /** A proxy for the remote service that the process of rank {@code rank} exports. */
    public <S> S service(int rank, Class<S> type) {
        return startpoint(rank, ServiceMethod.nameOf(type)).service(type);
    }

    <S> S proxy(Startpoint startpoint, Class<S> type) {
        return Proxies.proxy(this, calls, startpoint, type);
    }

    @Nullable
    Endpoint find(int id) {
        return endpoints.get(id);
    }

    void remove(Endpoint endpoint) {
        if (endpoint != system) {
            endpoints.remove(endpoint.id());
        }
    }

    // ---- requests

    void send(int rank, int endpoint, int handler, Arguments arguments) {
        if (rank == session.rank()) {
            sendToSelf(endpoint, handler, arguments);
        } else if (inbound.isRunByCaller()) {
            peers[rank].sendNow(arguments, endpoint, handler);
        } else {
            peers[rank].send(arguments, endpoint, handler);
        }
    }

    private void sendToSelf(int endpointId, int handlerId, Arguments arguments) {
        Endpoint endpoint = find(endpointId);
        Endpoint.Entry entry = endpoint == null ? null : endpoint.entry(handlerId);
        Request local = Request.local(this, arguments);
        if (endpoint == null || entry == null) {
            Reason reason = endpoint == null ? Reason.NO_SUCH_ENDPOINT : Reason.NO_SUCH_HANDLER;
            failures.refused(new Refusal(rank(), endpointId, handlerId, reason, 1));
        } else if (entry.threading() == Endpoint.Threading.NON_THREADED) {
            inbound.runLocally(endpoint, entry, local);
        } else {
            inbound.hand(endpoint, entry, local, endpointId, handlerId);
        }
    }

    /** Nothing waits to be sent to this peer any more. */
    void wayIsFree(int rank) {
        systemRequests.tellRefusals(rank);
    }

    /** Tells a peer that a request of it was not carried out, soon. */
    void refuse(int rank, Refusals.Kind kind) {
        if (rank == rank()) {
            failures.refused(new Refusal(rank, kind.endpoint(), kind.handler(), kind.reason(), 1));
        } else {
            systemRequests.refuse(rank, kind);
        }
    }

    /**
     * Waits until the condition, which handlers or other threads make true, is met; receives requests meanwhile.
     *
     * @throws IllegalStateException if called by a non-threaded handler, which must not wait
     */
    public void await(BooleanSupplier condition) {
        checkMayWait();
        signal.await(condition);
    }

    /** As {@link #await(BooleanSupplier)}, no longer than the given time; whether the condition was met. */
    public boolean await(BooleanSupplier condition, long timeout, TimeUnit unit) {
        checkMayWait();
        return signal.await(condition, timeout, unit);
    }

    /** Waits for so long, receiving meanwhile. */
    void awaitNs(long pauseNs) {
        boolean _ = await(() -> false, pauseNs, TimeUnit.NANOSECONDS);
    }

    /** How many typed calls of this process are unanswered. */
    public int outstandingCount() {
        return calls.outstandingCount();
    }

    void checkMayWait() {
        if (inbound.isRunByCaller()) {
            throw new IllegalStateException("a non-threaded handler must not wait: nothing would be received meanwhile;"
                    + " make it a threaded one");
        }
    }

    boolean mayWait() {
        return !inbound.isRunByCaller();
    }

    /** Lets those who {@link #await} look again. Not needed after what a handler has changed. */
    public void signalWaiters() {
        signal.signal();
    }

    /**
     * Waits until all contexts have come here, as often as it is called.
     *
     * @throws io.madeleine.api.DeadlineExceededException if they have not in time
     * @throws io.madeleine.api.PeerFailedException if one of them is gone
     */
    public void barrier(Duration timeout) {
        checkMayWait();
        barrier.pass(timeout);
    }

    // ---- faults and the end

    /** Adds a listener for what handlers here throw. */
    public void onHandlerFailure(HandlerFailureListener listener) {
        failures.listen(listener);
    }

    /** Adds a listener for requests of this process that others have refused. */
    public void onRefusal(RefusalListener listener) {
        failures.listen(listener);
    }

    /** How many requests here have ended with something thrown. */
    public long handlerFailureCount() {
        return failures.handlerFailureCount();
    }

    /** How many requests of this process others have said to have refused. */
    public long refusedCount() {
        return failures.refusedCount();
    }

    /** How many threaded requests are being carried out here. */
    public int runningCount() {
        return workers.runningCount();
    }

    Failures failures() {
        return failures;
    }

    Workers workers() {
        return workers;
    }

    Signal signal() {
        return signal;
    }

    Inbound inbound() {
        return inbound;
    }

    Peer peer(int rank) {
        return peers[rank];
    }

    Session session() {
        return session;
    }

    boolean refusesRequests() {
        return refuses;
    }

    void peerGone(int rank, String why) {
        peers[rank].goneBecause(why);
        calls.peerGone(rank, why);
        servedCalls.peerGone(rank);
        signal.signal();
    }

    /**
     * Refuses requests from now on, and waits until those that are being carried out have ended and what they have sent
     * is on its way.
     *
     * @return whether that was so in time
     */
    public boolean drain(Duration timeout) {
        checkMayWait();
        refuses = true;
        long deadlineNs = System.nanoTime() + timeout.toNanos();
        boolean drained = signal.await(() -> workers.runningCount() == 0, timeout.toNanos(), TimeUnit.NANOSECONDS);
        for (Peer peer : peers) {
            drained &= peer.awaitDrained(Math.max(0, deadlineNs - System.nanoTime()));
        }
        return drained;
    }

    /** {@linkplain #drain Drains} for up to 5 s, and tells the others. The session stays open. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            drain(CLOSE_TIMEOUT);
            systemRequests.goodbye();
            for (int rank = 0; rank < peers.length; rank++) {
                calls.peerGone(rank, "the context of this process has been closed");
            }
            inbound.close();
        }
    }
}
