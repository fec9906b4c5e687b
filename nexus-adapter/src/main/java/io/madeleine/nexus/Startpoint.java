package io.madeleine.nexus;

import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.NodeId;
import io.madeleine.nexus.wire.RequestLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A global pointer to one or several endpoints, in this or other processes: a remote service request on it goes to each
 * of them. A startpoint can be put into the arguments of a request, and works in the process that takes it out. Two
 * startpoints are equal if they point to the same endpoints in the same order.
 *
 * <p>Threading: immutable.
 */
public final class Startpoint {
    private static final int LIGHTWEIGHT = 1 << 31;

    /** Flag of a lightweight startpoint: it carries the grants that contexts of other sessions need to call. */
    private static final int LIGHT_GRANTED = 1 << 30;

    private static final int MAX_LINKS = 1 << 16;

    private static final byte OF_SENDERS_SESSION = 1;
    private static final byte ELSEWHERE = 2;
    private static final byte GRANTED = 4;
    private static final String[] ANY = {};

    private final Context context;
    private final int[] ranks;
    private final Link[] links;
    private final boolean lightweight;

    /** The communication methods to use, best first; if empty, all methods of the node. */
    private final String[] methods;

    Startpoint(Context context, int[] ranks, Link[] links, boolean lightweight) {
        this(context, ranks, links, lightweight, ANY);
    }

    private Startpoint(Context context, int[] ranks, Link[] links, boolean lightweight, String[] methods) {
        this.methods = methods;
        this.context = context;
        this.ranks = ranks;
        this.links = links;
        this.lightweight = lightweight;
    }

    /**
     * Combines the given startpoints into one pointer to all their endpoints. It takes its choice of communication
     * methods from the first.
     *
     * @throws IllegalArgumentException if they are bound to different contexts of this process
     */
    public static Startpoint toAll(Startpoint first, Startpoint... others) {
        Objects.requireNonNull(first, "first");
        Objects.requireNonNull(others, "others");
        int[] ranks = first.ranks;
        Link[] links = first.links;
        boolean light = first.lightweight;
        for (Startpoint other : others) {
            if (other.context != first.context) {
                throw new IllegalArgumentException(other + " is bound to another context than " + first
                        + ": expected startpoints of one context, through which requests go");
            }
            int known = ranks.length;
            ranks = Arrays.copyOf(ranks, known + other.ranks.length);
            links = Arrays.copyOf(links, ranks.length);
            System.arraycopy(other.ranks, 0, ranks, known, other.ranks.length);
            System.arraycopy(other.links, 0, links, known, other.links.length);
            light &= other.lightweight;
        }
        return new Startpoint(first.context, ranks, links, light, first.methods);
    }

    /** Splits this startpoint into one pointer per endpoint, in order. */
    public List<Startpoint> links() {
        return IntStream.range(0, ranks.length)
                .mapToObj(
                        i -> new Startpoint(context, new int[] {ranks[i]}, new Link[] {links[i]}, lightweight, methods))
                .toList();
    }

    /**
     * Sends a request to run the handler of that name at every endpoint. Does not wait for the handler and gets no
     * result; {@link Context#onRefusal} reports refusals. Waits until the arguments may be changed, unless a
     * non-threaded handler calls it. Requests of one thread to one node arrive in order while they take the same
     * communication method.
     *
     * <p>Ownership: the arguments stay the caller's; {@link Arguments} says for how long large ones are lent.
     *
     * @throws io.madeleine.api.PeerFailedException if a node is gone or no communication method works; the message
     *     lists the methods tried. The other endpoints have got the request
     * @throws OverloadedException if a non-threaded handler calls it and too many bytes are queued already
     * @throws NexusException if this context is closed
     * @throws io.madeleine.api.MessageAbortedException if the memory of a large argument is closed while a channel
     *     sends it
     * @throws io.madeleine.api.WaitInterruptedException if the thread is interrupted while it waits
     */
    public void rsr(String handler, Arguments arguments) {
        Objects.requireNonNull(handler, "handler");
        rsr(RequestLayout.id(handler), arguments);
    }

