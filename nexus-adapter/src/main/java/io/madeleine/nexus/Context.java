package io.madeleine.nexus;

import io.madeleine.api.Channel;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
    private static final String[] ANY_METHOD = {};
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration GOODBYE_TIMEOUT = Duration.ofSeconds(1);

    private final Session session;
    private final ContextOptions options;
    private final Signal signal;
    private final Nodes nodes;
    private final Attaching attaching;
    private final Endpoints endpoints;
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

    private Context(List<Channel> channels, ContextOptions options) {
        this.session = channels.getFirst().session();
        this.options = options;
        this.signal = session.newSignal();
        this.failures = new Failures(session.rank());
        this.workers = new Workers(options, session.rank());
        this.nodes = new Nodes(this, channels);
        this.attaching = new Attaching(this);
        this.endpoints = new Endpoints(this);
        this.inbound = new Inbound(this);
        Endpoint system = endpoints.system();
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

    /** As {@link #open(List, ContextOptions, Consumer)}, on one channel. */
    public static Context open(Channel channel, ContextOptions options, Consumer<Context> setup) {
        return open(List.of(channel), options, setup);
    }

    /**
     * A context on one or several channels of a session, best first: each is a method to reach the others by.
     *
     * @param setup adds the endpoints that others expect to be there; requests are received from then on
     */
    public static Context open(List<Channel> channels, ContextOptions options, Consumer<Context> setup) {
        if (channels.stream().map(Channel::session).distinct().count() != 1) {
            throw new IllegalArgumentException(
                    channels.size() + " channels of different sessions: expected one or several of the same one");
        }
        Context context = new Context(channels, options);
        try {
            setup.accept(context);
        } catch (RuntimeException | Error e) {
            context.inbound.close();
            context.attaching.close();
            throw e;
        }
        channels.forEach(channel -> channel.onMessage(context.inbound));
        context.session.onPeerFailure(
                (rank, cause) -> context.nodes.get(rank).lostBySession(String.valueOf(cause.getMessage())));
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
        return endpoints.create();
    }

    /**
     * A new endpoint that {@link #startpoint(int, String)} finds by its name.
     *
     * @throws IllegalArgumentException if there is one of that name, or of another name with the same number
     */
    public Endpoint endpoint(String name) {
        return endpoints.create(name);
    }

    /**
     * A pointer to the endpoint of that name at a node; whether it is there, requests will show.
     *
     * @param node a rank of the session, or the number of a context of another session, as {@link Startpoint#rank} and
     *     {@link Request#remote} say it
     */
    public Startpoint startpoint(int node, String name) {
        if (node < 0) {
            throw new IllegalArgumentException("node " + node + ": expected 0 or more");
        }
        return new Startpoint(this, new int[] {nodes.get(node).number()}, new int[] {Endpoints.idOf(name)}, false);
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
        return endpoints.find(id);
    }

    void remove(Endpoint endpoint) {
        endpoints.remove(endpoint);
    }

    // ---- contexts of other sessions

    /**
     * Lets contexts of separately started programs attach to this one, on all network interfaces. They need the same {@code
     * madeleine.session.secret}; what is said is sealed.
     *
     * @param port the TCP port, or 0 for any
     * @throws io.madeleine.api.ConfigurationException if the session has no secret
     * @throws AttachException if the port is taken
     */
    public AttachPoint allowAttach(int port, Approver approver) {
        return attaching.allow(new InetSocketAddress(port), Hosts.ofThisMachine(), approver);
    }

    /**
     * As {@link #allowAttach(int, Approver)}, on one interface only.
     *
     * @param bind where to listen
     * @param hosts the names or addresses by which others reach this machine, best first; they travel in startpoints
     */
    public AttachPoint allowAttach(InetSocketAddress bind, List<String> hosts, Approver approver) {
        return attaching.allow(bind, hosts, approver);
    }

    /**
     * Attaches to a context of another program, within {@link ContextOptions#connectTimeout}.
     *
     * @param url {@code nexus://host:port} or {@code nexus://host:port/path}; see {@link AttachPoint#url}
     * @return the startpoint that the other's {@link Approver} gives
     * @throws AttachException if nobody is there, its secret is another one, or it refuses
     */
    public Startpoint attach(String url) {
        checkMayWait();
        return attaching.attach(url);
    }

    /** How a node may be reached, best first; see {@link Startpoint#methods}. */
    public List<MethodStatus> methodsOf(int node) {
        return node == rank()
                ? List.of(new MethodStatus("local", "", MethodStatus.State.IN_USE, "it is this process"))
                : nodes.get(node).methods();
    }

    // ---- requests

    @Nullable
    Way send(int node, int endpoint, int handler, Arguments arguments) {
        return send(node, endpoint, handler, arguments, ANY_METHOD);
    }

    /** Sends a request; the way it went, if it is known yet and there was one. */
    @Nullable
    Way send(int node, int endpoint, int handler, Arguments arguments, String[] methods) {
        if (node == session.rank()) {
            inbound.sendToSelf(endpoint, handler, arguments);
            return null;
        }
        Peer peer = nodes.get(node);
        if (inbound.isRunByCaller()) {
            return peer.sendNow(arguments, endpoint, handler, methods);
        }
        return methods.length == 0
                ? peer.send(arguments, endpoint, handler)
                : peer.send(arguments, endpoint, handler, methods);
    }

    /** Nothing waits to be sent that way any more. */
    void wayIsFree(Peer peer) {
        systemRequests.tellRefusals(peer);
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
    public void onRefusal(Refusal.Listener listener) {
        failures.listen(listener);
    }

    /** Adds a listener for requests of this process that were queued, so that nobody waited, and could not be sent. */
    public void onSendFailure(SendFailureListener listener) {
        failures.listen(listener);
    }

    /** How often {@linkplain #onSendFailure queued requests} could not be sent. */
    public long sendFailureCount() {
        return failures.sendFailureCount();
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

    Nodes nodes() {
        return nodes;
    }

    Attaching attaching() {
        return attaching;
    }

    SystemRequests systemRequests() {
        return systemRequests;
    }

    Session session() {
        return session;
    }

    boolean refusesRequests() {
        return refuses;
    }

    /** What went that way and has no answer yet will not get one. */
    void wayLost(Peer peer, Way way, String why) {
        calls.wayLost(way, why);
        if (way instanceof WanWay wan && wan.isAccepted()) {
            attaching.left();
        }
        if (!peer.isAtWork()) {
            servedCalls.peerGone(peer.number());
        }
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
        return nodes.awaitDrained(deadlineNs) && drained;
    }

    /** {@linkplain #drain Drains} for up to 5 s, and tells the others. The session stays open. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            drain(CLOSE_TIMEOUT);
            attaching.close();
            systemRequests.goodbye();
            nodes.awaitDrained(System.nanoTime() + GOODBYE_TIMEOUT.toNanos());
            calls.close("the context of this process has been closed");
            nodes.foreign().forEach(peer -> peer.leave("the context of this process has been closed"));
            inbound.close();
        }
    }
}
