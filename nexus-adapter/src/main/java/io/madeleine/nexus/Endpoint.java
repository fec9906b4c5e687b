package io.madeleine.nexus;

import io.madeleine.nexus.wire.IntTable;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.RequestLayout;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The target of remote service requests: a table of handlers and the data they work on. {@link #startpoint} returns
 * pointers to it.
 *
 * <p>Threading: thread-safe; handlers may be added while requests arrive.
 */
public final class Endpoint implements AutoCloseable {
    private final Context context;
    private final int id;
    private final @Nullable String name;
    private final IntTable<Entry> handlers = new IntTable<>();
    private volatile @Nullable Object local;
    private volatile @Nullable Service service;
    private volatile @Nullable Link granted;

    /** How a handler runs. */
    public enum Threading {
        /**
         * In a thread of its own, virtual unless the context has an executor. The handler may wait. Requests run in no
         * particular order.
         */
        THREADED,
        /**
         * In the receiving thread, once all arguments are there; one request after the other, in the order in which a
         * sender's thread has sent them. The handler must not wait, because nothing is received meanwhile; requests
         * that it makes do not wait either.
         */
        NON_THREADED
    }

    /**
     * An entry of the table of handlers.
     *
     * @param leavesLarge whether a non-threaded handler passes requests with large arguments on to other threads
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

    /** The number of the endpoint in its context. */
    public int id() {
        return id;
    }

    /** The name of the endpoint, if it has one. */
    public Optional<String> name() {
        return Optional.ofNullable(name);
    }

    /** Returns a pointer to this endpoint. */
    public Startpoint startpoint() {
        return new Startpoint(context, new int[] {context.rank()}, new Link[] {new Link(id)}, false);
    }

    /**
     * Adds a handler.
     *
     * @param handlerName any text; its {@link String#hashCode} stands for it on the wire
     * @throws IllegalArgumentException if a handler has this name already, or a name with the same hash code
     */
    public Endpoint handler(String handlerName, Threading threading, Handler handler) {
        Objects.requireNonNull(handlerName, "handlerName");
        Objects.requireNonNull(threading, "threading");
        Objects.requireNonNull(handler, "handler");
        return add(new Entry(handlerName, threading, handler, false));
    }

    private Endpoint add(Entry entry) {
        int number = RequestLayout.id(entry.name());
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

    /** Adds a non-threaded handler that passes requests with large arguments on to other threads. */
    Endpoint passingOn(String handlerName, Handler handler) {
        return add(new Entry(handlerName, Threading.NON_THREADED, handler, true));
    }

    /**
     * Serves the methods of a remote service at this endpoint, in place of a service served before; {@link
     * Startpoint#service} makes the proxies.
     *
     * @param type an interface with {@link RemoteService}
     * @param implementation several threads call it at once
     * @throws IllegalArgumentException if the interface lacks the annotation or has a method that cannot be called
     *     remotely; the message says which and why
     */
    public <S> Endpoint serve(Class<S> type, S implementation) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(implementation, "implementation");
        service = new Service(type, implementation, context.serviceMethods());
        return this;
    }

    /** The link with the grant that contexts of other sessions need to call this endpoint. */
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

    /** Attaches data for the handlers, see {@link #local}; replaces data attached before. */
    public Endpoint attach(Object data) {
        Objects.requireNonNull(data, "data");
        local = data;
        return this;
    }

    /**
     * The data that were attached last.
     *
     * @throws IllegalStateException if none are attached
     * @throws ClassCastException if they are of another type
     */
    public <T> T local(Class<T> type) {
        Objects.requireNonNull(type, "type");
        Object data = local;
        if (data == null) {
            throw new IllegalStateException(this + " has no local data: attach it first");
        }
        return type.cast(data);
    }

    /**
     * Refuses all requests that arrive from now on, and notifies their senders. Startpoints to an endpoint with a name
     * are valid again, also in other sessions, when an endpoint is made under that name. Idempotent.
     */
    @Override
    public void close() {
        context.node().endpoints().remove(this);
    }

    @Override
    public String toString() {
        return "endpoint " + (name == null ? "#" + id : name) + " of rank " + context.rank();
    }
}
