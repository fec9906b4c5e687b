package io.madeleine.nexus;

import io.madeleine.am.HandlerRunner;
import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.nexus.wire.Bytes;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The receiving side of a context: runs the handlers of requests one after the other, or passes requests on to threads
 * of their own.
 *
 * <p>The thread that drives the session's networks brings messages; a {@link Receiver} per sender takes the requests
 * out of them. A message that arrives while a handler runs waits until that handler has returned. So does a request
 * that another thread makes to this very process.
 *
 * <p>Threading: thread-safe; one thread at a time runs handlers.
 */
final class Inbound {
    /** The longest request that is received without a message object; shorter than any with a large argument. */
    private static final int SHORT_BYTES = (int) RequestLayout.BULK_BYTES / 2;

    private final Node node;
    private final @Nullable BlockingWatch watch;

    private final HandlerRunner handlers;

    Inbound(Node node) {
        this.node = node;
        this.handlers = new HandlerRunner(why -> node.failures().notReceived(node.rank(), why));
        this.watch = node.options().debug() ? new BlockingWatch(node) : null;
    }

    /** Whether the calling thread runs a non-threaded handler, and so must not wait. */
    boolean isRunByCaller() {
        return handlers.isRunByCaller();
    }

    /** Begins to receive the messages of a channel. */
    void receiveFrom(Channel channel) {
        Receiver[] receivers = new Receiver[node.size()];
        NextContext next = new NextContext();
        NextContext own = next.follow(channel);
        Arrays.setAll(receivers, _ -> new Receiver(node, this, next));
        Bytes block = Bytes.allocate(SHORT_BYTES);
        channel.onMessage(
                message -> onMessage(receivers[message.remote()], message),
                block.segment(),
                new Channel.ShortMessageHandler() {
                    @Override
                    public void onMessage(int remote, long bytes) {
                        onShort(receivers[remote], remote, block, (int) bytes);
                    }

                    @Override
                    public boolean accepts(int remote) {
                        // a request that has to wait needs an open message, which holds its sender back
                        return handlers.isFree() && !receivers[remote].holdsBack();
                    }
                });
        if (own != null) {
            own.giveTo(begun -> post(() -> receivers[begun.remote()].receive(begun)));
        }
    }

    /** As {@link #onMessage}, for a request that has arrived as a whole. */
    private void onShort(Receiver receiver, int remote, Bytes block, int bytes) {
        if (!handlers.tryEnter()) { // a thread has entered a moment ago
            try {
                Bytes copy = Bytes.allocate(bytes);
                MemorySegment.copy(block.segment(), 0, copy.segment(), 0, bytes);
                post(() -> receiver.receiveShort(remote, copy, bytes));
            } catch (Throwable e) { // out of memory, for instance: the message is dropped
                dropped(remote);
                throw e;
            }
            return;
        }
        boolean wasInterrupted = false;
        try {
            wasInterrupted = runPosted();
            receiver.receiveShort(remote, block, bytes);
        } finally {
            leave(wasInterrupted);
        }
        node.signal().signal();
    }

    private void onMessage(Receiver receiver, IncomingMessage message) {
        if (!handlers.tryEnter()) {
            try {
                post(() -> receiver.receive(message));
            } catch (Throwable e) { // out of memory, for instance: the message is dropped
                dropped(message.remote());
                throw e;
            }
            return;
        }
        boolean wasInterrupted = false;
        try {
            wasInterrupted = runPosted();
            receiver.receive(message);
        } finally {
            leave(wasInterrupted);
        }
        node.signal().signal();
    }

    /**
     * Runs what is posted, for a thread that has entered with a message. The interrupt status that it leaves behind
     * must not reach the message's handler; returns whether there was one, for {@link #leave}.
     */
    private boolean runPosted() {
        return handlers.runPosted() && Thread.interrupted();
    }

    private void leave(boolean wasInterrupted) {
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
        handlers.leave();
    }

    /** Sends a request of this process to itself; its non-threaded handler runs when no other handler does. */
    void sendToSelf(int endpointId, int handlerId, Arguments arguments) {
        Endpoint endpoint = node.find(endpointId);
        Endpoint.Entry entry = endpoint == null ? null : endpoint.entry(handlerId);
        Request local = Request.local(node, arguments);
        if (endpoint == null || entry == null) {
            refuse(local, endpointId, handlerId, reasonFor(endpoint));
        } else if (entry.threading() == Endpoint.Threading.NON_THREADED) {
            post(() -> run(endpoint, entry, local));
        } else {
            hand(endpoint, entry, local, endpointId, handlerId);
        }
    }

