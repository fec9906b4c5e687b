package io.madeleine.nexus;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A global pointer to one or several endpoints, in this or other processes: a remote service request on it goes to each of
 * them. It can be put into the arguments of a request and works where it arrives. Two startpoints are equal if they point
 * to the same endpoints in the same order, wherever they have been.
 *
 * <p>Threading: immutable.
 */
public final class Startpoint {
    private static final int LIGHTWEIGHT = 1 << 31;

    /** Of a lightweight one: with what lets contexts of other sessions call. */
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

    /** The methods to use, best first; none: those that the node has. */
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
     * One pointer to all endpoints that the given ones point to; how they are reached is chosen as for the first.
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

    /** A pointer to each of the endpoints it points to, in order. */
    public List<Startpoint> links() {
        return IntStream.range(0, ranks.length)
                .mapToObj(
                        i -> new Startpoint(context, new int[] {ranks[i]}, new Link[] {links[i]}, lightweight, methods))
                .toList();
    }

    /**
     * Requests that the handler of that name is run with these arguments at every endpoint; does not wait for it, nor hear of
     * what becomes of it: see {@link Context#onRefusal}. Waits until the arguments may be changed, unless called by a
     * non-threaded handler. Requests that a thread makes to a node arrive in order, as long as the method is the same.
     *
     * <p>Ownership: the arguments stay the caller's; for how long large ones are lent, see {@link Arguments}.
     *
     * @throws io.madeleine.api.PeerFailedException if a node is gone or none of the methods works, with what was tried; the
     *     other endpoints have got the request
     * @throws OverloadedException if called by a non-threaded handler, and too much waits to be sent already
     * @throws io.madeleine.api.MessageAbortedException if the memory of a large argument is closed while a channel sends it
     * @throws io.madeleine.api.WaitInterruptedException if the thread is interrupted while it waits
     */
    public void rsr(String handler, Arguments arguments) {
        Objects.requireNonNull(handler, "handler");
        rsr(Wire.id(handler), arguments);
    }

    /** As {@link #rsr(String, Arguments)}, by the number of the handler's name, {@link String#hashCode}. */
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

    /** The context through which requests go. */
    public Context context() {
        return context;
    }

    /** How many endpoints it points to. */
    public int linkCount() {
        return ranks.length;
    }

    /**
     * The nodes it points to, in order: ranks of processes of the session, or, from {@link Context#size} on, contexts of other
     * sessions.
     */
    public List<Integer> ranks() {
        return IntStream.of(ranks).boxed().toList();
    }

    /** The node it points to, the first if there are several; see {@link #ranks}. */
    public int rank() {
        return ranks[0];
    }

    /**
     * A proxy for the remote service at this endpoint. Calls go to the first endpoint; those of idempotent methods to the
     * next if the process of the first is gone.
     *
     * @param type an interface with {@link RemoteService}, where it says what calls throw
     * @throws IllegalArgumentException if it is none, or has methods that cannot be called remotely; says which and why
     */
    public <S> S service(Class<S> type) {
        return service(type, List.of());
    }

    /** As {@link #service(Class)}, with interceptors around the calls of this proxy, inside those of the context. */
    public <S> S service(Class<S> type, List<ClientInterceptor> interceptors) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(interceptors, "interceptors");
        return Proxies.proxy(context.node(), this, type, interceptors);
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

    /** The endpoint itself, if it is one and in this process; empty also if it has been closed. */
    public Optional<Endpoint> toLocal() {
        return ranks.length == 1 && isLocal()
                ? Optional.ofNullable(context.node().find(links[0].endpoint()))
                : Optional.empty();
    }

    /**
     * The same pointer without the table of methods to reach it, for receivers in the same session, who know the way, and
     * for those who are attached to the very process it points to: a few bytes less per method.
     */
    public Startpoint lightweight() {
        return new Startpoint(context, ranks, links, true, methods);
    }

    // ---- methods

    /**
     * The same pointer with its methods chosen by hand: requests on it go by the first of these that works, and by no other.
     *
     * @param wanted best first: {@code mad} (any channel), {@code mad/sci}, {@code mad/tcp} ... (a channel over that
     *     network), {@code mad:NAME} (a channel), {@code wan} (any connection of the adapter's own) or the address of one,
     *     as {@link #methods} lists it; none: as the node has them. What is none of these is no method of the node: a
     *     request fails, and lists those that there are
     */
    public Startpoint via(String... wanted) {
        Objects.requireNonNull(wanted, "wanted");
        for (String method : wanted) {
            Objects.requireNonNull(method, "wanted");
        }
        return new Startpoint(context, ranks, links, lightweight, wanted.clone());
    }

    /**
     * How the node it points to (the first, if there are several) may be reached, best first, and how each method stands: the
     * startpoint's communication descriptor table.
     */
    public List<MethodStatus> methods() {
        return context.methodsOf(ranks[0]);
    }

    /** The method that requests go by, unless {@link #via} says otherwise; empty if none works or none was tried yet. */
    public Optional<MethodStatus> method() {
        return methods().stream()
                .filter(method -> method.state() == MethodStatus.State.IN_USE)
                .findFirst();
    }

    /** Whether it travels without the table of ways to reach it. */
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
                WanAddress.writeAll(arguments, node.routes().addresses());
            }
        }
    }

    /** Whether contexts of other sessions can be let call it. */
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
                node.routes().add(WanAddress.readAll(request));
            }
        }
        return new Startpoint(request.context(), ranks, links, light);
    }

    private static NexusException notNext(Request request) {
        return new NexusException("the request from rank " + request.remote()
                + " has no startpoint next: expected what the sender has put, in its order");
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
