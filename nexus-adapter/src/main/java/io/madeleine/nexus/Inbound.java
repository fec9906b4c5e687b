package io.madeleine.nexus;

import static io.madeleine.api.ReceiveMode.EXPRESS;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The receiving side of a context: takes requests out of messages and runs their handlers, one after the other, or hands
 * them to a thread of their own.
 *
 * <p>Whoever drives the session's networks calls {@link #onMessage}. While a handler waits for its arguments the same
 * thread drives on, and comes here again: such a message waits until the first handler is through. So does a request that
 * another thread makes to this very process.
 *
 * <p>Threading: thread-safe; handlers are run by one thread at a time.
 */
final class Inbound implements Channel.MessageHandler {
    /** Memory for small arguments that is not kept for the next request. */
    private static final long KEPT_BYTES = 1 << 20;

    private static final long NOBODY = -1;

    private final Node node;
    private final Request request;
    private final MessageBulks bulks;
    private final @Nullable BlockingWatch watch;

    /** The id of the thread that runs handlers, not the thread: storing a reference costs a fence under some collectors. */
    private final AtomicLong runner = new AtomicLong(NOBODY);

    private final Queue<Runnable> postponed = new ConcurrentLinkedQueue<>();
    private Bytes memory = Bytes.allocate(Wire.FIRST_BYTES);

    Inbound(Node node) {
        this.node = node;
        this.request = new Request(node);
        this.bulks = new MessageBulks(node.options().argumentTimeoutNs());
        this.watch = node.options().debug() ? new BlockingWatch(node) : null;
    }

    /** Whether the calling thread is running a non-threaded handler, and must not wait. */
    boolean isRunByCaller() {
        return runner.get() == Thread.currentThread().threadId();
    }

    @Override
    public void onMessage(IncomingMessage message) {
        long self = Thread.currentThread().threadId();
        if (runner.get() == self || !runner.compareAndSet(NOBODY, self)) {
            postpone(() -> receive(message));
            return;
        }
        try {
            receive(message);
        } finally {
            runner.set(NOBODY);
        }
        if (!postponed.isEmpty()) {
            runPostponed();
        }
        node.signal().signal();
    }

    /** A request of this process to itself; a non-threaded handler is run when none else is. */
    void sendToSelf(int endpointId, int handlerId, Arguments arguments) {
        Endpoint endpoint = node.find(endpointId);
        Endpoint.Entry entry = endpoint == null ? null : endpoint.entry(handlerId);
        Request local = Request.local(node, arguments);
        if (endpoint == null || entry == null) {
            refuse(local, endpointId, handlerId, reasonFor(endpoint));
        } else if (entry.threading() == Endpoint.Threading.NON_THREADED) {
            postpone(() -> run(endpoint, entry, local));
        } else {
            hand(endpoint, entry, local, endpointId, handlerId);
        }
    }

    /**
     * A request that came by a connection, in the thread that reads there. Returns when its handler has returned, if it is
     * non-threaded, or has been given to a thread of its own.
     */
    void receive(Request received, int endpointId, int handlerId) {
        Endpoint endpoint = node.find(endpointId);
        Endpoint.Entry entry = endpoint == null ? null : endpoint.entry(handlerId);
        if (entry != null && entry.threading() == Endpoint.Threading.NON_THREADED) {
            Thread reader = Thread.currentThread();
            AtomicBoolean done = new AtomicBoolean();
            postpone(() -> {
                try {
                    dispatch(received, endpointId, handlerId);
                } finally {
                    done.set(true);
                    LockSupport.unpark(reader);
                }
            });
            while (!done.get()) {
                LockSupport.park(this); // another thread runs handlers, and does this one when it is through
            }
        } else {
            dispatch(received, endpointId, handlerId);
        }
        node.signal().signal();
    }

    private static Refusal.Reason reasonFor(@Nullable Endpoint endpoint) {
        return endpoint == null ? Refusal.Reason.NO_SUCH_ENDPOINT : Refusal.Reason.NO_SUCH_HANDLER;
    }

    private void postpone(Runnable task) {
        postponed.add(task);
        if (!isRunByCaller()) {
            runPostponed();
            node.signal().signal();
        }
    }

    private void runPostponed() {
        long self = Thread.currentThread().threadId();
        while (!postponed.isEmpty() && runner.compareAndSet(NOBODY, self)) {
            try {
                for (Runnable task = postponed.poll(); task != null; task = postponed.poll()) {
                    runOne(task);
                }
            } finally {
                runner.set(NOBODY);
            }
        }
    }

