package io.madeleine.nexus;

import io.madeleine.api.Channel;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import io.madeleine.nexus.wire.ArgumentMemory;
import io.madeleine.nexus.wire.Link;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The implementation behind a {@link Context}, for one-way requests: creates the parts that send and receive them; the
 * parts find each other through it. Typed calls and the wide area are built upon it ({@link NodeListener}).
 *
 * <p>Threading: thread-safe.
 */
final class Node {
    private static final String[] ANY_METHOD = {};
    private static final Duration GOODBYE_TIMEOUT = Duration.ofSeconds(1);

    /** The channels that a context of this JVM uses. */
    private static final Set<Channel> IN_USE =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    /** How many contexts each channel has had, the present one included; see {@link #generation()}. */
    private static final Map<Channel, Integer> GENERATIONS = Collections.synchronizedMap(new WeakHashMap<>());

    private final Context context;
    private final List<Channel> channels;
    private final Session session;
    private final ContextOptions options;
    private final Signal signal;
    private final ArgumentMemory argumentMemory;
    private final FailureReports failures;
    private final Workers workers;
    private final Nodes nodes;
    private final Losses losses;
    private final Endpoints endpoints;
    private final Grants grants;
    private final Inbound inbound;
    private final SystemRequests systemRequests;
    private final Barrier barrier;
    private final List<NodeListener> listeners = new CopyOnWriteArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final int generation;
    private volatile boolean refuses;

    /** Whether the context is closed completely: nothing is sent any more. */
    private volatile boolean over;

    /** @param routeSources for each peer, what makes further routes to it */
    Node(Context context, List<Channel> channels, ContextOptions options, Function<Peer, RouteSource> routeSources) {
        this.context = context;
        this.channels = List.copyOf(channels);
        this.session = channels.getFirst().session();
        this.options = options;
        this.generation = GENERATIONS.getOrDefault(channels.getFirst(), 0);
        this.signal = channels.getFirst().newSignal();
        this.argumentMemory = new ArgumentMemory(options.maxReceivedBytes());
        this.failures = new FailureReports(session.rank());
        this.workers = new Workers(options, session);
        this.nodes = new Nodes(this, channels, routeSources);
        this.losses = new Losses(nodes);
        this.endpoints = new Endpoints(context);
        this.inbound = new Inbound(this);
        Endpoint system = endpoints.system();
        this.systemRequests = new SystemRequests(this, system);
        this.grants = new Grants(this);
        this.barrier = new Barrier(this, system);
    }

    /** Adds a part that is built upon this node. Parts are told of events in the order in which they were added. */
    void add(NodeListener listener) {
        listeners.add(listener);
    }

    /** Reserves the channels for a context, until {@link #close} or {@link #giveUp}. */
    static void claim(List<Channel> channels) {
        for (int i = 0; i < channels.size(); i++) {
            Channel channel = channels.get(i);
            if (!IN_USE.add(channel)) {
                channels.subList(0, i).forEach(IN_USE::remove);
                throw new IllegalStateException("channel " + channel.name() + " of rank "
                        + channel.session().rank()
                        + " has a context already: use that one, close it first, or open this one on a channel of its"
                        + " own (madeleine.channels.NAME)");
            }
        }
        int latest = 0;
        for (Channel channel : channels) {
            latest = Math.max(latest, GENERATIONS.getOrDefault(channel, 0));
        }
        for (Channel channel : channels) {
            GENERATIONS.put(channel, latest + 1);
        }
    }

    /** Undoes {@link #claim} for channels without a node. */
    static void disclaim(List<Channel> channels) {
        // the other processes do not count a context that has failed here
        channels.forEach(channel -> GENERATIONS.computeIfPresent(channel, (_, generation) -> generation - 1));
        channels.forEach(IN_USE::remove);
    }

    /** Begins to receive requests. */
    void start() {
        channels.forEach(inbound::receiveFrom);
        session.onPeerFailure(losses);
    }

    /** Releases a context that has never been started. */
    void giveUp() {
        inbound.close();
        losses.forget();
        disclaim(channels);
    }

    /** Hears of lost peers. The session keeps it until it closes, so it must not keep a closed context. */
    private static final class Losses implements Session.PeerFailureListener {
        private volatile @Nullable Nodes nodes;

        Losses(Nodes nodes) {
            this.nodes = nodes;
        }

        @Override
        public void peerFailed(int rank, PeerFailedException cause) {
            Nodes concerned = nodes;
            if (concerned != null) {
                concerned.get(rank).lostBySession(String.valueOf(cause.getMessage()));
            }
        }

        void forget() {
            nodes = null;
        }
    }

    // ---- parts

    Context context() {
        return context;
    }

    Session session() {
        return session;
    }

    int rank() {
        return session.rank();
    }

    int size() {
        return session.size();
    }

    ContextOptions options() {
        return options;
    }

    /**
     * The number of this context among those that its channels have had, one after the other. It is the same in all
     * processes, which open their contexts in the same order.
     */
    int generation() {
        return generation;
    }

    Signal signal() {
        return signal;
    }

    ArgumentMemory argumentMemory() {
        return argumentMemory;
    }

    FailureReports failures() {
        return failures;
    }

    Workers workers() {
        return workers;
    }

    Nodes nodes() {
        return nodes;
    }

    Endpoints endpoints() {
        return endpoints;
    }

    Grants grants() {
        return grants;
    }

    /** The endpoint for the adapter's own requests. */
    Endpoint systemEndpoint() {
        return endpoints.system();
    }

    @Nullable
    Endpoint find(int endpoint) {
        return endpoints.find(endpoint);
    }

    Inbound inbound() {
        return inbound;
    }

    SystemRequests systemRequests() {
        return systemRequests;
    }

