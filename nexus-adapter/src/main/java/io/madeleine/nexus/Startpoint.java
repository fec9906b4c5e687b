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

    /** The one way there is between contexts of a session. */
    private static final String METHOD = "mad";

    private final Context context;
    private final int[] ranks;
    private final int[] endpoints;
    private final boolean lightweight;

    Startpoint(Context context, int[] ranks, int[] endpoints, boolean lightweight) {
        this.context = context;
        this.ranks = ranks;
        this.endpoints = endpoints;
        this.lightweight = lightweight;
    }

    /** One pointer to all endpoints that the given ones point to. */
    public static Startpoint toAll(Startpoint first, Startpoint... others) {
        int[] ranks = first.ranks;
        int[] endpoints = first.endpoints;
        boolean light = first.lightweight;
        for (Startpoint other : others) {
            ranks = concatenate(ranks, other.ranks);
            endpoints = concatenate(endpoints, other.endpoints);
            light &= other.lightweight;
        }
        return new Startpoint(first.context, ranks, endpoints, light);
    }

    private static int[] concatenate(int[] first, int[] second) {
        int[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    /**
     * Requests that the handler of that name is run with these arguments at every endpoint; does not wait for it. Waits
     * until the arguments may be changed, unless called by a non-threaded handler.
     *
     * @throws io.madeleine.api.PeerFailedException if a process is gone; the other endpoints have got the request
     * @throws OverloadedException if called by a non-threaded handler, and too much waits to be sent already
     */
    public void rsr(String handler, Arguments arguments) {
        rsr(Wire.id(handler), arguments);
    }

    /** As {@link #rsr(String, Arguments)}, by the number of the handler's name, {@link String#hashCode}. */
    public void rsr(int handler, Arguments arguments) {
        if (ranks.length == 1) {
            context.send(ranks[0], endpoints[0], handler, arguments);
            return;
        }
        RuntimeException failure = null;
        for (int i = 0; i < ranks.length; i++) {
            try {
                context.send(ranks[i], endpoints[i], handler, arguments);
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

    /** The ranks of the processes it points to, in order. */
    public List<Integer> ranks() {
        return IntStream.of(ranks).boxed().toList();
    }

    /** The rank of the process it points to, the first if there are several. */
    public int rank() {
        return ranks[0];
    }

    /**
     * A proxy for the remote service at this endpoint. Calls go to the first endpoint; those of idempotent methods to the
     * next if the process of the first is gone.
     *
     * @param type an interface with {@link RemoteService}
     */
    public <S> S service(Class<S> type) {
        return context.proxy(this, type);
    }

    Calls.Target[] targets() {
        Calls.Target[] targets = new Calls.Target[ranks.length];
        for (int i = 0; i < targets.length; i++) {
            targets[i] = new Calls.Target(ranks[i], endpoints[i]);
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
        return ranks.length == 1 && isLocal() ? Optional.ofNullable(context.find(endpoints[0])) : Optional.empty();
    }

    /**
     * The same pointer without the table of ways to reach it, for receivers in the same session, who know the way: 12
     * bytes instead of more than 20.
     */
    public Startpoint lightweight() {
        return new Startpoint(context, ranks, endpoints, true);
    }

    /** Whether it travels without the table of ways to reach it. */
    public boolean isLightweight() {
        return lightweight;
    }

    void write(Arguments arguments) {
        arguments.putInt(ranks.length | (lightweight ? LIGHTWEIGHT : 0));
        for (int i = 0; i < ranks.length; i++) {
            arguments.putInt(ranks[i]).putInt(endpoints[i]);
            if (!lightweight) {
                arguments.putString(METHOD);
            }
        }
    }

    static Startpoint read(Request request) {
        int head = request.getInt();
        boolean light = (head & LIGHTWEIGHT) != 0;
        int count = head & ~LIGHTWEIGHT;
        if (count < 1 || count > MAX_LINKS || count > request.remaining() / (2 * Integer.BYTES)) {
            throw new NexusException("the request from rank " + request.remote()
                    + " has no startpoint next: expected what the sender has put, in its order");
        }
        int[] ranks = new int[count];
        int[] endpoints = new int[count];
        for (int i = 0; i < count; i++) {
            ranks[i] = request.getInt();
            endpoints[i] = request.getInt();
            if (ranks[i] < 0 || ranks[i] >= request.context().size()) {
                throw new NexusException("the request from rank " + request.remote() + " has a startpoint to rank "
                        + ranks[i] + ": expected 0 to " + (request.context().size() - 1));
            }
            String method = light ? METHOD : request.getString();
            if (!method.equals(METHOD)) {
                throw new NexusException("the request from rank " + request.remote()
                        + " has a startpoint that is reached by \"" + method + "\": known is " + METHOD);
            }
        }
        return new Startpoint(request.context(), ranks, endpoints, light);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Startpoint that
                && Arrays.equals(ranks, that.ranks)
                && Arrays.equals(endpoints, that.endpoints);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(ranks) + Arrays.hashCode(endpoints);
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