    /** As {@link #rsr(String, Arguments)}, with the handler's number: the {@link String#hashCode} of its name. */
    public void rsr(int handler, Arguments arguments) {
        Objects.requireNonNull(arguments, "arguments");
        if (ranks.length == 1) {
            context.node().send(ranks[0], links[0], handler, arguments, methods);
            return;
        }
        RuntimeException failure = null;
        for (int i = 0; i < ranks.length; i++) {
            try {
                context.node().send(ranks[i], links[i], handler, arguments, methods);
            } catch (RuntimeException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** The context that sends the requests. */
    public Context context() {
        return context;
    }

    /** The number of endpoints it points to. */
    public int linkCount() {
        return ranks.length;
    }

    /**
     * The nodes it points to, in order: ranks of the session, or, from {@link Context#size} on, numbers of contexts of
     * other sessions.
     */
    public List<Integer> ranks() {
        return IntStream.of(ranks).boxed().toList();
    }

    /** The node it points to; the first, if there are several. See {@link #ranks}. */
    public int rank() {
        return ranks[0];
    }

    /**
     * Returns a proxy for the remote service at this endpoint. Calls go to the first endpoint. Calls of idempotent
     * methods go to the next endpoint if the process of the first is gone.
     *
     * @param type an interface with {@link RemoteService}, whose documentation says what calls throw
     * @throws IllegalArgumentException if the interface lacks the annotation or has a method that cannot be called
     *     remotely; the message says which and why
     */
    public <S> S service(Class<S> type) {
        return service(type, List.of());
    }

    /** As {@link #service(Class)}, with interceptors around the calls of this proxy, inside those of the context. */
    public <S> S service(Class<S> type, List<ClientInterceptor> interceptors) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(interceptors, "interceptors");
        return Proxies.proxy(context, this, type, interceptors);
    }

    Calls.Target[] targets() {
        Calls.Target[] targets = new Calls.Target[ranks.length];
        for (int i = 0; i < targets.length; i++) {
            targets[i] = new Calls.Target(ranks[i], links[i], methods);
        }
        return targets;
    }

    int endpointId() {
        return links[0].endpoint();
    }

    /** Whether all endpoints are in this process. */
    public boolean isLocal() {
        return IntStream.of(ranks).allMatch(rank -> rank == context.rank());
    }

    /** The endpoint itself, if this points to exactly one endpoint, of this process, that is not closed; else empty. */
    public Optional<Endpoint> toLocal() {
        return ranks.length == 1 && isLocal()
                ? Optional.ofNullable(context.node().find(links[0].endpoint()))
                : Optional.empty();
    }

    /**
     * The same pointer without its table of communication methods, which saves some bytes per method. Use it for
     * receivers in the same session, which know these methods, and for contexts that are attached to the very process
     * it points to.
     */
    public Startpoint lightweight() {
        return new Startpoint(context, ranks, links, true, methods);
    }

    // ---- methods

    /**
     * The same pointer, restricted to the given communication methods: each request takes the first of them that works.
     *
     * @param wanted best first: {@code mad} (any channel), {@code mad/sci}, {@code mad/tcp} ... (a channel over that
     *     network), {@code mad:NAME} (a channel), {@code wan} (any wide-area connection) or the address of one, as
     *     {@link #methods} lists it. If empty, all methods of the node are used. A text that names no method of the
     *     node matches nothing: if no other does either, requests fail with a list of the node's methods
     */
    public Startpoint via(String... wanted) {
        Objects.requireNonNull(wanted, "wanted");
        for (String method : wanted) {
            Objects.requireNonNull(method, "wanted");
        }
        return new Startpoint(context, ranks, links, lightweight, wanted.clone());
    }

    /**
     * The communication methods of the node that it points to (the first, if there are several), best first, each with
     * its state: the startpoint's communication descriptor table.
     */
    public List<MethodStatus> methods() {
        return context.methodsOf(ranks[0]);
    }

    /**
     * The communication method that requests take, unless {@link #via} chooses another; empty if none works or none has
     * been tried.
     */
    public Optional<MethodStatus> method() {
        return methods().stream()
                .filter(method -> method.state() == MethodStatus.State.IN_USE)
                .findFirst();
    }

    /** Whether it is sent without its table of communication methods. */
    public boolean isLightweight() {
        return lightweight;
    }

    void write(Arguments arguments) {
        boolean light =
                lightweight && IntStream.of(ranks).allMatch(context.node().nodes()::isMember);
        boolean anyGranted = IntStream.range(0, ranks.length).anyMatch(this::canBeGranted);
        arguments.putInt(ranks.length | (light ? LIGHTWEIGHT | (anyGranted ? LIGHT_GRANTED : 0) : 0));
        for (int i = 0; i < ranks.length; i++) {
            Peer node = context.node().nodes().get(ranks[i]);
            boolean member = context.node().nodes().isMember(ranks[i]);
            boolean granted = light ? anyGranted : canBeGranted(i);
            if (!light) {
                arguments.putByte((byte) ((member ? OF_SENDERS_SESSION : ELSEWHERE) | (granted ? GRANTED : 0)));
            }
            if (member) {
                arguments.putInt(ranks[i]);
            } else {
                Greeting.writeId(arguments, node.id());
            }
            arguments.putInt(links[i].endpoint());
            if (granted) {
                Link link = member ? context.node().grants().granted(ranks[i], links[i].endpoint()) : links[i];
                arguments.putLong(link.grant()).putLong(link.grantRest());
            }
            if (!light) {
                WanAddress.writeAll(arguments, WanRoutes.of(node).addresses());
            }
        }
    }

    /** Whether a grant for contexts of other sessions can be sent with it. */
    private boolean canBeGranted(int link) {
        return context.node().nodes().isMember(ranks[link])
                ? context.node().grants().isAtWork()
                : links[link].isGranted();
    }

    static Startpoint read(Request request) {
        int head = request.getInt();
        boolean light = (head & LIGHTWEIGHT) != 0;
        boolean lightGranted = light && (head & LIGHT_GRANTED) != 0;
        int count = head & ~(light ? LIGHTWEIGHT | LIGHT_GRANTED : LIGHTWEIGHT);
        if (count < 1 || count > MAX_LINKS || count > request.remaining() / (2 * Integer.BYTES)) {
            throw notNext(request);
        }
        Nodes nodes = request.context().node().nodes();
        NodeId sender = nodes.get(request.remote()).id();
        int[] ranks = new int[count];
        Link[] links = new Link[count];
        for (int i = 0; i < count; i++) {
            byte kind = light ? OF_SENDERS_SESSION : request.getByte();
            NodeId id = switch (kind & ~GRANTED) {
                case OF_SENDERS_SESSION -> new NodeId(sender.session(), sender.channel(), request.getInt());
                case ELSEWHERE -> Greeting.readId(request);
                default -> throw notNext(request);
            };
            Peer node = nodes.of(id);
            ranks[i] = node.number();
            int endpoint = request.getInt();
            links[i] = lightGranted || (kind & GRANTED) != 0
                    ? new Link(endpoint, request.getLong(), request.getLong())
                    : new Link(endpoint);
            if (!nodes.isMember(request.remote())
                    && nodes.isMember(ranks[i])
                    && !request.context().node().grants().isGranted(ranks[i], links[i])) {
                throw new NexusException("the request from node " + request.remote() + " has a startpoint to rank "
                        + ranks[i] + ", which this session has never given out: expected one that it has");
            }
            if (!light) {
                WanRoutes.of(node).add(WanAddress.readAll(request));
            }
        }
        return new Startpoint(request.context(), ranks, links, light);
    }

    private static NexusException notNext(Request request) {
        return new NexusException("the request from rank " + request.remote()
                + " has no startpoint next: take arguments in the order in which the sender put them");
    }

    private NodeId idOf(int link) {
        return context.node().nodes().get(ranks[link]).id();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Startpoint that
                && ranks.length == that.ranks.length
                && IntStream.range(0, ranks.length)
                        .allMatch(i -> links[i].endpoint() == that.links[i].endpoint() && idOf(i).equals(that.idOf(i)));
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = 0; i < ranks.length; i++) {
            hash = 31 * (31 * hash + links[i].endpoint()) + idOf(i).rank();
        }
        return hash;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("startpoint");
        for (int i = 0; i < ranks.length; i++) {
            text.append(i == 0 ? " " : ", ").append(ranks[i]).append('#').append(links[i].endpoint());
        }
        return text.toString();
    }
}