    /**
     * Dispatches a request of a wide-area connection, in the connection's reader thread. Returns when a non-threaded
     * handler has returned, or when the request has been passed on to a thread of its own.
     */
    void receive(Request received, int endpointId, int handlerId) {
        Endpoint endpoint = node.find(endpointId);
        Endpoint.Entry entry = endpoint == null ? null : endpoint.entry(handlerId);
        if (entry != null && entry.threading() == Endpoint.Threading.NON_THREADED) {
            Thread reader = Thread.currentThread();
            AtomicBoolean done = new AtomicBoolean();
            post(() -> {
                try {
                    dispatch(received, endpointId, handlerId);
                } finally {
                    done.set(true);
                    LockSupport.unpark(reader);
                }
            });
            while (!done.get()) { // the thread that runs handlers now runs the task before it leaves
                boolean _ = Thread.interrupted(); // left behind by a handler; park would not wait
                LockSupport.park(this);
            }
        } else {
            dispatch(received, endpointId, handlerId);
        }
        node.signal().signal();
    }

    private static Refusal.Reason reasonFor(@Nullable Endpoint endpoint) {
        return endpoint == null ? Refusal.Reason.NO_SUCH_ENDPOINT : Refusal.Reason.NO_SUCH_HANDLER;
    }

    /** Runs a task under the right to run handlers: now, or when the thread that has this right reaches it. */
    void post(Runnable task) {
        handlers.post(task);
        posted();
    }

    /** As {@link #post(Runnable)}, for the next step of a receiver. */
    void post(Receiver receiver) {
        handlers.post(receiver);
        posted();
    }

    private void posted() {
        if (!isRunByCaller()) {
            node.signal().signal();
        }
    }

    /**
     * Whether the handler of a request takes large arguments in the thread that runs handlers, so that they have to be
     * received before it runs.
     */
    boolean takesLargeInPlace(int endpointId, int handlerId) {
        Endpoint endpoint = node.find(endpointId);
        Endpoint.Entry entry = endpoint == null ? null : endpoint.entry(handlerId);
        return entry != null
                && entry.threading() == Endpoint.Threading.NON_THREADED
                && !entry.leavesLarge()
                && (endpointId == RequestLayout.SYSTEM_ENDPOINT || !node.refusesRequests());
    }

    /** Runs the handler of a request, passes the request on to a thread of its own, or refuses it. */
    void dispatch(Request current, int endpointId, int handlerId) {
        Endpoint endpoint = node.find(endpointId);
        Endpoint.Entry entry = endpoint == null ? null : endpoint.entry(handlerId);
        if (endpoint == null || entry == null) {
            refuse(current, endpointId, handlerId, reasonFor(endpoint));
        } else if (node.refusesRequests() && endpointId != RequestLayout.SYSTEM_ENDPOINT) {
            refuse(current, endpointId, handlerId, Refusal.Reason.CLOSING);
        } else if (entry.threading() == Endpoint.Threading.NON_THREADED) {
            run(endpoint, entry, current);
        } else {
            hand(endpoint, entry, current.detach(), endpointId, handlerId);
        }
    }

    /** Ends a request without running it, and notifies its sender. */
    void refuse(Request refused, int endpointId, int handlerId, Refusal.Reason reason) {
        int sender = refused.remote();
        refused.finish();
        refuse(sender, endpointId, handlerId, reason);
    }

    /** Notifies the sender of a request that it is refused. */
    void refuse(int sender, int endpointId, int handlerId, Refusal.Reason reason) {
        node.systemRequests().refuse(sender, new Refusals.Kind(endpointId, handlerId, reason));
    }

    /** Passes a request on to a thread of its own; refuses it if none is available. */
    void hand(Endpoint endpoint, Endpoint.Entry entry, Request handed, int endpointId, int handlerId) {
        boolean begun = node.workers().tryExecute(() -> {
            try {
                handed.runWith(() -> call(endpoint, entry, handed));
            } finally {
                handed.finish(); // if it has not reached the handler, for lack of memory, for instance
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
        if (watching == null || endpoint.id() == RequestLayout.SYSTEM_ENDPOINT) {
            call(endpoint, entry, current);
            return;
        }
        watching.begin(endpoint, entry.name(), current.remote());
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
        } catch (Throwable e) {
            // errors, too: the thread belongs to the engine, or is in a wait of its own that goes on
            if (endpoint.id() == RequestLayout.SYSTEM_ENDPOINT && e instanceof VirtualMachineError) {
                dropped(current.remote());
            }
            node.failures().handlerFailed(endpoint, entry.name(), current.remote(), e);
        } finally {
            current.finish();
        }
    }

    /**
     * Notes that a message was dropped, for lack of memory, for instance. The calls that it may have answered are
     * failed later ({@link Peer#dropped}).
     */
    void dropped(int sender) {
        if (sender != node.rank() && node.nodes().isMember(sender)) {
            // a connection to a context of another session is lost as a whole
            node.nodes().get(sender).dropped();
        }
    }

    void close() {
        if (watch != null) {
            watch.close();
        }
    }
}