    /** What one of them throws is not the others'. */
    private void runOne(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            node.failures().notReceived(node.rank(), e);
        }
    }

    private void receive(IncomingMessage message) {
        int sender = message.remote();
        try {
            take(message);
        } catch (Throwable e) {
            message.close();
            node.failures().notReceived(sender, e);
        }
    }

    private void take(IncomingMessage message) {
        message.unpack(memory.segment(), 0, Wire.FIRST_BYTES, SendMode.SAFER, EXPRESS);
        int sizes = memory.getInt(Wire.SIZES_OFFSET);
        int inline = sizes & ~Wire.HAS_BULKS;
        Bytes used = memory;
        if (inline > Wire.FIRST_BYTES - Wire.HEADER_BYTES) {
            used = takeMore(message, inline);
        }
        int end = Wire.HEADER_BYTES + inline;
        int sender = message.remote();
        if (sizes >= 0) {
            message.endUnpacking();
            message.close();
            request.begin(used, Wire.HEADER_BYTES, end, sender);
        } else {
            end -= Integer.BYTES;
            int count = bulkCount(used, end);
            bulks.begin(message, count);
            request.begin(used, Wire.HEADER_BYTES, end, sender, count, bulks);
        }
        dispatch(request, used.getInt(Wire.ENDPOINT_OFFSET), used.getInt(Wire.HANDLER_OFFSET));
    }

    private Bytes takeMore(IncomingMessage message, int inline) {
        if (inline > node.options().maxRequestBytes()) {
            throw new NexusException("a request with " + inline + " bytes of small arguments was announced: expected at"
                    + " most " + node.options().maxRequestBytes() + " (ContextOptions.maxRequestBytes)");
        }
        int end = Wire.HEADER_BYTES + inline;
        Bytes used = withRoom(end);
        message.within(node.options().argumentTimeoutNs(), TimeUnit.NANOSECONDS);
        message.unpack(used.segment(), Wire.FIRST_BYTES, end - Wire.FIRST_BYTES, SendMode.SAFER, EXPRESS);
        return used;
    }

    private static int bulkCount(Bytes used, int offset) {
        int bulks = offset < Wire.HEADER_BYTES ? 0 : used.getInt(offset);
        if (bulks < 1 || bulks > Wire.MAX_BULKS) {
            throw new NexusException("a request with " + Integer.toUnsignedString(bulks)
                    + " large arguments was announced: expected 1 to " + Wire.MAX_BULKS);
        }
        return bulks;
    }

    /** Memory that begins with the first block; what is larger than usual is for this request only. */
    private Bytes withRoom(int bytes) {
        if (bytes <= memory.size()) {
            return memory;
        }
        Bytes larger = Bytes.allocate(Math.max(bytes, 2 * memory.size()));
        MemorySegment.copy(memory.segment(), 0, larger.segment(), 0, Wire.FIRST_BYTES);
        if (larger.size() <= KEPT_BYTES) {
            memory = larger;
        }
        return larger;
    }

    private void dispatch(Request current, int endpointId, int handlerId) {
        Endpoint endpoint = node.find(endpointId);
        Endpoint.Entry entry = endpoint == null ? null : endpoint.entry(handlerId);
        if (endpoint == null || entry == null) {
            refuse(current, endpointId, handlerId, reasonFor(endpoint));
        } else if (node.refusesRequests() && endpointId != Wire.SYSTEM_ENDPOINT) {
            refuse(current, endpointId, handlerId, Refusal.Reason.CLOSING);
        } else if (entry.threading() == Endpoint.Threading.NON_THREADED) {
            run(endpoint, entry, current);
        } else {
            hand(endpoint, entry, current.detach(), endpointId, handlerId);
        }
    }

    /** Does not carry a request out, and has its sender told. */
    void refuse(Request refused, int endpointId, int handlerId, Refusal.Reason reason) {
        int sender = refused.remote();
        refused.finish();
        node.systemRequests().refuse(sender, new Refusals.Kind(endpointId, handlerId, reason));
    }

    /** Gives a request to a thread of its own. */
    void hand(Endpoint endpoint, Endpoint.Entry entry, Request handed, int endpointId, int handlerId) {
        boolean begun = node.workers().tryExecute(() -> {
            try {
                call(endpoint, entry, handed);
            } finally {
                node.workers().done();
                node.signal().signal();
            }
        });
        if (!begun) {
            refuse(handed, endpointId, handlerId, Refusal.Reason.OVERLOADED);
        }
    }

    private void run(Endpoint endpoint, Endpoint.Entry entry, Request current) {
        BlockingWatch watching = watch;
        if (watching == null || endpoint.id() == Wire.SYSTEM_ENDPOINT) {
            call(endpoint, entry, current);
            return;
        }
        watching.begin(endpoint, entry.name());
        try {
            call(endpoint, entry, current);
        } finally {
            watching.end();
        }
    }

    private void call(Endpoint endpoint, Endpoint.Entry entry, Request current) {
        try {
            entry.handler().handle(endpoint, current);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            node.failures().handlerFailed(endpoint, entry.name(), current.remote(), e);
        } catch (Throwable e) { // errors, too: the thread is the engine's, or drives on for another wait
            node.failures().handlerFailed(endpoint, entry.name(), current.remote(), e);
        } finally {
            current.finish();
        }
    }

    void close() {
        if (watch != null) {
            watch.close();
        }
    }
}
