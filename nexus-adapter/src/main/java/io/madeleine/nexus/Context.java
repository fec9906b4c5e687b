package io.madeleine.nexus;

import io.madeleine.api.Channel;
import io.madeleine.api.Session;
import io.madeleine.nexus.wan.Hosts;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.RequestLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The entry point of a process to remote service requests: its endpoints, and its connections to all other contexts of
 * the session. A context receives all messages of its channels, which nothing else may use. All processes open their
 * contexts on channels of the same names.
 *
 * <p>When a context is closed, another one may be opened on its channels: the n-th contexts of a channel in all
 * processes belong together. The later one hears nothing of the end of the earlier ones, and may make requests at once:
 * those to a process that has not closed its earlier context, or not opened the next one, wait until it has, a call or
 * barrier until its deadline. On a channel by which the earlier context has not said goodbye, since it had several, a
 * request may still meet that one, which refuses it.
 *
 * <p>Two contexts at the same time need a channel of their own each, for instance by {@code
 * madeleine.channels.NAME.network = auto}.
 *
 * <p>Contexts are addressed by node numbers. A process of the session has its rank as its number; contexts of other
 * sessions get the numbers from {@link #size} on, in the order in which this context learns of them. A method that
 * takes a node number throws {@link IllegalArgumentException} if no node has it.
 *
 * <p>The thread that drives the session receives requests: a thread that waits in a call of the library, for instance
 * in {@link #await}, or else the session's own thread. Non-threaded handlers run in that thread.
 *
 * <p>Threading: thread-safe.
 */
public final class Context implements AutoCloseable {
    private final Node node;
    private final Codecs codecs;
    private final ServiceMethods serviceMethods;
    private final Calls calls;
    private final Attaching attaching;

    private Context(List<Channel> channels, ContextOptions options) {
        this.codecs = new Codecs(options.maxDepth());
        this.serviceMethods = new ServiceMethods(codecs, options.callTimeoutNs());
        this.node = new Node(
                this,
                channels,
                options,
                peer -> new WanRoutes(peer, (to, address) -> attaching().connect(to, address)));
        this.calls = new Calls(node);
        InboundCalls _ = new InboundCalls(node);
        this.attaching = new Attaching(node);
    }

    /** Opens a context on the session's channel {@code default}, with the default options and no endpoints. */
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
     * Opens a context on one or several channels of a session. Each channel is a communication method to reach the
     * other contexts; list the preferred one first.
     *
     * @param setup adds the endpoints that other contexts expect; requests are received once it has returned
     * @throws IllegalStateException if one of the channels already has a context
     * @throws IllegalArgumentException if the list is empty or its channels belong to different sessions
     */
    public static Context open(List<Channel> channels, ContextOptions options, Consumer<Context> setup) {
        Objects.requireNonNull(channels, "channels");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(setup, "setup");
        if (channels.stream().map(Channel::session).distinct().count() != 1) {
            throw new IllegalArgumentException(
                    channels.size() + " channels of different sessions: expected one or several of the same one");
        }
        ScopedValueSearch.ensureMade();
        Node.claim(channels);
        Context context = null;
        try {
            context = new Context(channels, options);
            setup.accept(context);
            context.node.start();
            return context;
        } catch (Throwable e) {
            if (context == null) {
                Node.disclaim(channels);
            } else {
                context.attaching.closing();
                context.node.giveUp();
            }
            throw e;
        }
    }

    Node node() {
        return node;
    }

    ServiceMethods serviceMethods() {
        return serviceMethods;
    }

    Calls calls() {
        return calls;
    }

    Attaching attaching() {
        return attaching;
    }

    /** The rank of this process in the session. */
    public int rank() {
        return node.rank();
    }

    /** The number of processes of the session, this one included. */
    public int size() {
        return node.size();
    }

    /** The options that the context was opened with. */
    public ContextOptions options() {
        return node.options();
    }

    // ---- endpoints

    /** Creates an endpoint without a name: only its startpoints lead to it. */
    public Endpoint endpoint() {
        return node.endpoints().create();
    }

    /**
     * Creates an endpoint that {@link #startpoint(int, String)} finds by its name.
     *
     * @throws IllegalArgumentException if an endpoint has this name already, or a name with the same hash code
     */
    public Endpoint endpoint(String name) {
        Objects.requireNonNull(name, "name");
        return node.endpoints().create(name);
    }

    /**
     * Returns a pointer to the endpoint of that name at a node. It does not check that the endpoint exists; requests to
     * a missing endpoint are refused.
     *
     * @param node a rank of the session
     * @throws IllegalArgumentException if the node is a context of another session: such a context grants its endpoints
     *     one by one, by the startpoints that it gives ({@link #attach}, {@link Request#getStartpoint}), and none by
     *     its name
     */
    public Startpoint startpoint(int node, String name) {
        Objects.requireNonNull(name, "name");
        if (!this.node.nodes().isMember(this.node.nodes().get(node).number())) {
            throw new IllegalArgumentException("endpoint \"" + name + "\" of node " + node
                    + ", a context of another session, cannot be reached by its name: expected a rank of this"
                    + " session, 0 to " + (size() - 1) + "; for other nodes take the startpoint that it has given"
                    + " (Context.attach, Request.getStartpoint, Startpoint.links)");
        }
        return new Startpoint(this, new int[] {node}, new Link[] {new Link(RequestLayout.endpointId(name))}, false);
    }

    /** The codecs that write and read the values of typed services; register codecs for your own types here. */
    public Codecs codecs() {
        return codecs;
    }

    /**
     * Creates an endpoint that serves a remote service, and that is found by the service's name.
     *
     * @throws IllegalArgumentException if an endpoint has that name already, or as {@link Endpoint#serve} does
     */
    public <S> Endpoint export(Class<S> type, S implementation) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(implementation, "implementation");
        return endpoint(ServiceMethod.nameOf(type)).serve(type, implementation);
    }

    /**
     * Returns a proxy for the remote service that a process of the session {@linkplain #export exports}. It does not
     * check that the process exports the service; calls fail if it does not.
     *
     * @throws IllegalArgumentException as {@link #startpoint(int, String)} and {@link Startpoint#service} do
     */
    public <S> S service(int node, Class<S> type) {
        Objects.requireNonNull(type, "type");
        return startpoint(node, ServiceMethod.nameOf(type)).service(type);
    }

    // ---- contexts of other sessions

    /**
     * Lets contexts of separately started programs attach to this one, on all network interfaces. Both need the same
     * {@code madeleine.session.secret}; the connection is encrypted.
     *
     * @param port the TCP port, or 0 for any free port
     * @throws io.madeleine.api.ConfigurationException if the session has no secret
     * @throws AttachException if the port is in use
     */
    public AttachPoint allowAttach(int port, Approver approver) {
        Objects.requireNonNull(approver, "approver");
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port " + port + ": expected 1 to 65535, or 0 for any");
        }
        return attaching.allow(new InetSocketAddress(port), Hosts.ofThisMachine(), approver);
    }

    /**
     * As {@link #allowAttach(int, Approver)}, on one interface only.
     *
     * @param bind the address to listen on
     * @param hosts the names or addresses by which other machines reach this one, best first; startpoints carry them
     * @throws IllegalArgumentException if {@code hosts} is empty
     */
    public AttachPoint allowAttach(InetSocketAddress bind, List<String> hosts, Approver approver) {
        Objects.requireNonNull(bind, "bind");
        Objects.requireNonNull(hosts, "hosts");
        Objects.requireNonNull(approver, "approver");
        if (hosts.isEmpty()) {
            throw new IllegalArgumentException("no host: expected a name or address by which others reach " + bind);
        }
        return attaching.allow(bind, hosts, approver);
    }

    /**
     * Attaches to a context of another program, within {@link ContextOptions#connectTimeout}.
     *
     * @param url {@code nexus://host:port} or {@code nexus://host:port/path}, with a path of less than 1 KiB; see
     *     {@link AttachPoint#url}
     * @return the startpoint that the other context's {@link Approver} gives
     * @throws AttachException if nothing listens there, the secret or the release differs, or the approver refuses; the
     *     message says which
     * @throws IllegalArgumentException if the URL has another form
     * @throws io.madeleine.api.ConfigurationException if the session has no secret
     * @throws io.madeleine.api.WaitInterruptedException if the thread is interrupted
     * @throws IllegalStateException if a non-threaded handler calls it, which must not wait
     */
    public Startpoint attach(String url) {
        Objects.requireNonNull(url, "url");
        node.checkMayWait();
        return attaching.attach(url);
    }

    /** The communication methods by which a node can be reached, best first; see {@link Startpoint#methods}. */
    public List<MethodStatus> methodsOf(int node) {
        return node == rank()
                ? List.of(new MethodStatus("local", "", MethodStatus.State.IN_USE, "it is this process"))
                : this.node.nodes().get(node).methods();
    }

    // ---- requests

    /**
     * Waits until the condition, which handlers or other threads make true, holds; receives requests meanwhile.
     *
     * @throws IllegalStateException if a non-threaded handler calls it, which must not wait
     * @throws io.madeleine.api.WaitInterruptedException if the thread is interrupted
     * @throws io.madeleine.api.SessionException if the session is closed
     */
    public void await(BooleanSupplier condition) {
        node.checkMayWait();
        node.signal().await(condition);
    }

    /** As {@link #await(BooleanSupplier)}, for at most the given time; returns whether the condition holds. */
    public boolean await(BooleanSupplier condition, long timeout, TimeUnit unit) {
        return node.await(condition, timeout, unit);
    }

    /** The number of typed calls of this process that are unanswered. */
    public int outstandingCount() {
        return calls.outstandingCount();
    }

    /** Makes threads in {@link #await} test their conditions again. Not needed after a change that a handler makes. */
    public void signalWaiters() {
        node.signal().signal();
    }

    /**
     * Waits until the contexts of all processes of the session have called this method as often as this one has. A call
     * that ends by its timeout or an interrupt counts, too; the next one waits for all again.
     *
     * @throws io.madeleine.api.DeadlineExceededException if they have not within the timeout
     * @throws io.madeleine.api.WaitInterruptedException if the thread is interrupted
     * @throws io.madeleine.api.PeerFailedException if one of them is gone
     */
    public void barrier(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        node.checkMayWait();
        node.barrier().pass(timeout);
    }

    // ---- failures and close

    /** Adds a listener for exceptions that handlers of this context throw. */
    public void onHandlerFailure(HandlerFailureListener listener) {
        Objects.requireNonNull(listener, "listener");
        node.failures().listen(listener);
    }

    /** Adds a listener for requests of this process that other contexts have refused. */
    public void onRefusal(Refusal.Listener listener) {
        Objects.requireNonNull(listener, "listener");
        node.failures().listen(listener);
    }

    /** Adds a listener for requests of this process that were queued and then could not be sent. */
    public void onSendFailure(SendFailureListener listener) {
        Objects.requireNonNull(listener, "listener");
        node.failures().listen(listener);
    }

    /** The number of {@linkplain #onSendFailure queued requests} that could not be sent. */
    public long sendFailureCount() {
        return node.failures().sendFailureCount();
    }

    /** The number of requests whose handler here has thrown an exception. */
    public long handlerFailureCount() {
        return node.failures().handlerFailureCount();
    }

    /** The number of requests of this process that other contexts have reported as refused. */
    public long refusedCount() {
        return node.failures().refusedCount();
    }

    /**
     * The number of threaded requests and typed calls that run here; a call runs until its future or stream has ended.
     */
    public int runningCount() {
        return node.workers().runningCount();
    }

    /**
     * Refuses new requests, and waits until all running ones have ended, including the futures and streams that they
     * have returned, and until the messages that they have sent are on their way. A handler that calls this waits for
     * itself, and so until the timeout.
     *
     * @return whether all have ended within the timeout
     * @throws IllegalStateException if a non-threaded handler calls it, which must not wait
     */
    public boolean drain(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return node.drain(timeout);
    }

    /**
     * {@linkplain #drain Drains} for up to {@link ContextOptions#closeTimeout}, interrupts and cancels the calls that
     * still run, answers all calls that have begun, notifies the other contexts, and fails the unanswered calls of this
     * process. Calls of other contexts that have no answer by then were never executed, and end with an {@link
     * UnavailableException} there. The session stays open. Idempotent.
     *
     * @throws IllegalStateException if a non-threaded handler calls it, which must not wait
     */
    @Override
    public void close() {
        node.close();
    }
}
