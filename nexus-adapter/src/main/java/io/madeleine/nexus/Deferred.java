package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests of handlers to a node without a connection. Handlers must not wait for a connection, so a virtual thread
 * connects and sends the requests in order.
 *
 * <p>Threading: thread-safe.
 */
final class Deferred {
    private final Node node;
    private final Peer peer;
    private final Queue<Runnable> requests = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();

    Deferred(Node node, Peer peer) {
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
        long size = arguments.byteSize() + Wire.HEADER_BYTES;
        long max = node.options().maxQueuedBytes();
        if (bytes.addAndGet(size) > max) {
            bytes.addAndGet(-size);
            throw new OverloadedException(bytes.get() + " bytes of requests wait for a connection to " + peer
                    + " already: expected at most " + max + " (ContextOptions.maxQueuedBytes)");
        }
        Arguments copy = ArgumentCopies.ofAll(arguments);
        requests.add(() -> {
            try {
                peer.send(copy, link, handler, methods);
            } catch (MadeleineException e) {
                node.failures().sendFailed(peer.number(), e);
            } finally {
                bytes.addAndGet(-size);
            }
        });
        if (count.getAndIncrement() == 0) {
            Thread.ofVirtual().name("nexus-connect").start(this::sendAll);
        }
    }

    private void sendAll() {
        do {
            Runnable next = requests.poll();
            if (next != null) {
                next.run();
            }
        } while (count.decrementAndGet() > 0);
    }
}
