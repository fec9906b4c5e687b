package io.madeleine.nexus;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where remote service requests arrive: a table of handlers and the data they work on. {@link #startpoint} gives out
 * pointers to it.
 *
 * <p>Threading: thread-safe; handlers may be added while requests come in.
 */
public final class Endpoint implements AutoCloseable {
    private final Context context;
    private final int id;
    private final @Nullable String name;
    private final IntTable<Entry> handlers = new IntTable<>();
    private volatile @Nullable Object local;
    private volatile @Nullable Service service;
    private volatile @Nullable Link granted;

    /** How a handler is run. */
    public enum Threading {
        /** In a thread of its own, virtual unless the context says otherwise; it may wait. No order is kept. */
        THREADED,
        /**
         * By the thread that receives, one after the other, in the order in which a sender's thread has sent, once all arguments
         * are there. It must not wait: nothing is received meanwhile. A request it makes does not wait either.
         */
        NON_THREADED
    }

    /**
     * A line of the table.
     *
     * @param leavesLarge whether a non-threaded handler leaves large arguments to other threads
     */
    record Entry(String name, Threading threading, Handler handler, boolean leavesLarge) {}

    Endpoint(Context context, int id, @Nullable String name) {
        this.context = context;
        this.id = id;
        this.name = name;
    }

    /** The context the endpoint belongs to. */
    public Context context() {
        return context;
    }

    /** Its number in the context. */
    public int id() {
        return id;
    }

    /** Its name, if it can be found by one. */
    public Optional<String> name() {
        return Optional.ofNullable(name);
    }

    /** A pointer to this endpoint. */
    public Startpoint startpoint() {
        return new Startpoint(context, new int[] {context.rank()}, new Link[] {new Link(id)}, false);
    }

    /**
     * Adds a handler.
     *
     * @param handlerName any text; on the wire it is a number, {@link String#hashCode}
     * @throws IllegalArgumentException if there is one of that name, or of another name with the same number
     */
    public Endpoint handler(String handlerName, Threading threading, Handler handler) {
        Objects.requireNonNull(handlerName, "handlerName");
        Objects.requireNonNull(threading, "threading");
        Objects.requireNonNull(handler, "handler");
        return add(new Entry(handlerName, threading, handler, false));
    }

    private Endpoint add(Entry entry) {
        int number = Wire.id(entry.name());
        if (!handlers.putIfAbsent(number, entry)) {
            Entry present = handlers.get(number);
            throw new IllegalArgumentException(this + " has a handler \"" + (present == null ? "" : present.name())
                    + "\" already, which has the same number as \"" + entry.name() + "\": choose another name");
        }
        return this;
    }

    /** Adds a handler that runs in a thread of its own. */
    public Endpoint threaded(String handlerName, Handler handler) {
        return handler(handlerName, Threading.THREADED, handler);
    }

    /** Adds a handler that the receiving thread runs; see {@link Threading#NON_THREADED} for what it must not do. */
    public Endpoint nonThreaded(String handlerName, Handler handler) {
        return handler(handlerName, Threading.NON_THREADED, handler);
    }

    /** Adds a non-threaded handler that gives requests with large arguments to other threads. */
    Endpoint passingOn(String handlerName, Handler handler) {
        return add(new Entry(handlerName, Threading.NON_THREADED, handler, true));
    }

    /**
     * Lets the methods of a remote service be called here, instead of those of one served before; {@link Startpoint#service}
     * makes the proxies.
     *
     * @param type an interface with {@link RemoteService}
     * @param implementation is called by several threads at once
     * @throws IllegalArgumentException if it is none, or has methods that cannot be called remotely; says which and why
     */
    public <S> Endpoint serve(Class<S> type, S implementation) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(implementation, "implementation");
        service = new Service(
                type, implementation, context.codecs(), context.options().callTimeoutNs());
        return this;
    }

    /** What lets contexts of other sessions call it. */
    Link grantedLink() {
        Link link = granted;
        if (link == null) {
            link = context.node().grants().granted(context.rank(), id);
            granted = link.isGranted() ? link : null;
        }
        return link;
    }

    @Nullable
    Service service() {
        return service;
    }

    @Nullable
    Entry entry(int number) {
        return handlers.get(number);
    }

    /** Attaches the data that the handlers work on. */
    public Endpoint attach(Object data) {
        Objects.requireNonNull(data, "data");
        local = data;
        return this;
    }

    /**
     * The data attached last.
     *
     * @throws IllegalStateException if there is none
     * @throws ClassCastException if it is of another type
     */
    public <T> T local(Class<T> type) {
        Objects.requireNonNull(type, "type");
        Object data = local;
        if (data == null) {
            throw new IllegalStateException(this + " has no local data: attach it first");
        }
        return type.cast(data);
    }

    /** Requests that arrive from now on are refused, and their senders told. Idempotent. */
    @Override
    public void close() {
        context.node().endpoints().remove(this);
    }

    @Override
    public String toString() {
        return "endpoint " + (name == null ? "#" + id : name) + " of rank " + context.rank();
    }
}
