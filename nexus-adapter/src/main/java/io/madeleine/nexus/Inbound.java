package io.madeleine.nexus;

import io.madeleine.am.HandlerRunner;
import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The receiving side of a context: runs the handlers of requests, one after the other, or hands them to a thread of their own.
 *
 * <p>Whoever drives the session's networks brings messages, of which a {@link Receiver} per sender takes the requests. What comes
 * while a handler runs waits until that is through, and so does a request that another thread makes to this very process.
 *
 * <p>Threading: thread-safe; handlers are run by one thread at a time.
 */
final class Inbound {
    private final Node node;
    private final @Nullable BlockingWatch watch;

    private final HandlerRunner handlers;

    Inbound(Node node) {
        this.node = node;
        this.handlers = new HandlerRunner(why -> node.failures().notReceived(node.rank(), why));
        this.watch = node.options().debug() ? new BlockingWatch(node) : null;
    }

    /** Whether the calling thread is running a non-threaded handler, and must not wait. */
    boolean isRunByCaller() {
        return handlers.isRunByCaller();
    }

    /** Takes the messages of a channel from now on. */
    void receiveFrom(Channel channel) {
        Receiver[] receivers = new Receiver[node.size()];
        Arrays.setAll(receivers, _ -> new Receiver(node, this));
        channel.onMessage(message -> onMessage(receivers[message.remote()], message));
    }

    private void onMessage(Receiver receiver, IncomingMessage message) {
        if (!handlers.tryEnter()) {
            try {
                post(() -> receiver.receive(message));
            } catch (Throwable e) { // no memory, for instance: the message is dropped
                dropped(message.remote());
                throw e;
            }
            return;
        }
        boolean wasInterrupted = false;
        try {
            // what was posted before, perhaps of the same sender, leaves its interrupt status to nobody
            wasInterrupted = handlers.runPosted() && Thread.interrupted();
            receiver.receive(message);
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
            handlers.leave();
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
            post(() -> run(endpoint, entry, local));
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
            post(() -> {
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

    /** Runs something as handlers are run: now, or when the thread that runs one comes to it. */
    void post(Runnable task) {
        handlers.post(task);
        posted();
    }

    /** As {@link #post(Runnable)}, of what a receiver does next. */
    void post(Receiver receiver) {
        handlers.post(receiver);
        posted();
    }

    private void posted() {
        if (!isRunByCaller()) {
            node.signal().signal();
        }
    }

    /** Whether the thread that runs handlers takes the large arguments of such a request: they have to be there first. */
    boolean takesLargeInPlace(int endpointId, int handlerId) {
        Endpoint endpoint = node.find(endpointId);
        Endpoint.Entry entry = endpoint == null ? null : endpoint.entry(handlerId);
        return entry != null
                && entry.threading() == Endpoint.Threading.NON_THREADED
                && !entry.leavesLarge()
                && (endpointId == Wire.SYSTEM_ENDPOINT || !node.refusesRequests());
    }

    /** Carries out a request, has that done, or refuses it. */
    void dispatch(Request current, int endpointId, int handlerId) {
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
        refuse(sender, endpointId, handlerId, reason);
    }

    /** Tells the sender of a request that it is not carried out. */
    void refuse(int sender, int endpointId, int handlerId, Refusal.Reason reason) {
        node.systemRequests().refuse(sender, new Refusals.Kind(endpointId, handlerId, reason));
    }

    /** Gives a request to a thread of its own. */
    void hand(Endpoint endpoint, Endpoint.Entry entry, Request handed, int endpointId, int handlerId) {
        boolean begun = node.workers().tryExecute(() -> {
            try {
                handed.runWith(() -> call(endpoint, entry, handed));
            } finally {
                handed.finish(); // if it did not come to the handler, for want of memory say
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
            if (endpoint.id() == Wire.SYSTEM_ENDPOINT && e instanceof VirtualMachineError) {
                dropped(current.remote());
            }
            node.failures().handlerFailed(endpoint, entry.name(), current.remote(), e);
        } finally {
            current.finish();
        }
    }

    /** A message has been dropped for want of memory, say. What it was for is not known, and need not be answered any more. */
    void dropped(int sender) {
        if (sender != node.rank() && node.nodes().isMember(sender)) { // the way to others is lost with it
            node.nodes().get(sender).dropped();
        }
    }

    void close() {
        if (watch != null) {
            watch.close();
        }
    }
}
