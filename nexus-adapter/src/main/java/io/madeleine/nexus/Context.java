package io.madeleine.nexus;

import io.madeleine.api.Channel;
import io.madeleine.api.Session;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A process's place in the world of remote service requests: its endpoints, and its ways to all other contexts of the
 * session. A context takes all messages of one channel, which nobody else uses; all processes open theirs on the channel
 * of the same name.
 *
 * <p>Nodes have numbers: the processes of the session their ranks, contexts of other sessions those from {@link #size} on, in the
 * order in which they become known here. A method that is given a number which no node has throws {@link
 * IllegalArgumentException}.
 *
 * <p>Requests are received by whoever drives the session: a thread that waits in it, as in {@link #await}, else the
 * session's own. Non-threaded handlers run in that thread.
 *
 * <p>Threading: thread-safe.
 */
public final class Context implements AutoCloseable {
    private final Node node;

    private Context(List<Channel> channels, ContextOptions options) {
        this.node = new Node(this, channels, options);
    }

    /** A context on the session's channel {@code default}, with the default options and no endpoints yet. */
    public static Context open(Session session) {
        return open(session, _ -> {});
    }

    /** As {@link #open(Session)}; {@code setup} adds endpoints before the first request is received. */
    public static Context open(Session session, Consumer<Context> setup) {
        Objects.requireNonNull(session, "session");
        return open(session.channel(), ContextOptions.DEFAULT, setup);
    }

    /** As {@link #open(List, ContextOptions, Consumer)}, on one channel. */
    public static Context open(Channel channel, ContextOptions options, Consumer<Context> setup) {
        Objects.requireNonNull(channel, "channel");
        return open(List.of(channel), options, setup);
    }

    /**
     * A context on one or several channels of a session, best first: each is a method to reach the others by.
     *
     * @param setup adds the endpoints that others expect to be there; requests are received from then on
     * @throws IllegalStateException if one of the channels has a context already
     * @throws IllegalArgumentException if there is no channel, or they are of different sessions
     */
    public static Context open(List<Channel> channels, ContextOptions options, Consumer<Context> setup) {
        Objects.requireNonNull(channels, "channels");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(setup, "setup");
        if (channels.stream().map(Channel::session).distinct().count() != 1) {
            throw new IllegalArgumentException(
                    channels.size() + " channels of different sessions: expected one or several of the same one");
        }
        Node.claim(channels);
        Context context = new Context(channels, options);
        try {
            setup.accept(context);
        } catch (RuntimeException | Error e) {
            context.node.giveUp();
            throw e;
        }
        context.node.start();
        return context;
    }

    Node node() {
        return node;
    }

    /** The number of this process in the session. */
    public int rank() {
        return node.rank();
    }

    /** How many processes the session has, with this one. */
    public int size() {
        return node.size();
    }

    /** The options it was opened with. */
    public ContextOptions options() {
        return node.options();
    }

    // ---- endpoints

    /** A new endpoint, to which only its startpoints lead. */
    public Endpoint endpoint() {
        return node.endpoints().create();
    }

    /**
     * A new endpoint that {@link #startpoint(int, String)} finds by its name.
     *
     * @throws IllegalArgumentException if there is one of that name, or of another name with the same number
     */
    public Endpoint endpoint(String name) {
        Objects.requireNonNull(name, "name");
        return node.endpoints().create(name);
    }

    /**
     * A pointer to the endpoint of that name at a node; whether it is there, requests will show.
     *
     * @param node a rank of the session
     * @throws IllegalArgumentException if it is a context of another session: those grant their endpoints one by one, by the
     *     startpoints that they give ({@link #attach}, {@link Request#getStartpoint}), and none by its name
     */
    public Startpoint startpoint(int node, String name) {
        Objects.requireNonNull(name, "name");
        if (!this.node.nodes().isMember(this.node.nodes().get(node).number())) {
            throw new IllegalArgumentException("endpoint \"" + name + "\" of node " + node
                    + ", a context of another session: expected a rank of this one, 0 to " + (size() - 1)
                    + "; others grant their endpoints one by one, so take the startpoint that it has given"
                    + " (Context.attach, Request.getStartpoint, Startpoint.links)");
        }
        return new Startpoint(this, new int[] {node}, new Link[] {new Link(Endpoints.idOf(name))}, false);
    }

    /** How values of typed services travel; types of one's own are registered here. */
    public Codecs codecs() {
        return node.codecs();
    }

    /**
     * A new endpoint that serves a remote service, and is found by the service's name.
     *
     * @throws IllegalArgumentException if there is one already, or as {@link Endpoint#serve} does
     */
    public <S> Endpoint export(Class<S> type, S implementation) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(implementation, "implementation");
        return endpoint(ServiceMethod.nameOf(type)).serve(type, implementation);
    }

    /**
     * A proxy for the remote service that a process of the session {@linkplain #export exports}; whether it does, calls will
     * show.
     *
     * @throws IllegalArgumentException as {@link #startpoint(int, String)} and {@link Startpoint#service} do
     */
    public <S> S service(int node, Class<S> type) {
        Objects.requireNonNull(type, "type");
        return startpoint(node, ServiceMethod.nameOf(type)).service(type);
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
        Objects.requireNonNull(approver, "approver");
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port " + port + ": expected 1 to 65535, or 0 for any");
        }
        return node.attaching().allow(new InetSocketAddress(port), Hosts.ofThisMachine(), approver);
    }

    /**
     * As {@link #allowAttach(int, Approver)}, on one interface only.
     *
     * @param bind where to listen
     * @param hosts the names or addresses by which others reach this machine, best first; they travel in startpoints
     * @throws IllegalArgumentException if there is no host
     */
    public AttachPoint allowAttach(InetSocketAddress bind, List<String> hosts, Approver approver) {
        Objects.requireNonNull(bind, "bind");
        Objects.requireNonNull(hosts, "hosts");
        Objects.requireNonNull(approver, "approver");
        if (hosts.isEmpty()) {
            throw new IllegalArgumentException("no host: expected a name or address by which others reach " + bind);
        }
        return node.attaching().allow(bind, hosts, approver);
    }

    /**
     * Attaches to a context of another program, within {@link ContextOptions#connectTimeout}.
     *
     * @param url {@code nexus://host:port} or {@code nexus://host:port/path}; see {@link AttachPoint#url}
     * @return the startpoint that the other's {@link Approver} gives
     * @throws AttachException if nobody is there, its secret or its release is another one, or it refuses; says which
     * @throws IllegalArgumentException if the URL has another form
     * @throws io.madeleine.api.ConfigurationException if the session has no secret
     * @throws IllegalStateException if called by a non-threaded handler, which must not wait
     */
    public Startpoint attach(String url) {
        Objects.requireNonNull(url, "url");
        node.checkMayWait();
        return node.attaching().attach(url);
    }

    /** How a node may be reached, best first; see {@link Startpoint#methods}. */
    public List<MethodStatus> methodsOf(int node) {
        return node == rank()
                ? List.of(new MethodStatus("local", "", MethodStatus.State.IN_USE, "it is this process"))
                : this.node.nodes().get(node).methods();
    }

    // ---- requests

    /**
     * Waits until the condition, which handlers or other threads make true, is met; receives requests meanwhile.
     *
     * @throws IllegalStateException if called by a non-threaded handler, which must not wait
     * @throws io.madeleine.api.WaitInterruptedException if the thread is interrupted
     * @throws io.madeleine.api.SessionException if the session is closed
     */
    public void await(BooleanSupplier condition) {
        node.checkMayWait();
        node.signal().await(condition);
    }

    /** As {@link #await(BooleanSupplier)}, no longer than the given time; whether the condition was met. */
    public boolean await(BooleanSupplier condition, long timeout, TimeUnit unit) {
        return node.await(condition, timeout, unit);
    }

    /** How many typed calls of this process are unanswered. */
    public int outstandingCount() {
        return node.calls().outstandingCount();
    }

    /** Lets those who {@link #await} look again. Not needed after what a handler has changed. */
    public void signalWaiters() {
        node.signal().signal();
    }

    /**
     * Waits until the contexts of all processes of the session have come here, as often as it is called.
     *
     * @throws io.madeleine.api.DeadlineExceededException if they have not in time
     * @throws io.madeleine.api.PeerFailedException if one of them is gone
     */
    public void barrier(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        node.checkMayWait();
        node.barrier().pass(timeout);
    }

    // ---- faults and the end

    /** Adds a listener for what handlers here throw. */
    public void onHandlerFailure(HandlerFailureListener listener) {
        Objects.requireNonNull(listener, "listener");
        node.failures().listen(listener);
    }

    /** Adds a listener for requests of this process that others have refused. */
    public void onRefusal(Refusal.Listener listener) {
        Objects.requireNonNull(listener, "listener");
        node.failures().listen(listener);
    }

    /** Adds a listener for requests of this process that were queued, so that nobody waited, and could not be sent. */
    public void onSendFailure(SendFailureListener listener) {
        Objects.requireNonNull(listener, "listener");
        node.failures().listen(listener);
    }

    /** How often {@linkplain #onSendFailure queued requests} could not be sent. */
    public long sendFailureCount() {
        return node.failures().sendFailureCount();
    }

    /** How many requests here have ended with something thrown. */
    public long handlerFailureCount() {
        return node.failures().handlerFailureCount();
    }

    /** How many requests of this process others have said to have refused. */
    public long refusedCount() {
        return node.failures().refusedCount();
    }

    /** How many threaded requests and typed calls are being carried out here, with those whose future or stream is not over. */
    public int runningCount() {
        return node.workers().runningCount();
    }

    /**
     * Refuses requests from now on, and waits until those that are being carried out have ended, the futures and streams they
     * have returned among them, and what they have sent is on its way. A handler that calls this waits in vain, for itself.
     *
     * @return whether that was so in time
     * @throws IllegalStateException if called by a non-threaded handler, which must not wait
     */
    public boolean drain(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return node.drain(timeout);
    }

    /**
     * {@linkplain #drain Drains} for up to {@link ContextOptions#closeTimeout}, interrupts and cancels what is left, answers all
     * calls that have been begun, tells the others, and fails the calls of this process that are unanswered. Others' calls that
     * have no answer by then have not been carried out, and end with an {@link UnavailableException} there. The session stays
     * open. Idempotent.
     *
     * @throws IllegalStateException if called by a non-threaded handler, which must not wait
     */
    @Override
    public void close() {
        node.close();
    }
}
