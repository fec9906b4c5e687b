package io.madeleine.nexus;

import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.RequestLayout;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Requests of handlers to a node without a connection. Handlers must not wait for a connection, so a virtual thread
 * connects and sends the requests in order.
 *
 * <p>Threading: thread-safe.
 */
final class PendingConnects {
    private final Node node;
    private final Peer peer;
    private final Queue<Waiting> requests = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();

    /** A request that waits for a connection, with arguments of its own. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Waiting(Arguments arguments, Link link, int handler, String[] methods, long size) {}

    PendingConnects(Node node, Peer peer) {
        this.node = node;
        this.peer = peer;
    }

    /** Whether all requests have been sent or have failed. */
    boolean isEmpty() {
        return count.get() == 0;
    }

    /**
     * Adds a request.
     *
     * <p>Ownership: the arguments are copied.
     *
     * @throws OverloadedException if {@link ContextOptions#maxQueuedBytes} is exceeded
     */
    void add(Arguments arguments, Link link, int handler, String[] methods) {
        long size = arguments.byteSize() + RequestLayout.HEADER_BYTES;
        long max = node.options().maxQueuedBytes();
        if (bytes.addAndGet(size) > max) {
            bytes.addAndGet(-size);
            throw new OverloadedException(bytes.get() + " bytes of requests wait for a connection to " + peer
                    + " already: expected at most " + max + " (ContextOptions.maxQueuedBytes)");
        }
        try {
            requests.add(new Waiting(ArgumentCopies.ofAll(arguments), link, handler, methods, size));
        } catch (Throwable e) { // out of memory, or the memory of an argument is closed
            bytes.addAndGet(-size);
            throw e;
        }
        if (count.getAndIncrement() == 0) {
            try {
                Thread.ofVirtual().name("nexus-connect").start(() -> forAll(this::send));
            } catch (Throwable e) { // out of memory for a thread
                forAll(_ -> failed(e));
            }
        }
    }

    private void forAll(Consumer<Waiting> action) {
        do {
            Waiting next = requests.poll();
            if (next != null) {
                action.accept(next);
                bytes.addAndGet(-next.size());
            }
        } while (count.decrementAndGet() > 0);
    }

    private void send(Waiting request) {
        try {
            peer.send(request.arguments(), request.link(), request.handler(), request.methods());
        } catch (Throwable e) { // of the program's trust manager, too: the requests behind this one go on
            failed(e);
        }
    }

    /** Reports a request that is not sent. Never throws: others wait behind it. */
    private void failed(Throwable why) {
        try {
            node.failures()
                    .sendFailed(
                            peer.number(),
                            why instanceof RuntimeException known
                                    ? known
                                    : new NexusException("a request to " + peer + " could not be sent: " + why, why));
        } catch (Throwable _) { // out of memory again
            return;
        }
    }
}
