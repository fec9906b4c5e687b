package io.madeleine.nexus;

import java.util.Arrays;
import java.util.List;
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
    private static final int MAX_LINKS = 1 << 16;

    private static final byte OF_SENDERS_SESSION = 1;
    private static final byte ELSEWHERE = 2;
    private static final String[] ANY = {};

    private final Context context;
    private final int[] ranks;
    private final int[] endpoints;
    private final boolean lightweight;

    /** The methods to use, best first; none: those that the node has. */
    private final String[] methods;

    Startpoint(Context context, int[] ranks, int[] endpoints, boolean lightweight) {
        this(context, ranks, endpoints, lightweight, ANY);
    }

    private Startpoint(Context context, int[] ranks, int[] endpoints, boolean lightweight, String[] methods) {
        this.methods = methods;
        this.context = context;
        this.ranks = ranks;
        this.endpoints = endpoints;
        this.lightweight = lightweight;
    }

    /**
     * One pointer to all endpoints that the given ones point to; how they are reached is chosen as for the first.
     *
     * @throws IllegalArgumentException if they are bound to different contexts of this process
     */
    public static Startpoint toAll(Startpoint first, Startpoint... others) {
        int[] ranks = first.ranks;
        int[] endpoints = first.endpoints;
        boolean light = first.lightweight;
        for (Startpoint other : others) {
            if (other.context != first.context) {
                throw new IllegalArgumentException(other + " is bound to another context than " + first
                        + ": expected startpoints of one context, through which requests go");
            }
            ranks = concatenate(ranks, other.ranks);
            endpoints = concatenate(endpoints, other.endpoints);
            light &= other.lightweight;
        }
        return new Startpoint(first.context, ranks, endpoints, light, first.methods);
    }

    private static int[] concatenate(int[] first, int[] second) {
        int[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
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
        rsr(Wire.id(handler), arguments);
    }

    /** As {@link #rsr(String, Arguments)}, by the number of the handler's name, {@link String#hashCode}. */
    public void rsr(int handler, Arguments arguments) {
        if (ranks.length == 1) {
            context.node().send(ranks[0], endpoints[0], handler, arguments, methods);
            return;
        }
        RuntimeException failure = null;
        for (int i = 0; i < ranks.length; i++) {
            try {
                context.node().send(ranks[i], endpoints[i], handler, arguments, methods);
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
        return Proxies.proxy(context.node(), this, type);
    }

    Calls.Target[] targets() {
        Calls.Target[] targets = new Calls.Target[ranks.length];
        for (int i = 0; i < targets.length; i++) {
            targets[i] = new Calls.Target(ranks[i], endpoints[i], methods);
        }
        return targets;
    }

    int endpointId() {
        return endpoints[0];
    }

    /** Whether all endpoints are in this process. */
    public boolean isLocal() {
        return IntStream.of(ranks).allMatch(rank -> rank == context.rank());
    }

    /** The endpoint itself, if it is one and in this process; empty also if it has been closed. */
    public Optional<Endpoint> toLocal() {
        return ranks.length == 1 && isLocal()
                ? Optional.ofNullable(context.node().find(endpoints[0]))
                : Optional.empty();
    }

    /**
     * The same pointer without the table of methods to reach it, for receivers in the same session, who know the way, and
     * for those who are attached to the very process it points to: a few bytes less per method.
     */
    public Startpoint lightweight() {
        return new Startpoint(context, ranks, endpoints, true, methods);
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
        return new Startpoint(context, ranks, endpoints, lightweight, wanted.clone());
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
        arguments.putInt(ranks.length | (light ? LIGHTWEIGHT : 0));
        for (int i = 0; i < ranks.length; i++) {
            Peer node = context.node().nodes().get(ranks[i]);
            boolean member = context.node().nodes().isMember(ranks[i]);
            if (!light) {
                arguments.putByte(member ? OF_SENDERS_SESSION : ELSEWHERE);
            }
            if (member) {
                arguments.putInt(ranks[i]);
            } else {
                Greeting.writeId(arguments, node.id());
            }
            arguments.putInt(endpoints[i]);
            if (!light) {
                WanAddress.writeAll(arguments, node.routes().addresses());
            }
        }
    }

    static Startpoint read(Request request) {
        int head = request.getInt();
        boolean light = (head & LIGHTWEIGHT) != 0;
        int count = head & ~LIGHTWEIGHT;
        if (count < 1 || count > MAX_LINKS || count > request.remaining() / (2 * Integer.BYTES)) {
            throw notNext(request);
        }
        Nodes nodes = request.context().node().nodes();
        NodeId sender = nodes.get(request.remote()).id();
        int[] ranks = new int[count];
        int[] endpoints = new int[count];
        for (int i = 0; i < count; i++) {
            byte kind = light ? OF_SENDERS_SESSION : request.getByte();
            NodeId id = switch (kind) {
                case OF_SENDERS_SESSION -> new NodeId(sender.session(), sender.channel(), request.getInt());
                case ELSEWHERE -> Greeting.readId(request);
                default -> throw notNext(request);
            };
            Peer node = nodes.of(id);
            ranks[i] = node.number();
            endpoints[i] = request.getInt();
            if (!light) {
                node.routes().add(WanAddress.readAll(request));
            }
        }
        return new Startpoint(request.context(), ranks, endpoints, light);
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
                && Arrays.equals(endpoints, that.endpoints)
                && IntStream.range(0, ranks.length).allMatch(i -> idOf(i).equals(that.idOf(i)));
    }

    @Override
    public int hashCode() {
        int hash = Arrays.hashCode(endpoints);
        for (int i = 0; i < ranks.length; i++) {
            hash = 31 * hash + idOf(i).rank();
        }
        return hash;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("startpoint");
        for (int i = 0; i < ranks.length; i++) {
            text.append(i == 0 ? " " : ", ").append(ranks[i]).append('#').append(endpoints[i]);
        }
        return text.toString();
    }
}