    Barrier barrier() {
        return barrier;
    }

    // ---- requests

    /** Sends one of the adapter's own requests, to the system endpoint. */
    @Nullable
    Route send(int node, int handler, Arguments arguments) {
        return send(node, Link.SYSTEM, handler, arguments, ANY_METHOD);
    }

    /**
     * Sends a request.
     *
     * @return the route that it took; null if it goes to this process, or if {@link PendingConnects} still has to
     *     connect
     */
    @Nullable
    Route send(int node, Link link, int handler, Arguments arguments, String[] methods) {
        if (over && !link.isSystem()) {
            throw new NexusException("the context of rank " + rank() + " is closed: nothing is sent any more");
        }
        if (node == session.rank()) {
            inbound.sendToSelf(link.endpoint(), handler, arguments);
            return null;
        }
        Peer peer = nodes.get(node);
        if (inbound.isRunByCaller()) {
            return peer.sendNow(arguments, link, handler, methods);
        }
        return methods.length == 0 ? peer.send(arguments, link, handler) : peer.send(arguments, link, handler, methods);
    }

    /**
     * Sends a short message that must not be lost to the system endpoint of another node. If the calling thread must
     * not wait and too many bytes are queued, another thread waits and sends.
     *
     * @throws io.madeleine.api.MadeleineException as {@link #send} does; {@link OverloadedException} only if the
     *     calling thread may wait
     */
    void tell(int node, int handler, Arguments arguments) {
        try {
            send(node, handler, arguments);
        } catch (OverloadedException e) {
            if (mayWait()) {
                throw e;
            }
            tellLater(node, handler, arguments);
        }
    }

    private void tellLater(int node, int handler, Arguments arguments) {
        Thread.startVirtualThread(() -> {
            try {
                send(node, handler, arguments);
            } catch (MadeleineException later) {
                failures.noticeNotSent(node, later);
            }
        });
    }

    /**
     * As {@link #tell}, for a thread that must not wait although {@link #mayWait} says it may, such as the JDK's timer
     * thread.
     */
    void tellWithoutWait(int node, int handler, Arguments arguments) {
        if (node == session.rank()) {
            send(node, handler, arguments);
        } else if (arguments.hasBulks()) { // sendNow would lend its memory beyond this call
            tellLater(node, handler, arguments);
        } else {
            try {
                nodes.get(node).sendNow(arguments, Link.SYSTEM, handler, ANY_METHOD);
            } catch (OverloadedException e) {
                tellLater(node, handler, arguments);
            }
        }
    }

    /** Called when a route to a peer has sent all that was queued. */
    void wayIsFree(Peer peer) {
        systemRequests.tellRefusals(peer);
    }

    /** Called when a route is lost: requests that took it and have no answer will not get one. */
    void routeLost(Peer peer, Route route, String why) {
        listeners.forEach(each -> each.routeLost(peer, route, why));
        signal.signal();
    }

    void messageDropped(Peer peer) {
        listeners.forEach(each -> each.messageDropped(peer));
    }

    void peerClosed(Peer peer) {
        listeners.forEach(each -> each.peerClosed(peer));
    }

    /** The route by which an answer of a node is expected; null if it is not known, or if the node is this process. */
    @Nullable
    Route routeTo(int node) {
        return node == session.rank() ? null : nodes.get(node).current();
    }

    boolean mayWait() {
        return !inbound.isRunByCaller();
    }

    void checkMayWait() {
        if (inbound.isRunByCaller()) {
            throw new IllegalStateException("a non-threaded handler must not wait: nothing would be received meanwhile;"
                    + " make it a threaded one");
        }
    }

    boolean await(BooleanSupplier condition, long timeout, TimeUnit unit) {
        checkMayWait();
        Request.beforeWait();
        return signal.await(condition, timeout, unit);
    }

    // ---- close

    boolean refusesRequests() {
        return refuses;
    }

    /** Whether the context is closed and makes no calls any more. */
    boolean isOver() {
        return over;
    }

    boolean drain(Duration timeout) {
        checkMayWait();
        refuses = true;
        long deadlineNs = System.nanoTime() + timeout.toNanos();
        boolean drained = signal.await(() -> workers.runningCount() == 0, timeout.toNanos(), TimeUnit.NANOSECONDS);
        return nodes.awaitDrained(deadlineNs) && drained;
    }

    void close() {
        checkMayWait();
        if (closed.compareAndSet(false, true)) {
            List<Runnable> steps = new ArrayList<>();
            steps.add(() -> drain(options.closeTimeout()));
            // from then on every call that has begun here has its answer
            listeners.forEach(each -> steps.add(each::closing));
            steps.add(() -> systemRequests.goodbye(System.nanoTime() + GOODBYE_TIMEOUT.toNanos()));
            steps.add(() -> nodes.awaitDrained(System.nanoTime() + GOODBYE_TIMEOUT.toNanos()));
            steps.add(() -> over = true);
            listeners.forEach(each -> steps.add(each::closed));
            steps.add(() -> nodes.foreign().forEach(peer -> peer.leave("the context of this process has been closed")));
            steps.add(inbound::close);
            steps.add(losses::forget);
            steps.add(() -> channels.forEach(IN_USE::remove));
            runAll(steps);
        }
    }

    /**
     * Runs all steps, even if some throw, and then throws the first exception. An interrupt ends the first step only:
     * the others wait for a short time at most.
     */
    @SuppressWarnings("IllegalCatch") // it is thrown at the end
    private static void runAll(List<Runnable> steps) {
        Throwable failure = null;
        boolean interrupted = false;
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (Throwable e) { // the thread is interrupted, for instance, or the session is closed
                failure = failure == null ? e : failure;
            }
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (failure != null) {
            throw Sneaky.asUnchecked(failure);
        }
    }
}
