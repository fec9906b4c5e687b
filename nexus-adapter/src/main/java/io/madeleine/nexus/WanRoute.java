package io.madeleine.nexus;

import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wan.SealedConnection;
import io.madeleine.nexus.wan.WriteQueue;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.RequestLayout;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The route to a node over a wide-area connection; {@link WanLayout} is the layout of requests.
 *
 * <p>One thread writes and another one reads ({@link WanReader}). They are platform threads, because the JDK may lose a
 * parked virtual thread when memory is short ({@link Sweeper}). Arguments are copied, a bounded number of bytes at a
 * time: a wide-area network is slower than a copy.
 *
 * <p>Threading: thread-safe.
 */
final class WanRoute extends Route {
    /** A value of {@code bulks} that marks a keep-alive message: a header that nothing follows. */
    static final int SIGN = -1;

    private static final long WINDOW_BYTES = 1 << 20;
    private static final int SIGNS_PER_TIMEOUT = 3;

    private final SealedConnection connection;
    private final @Nullable WanAddress target;
    private final boolean accepted;
    private boolean holdsPlace; // used by one thread after the other, see lose
    private final WriteQueue queue;
    private @Nullable Throwable firstFailure; // guarded by the queue
    private final Thread writer =
            Thread.ofPlatform().daemon().name("nexus-wan-writer").unstarted(this::write);

    /**
     * Creates a route; {@link #start} begins to use it.
     *
     * @param target the address that this process has connected to, if it is one that the node has told; else null
     * @param accepted whether the node has connected to this process
     */
    WanRoute(Node node, Peer peer, SealedConnection connection, @Nullable WanAddress target, boolean accepted) {
        super(node, peer);
        this.accepted = accepted;
        this.holdsPlace = accepted;
        this.connection = connection;
        this.target = target;
        long max = node.options().maxQueuedBytes();
        this.queue = new WriteQueue(Math.min(max, WINDOW_BYTES), max);
    }

    /**
     * Adds the route to its peer, and starts to write and read; in this order, so that answers to what is read find the
     * route. If this throws, the route is lost.
     */
    void start() throws IOException {
        try {
            peer.add(this);
            connection.silenceTimeoutMs(node.options().silenceTimeoutMs());
            writer.start();
            Thread.ofPlatform().daemon().name("nexus-wan-reader").start(new WanReader(node, this, connection));
        } catch (IOException | RuntimeException | Error e) { // closed meanwhile, or out of memory for a thread
            giveUp(e);
            throw e;
        }
    }

    @Override
    String name() {
        return "wan";
    }

    @Override
    String address() {
        return target == null
                ? (accepted ? "connection from " : "connection to ") + connection.remoteAddress()
                : target.toString();
    }

    @Override
    boolean isMeantBy(String word) {
        return super.isMeantBy(word) || word.equals(address());
    }

    /**
     * Whether an accepted connection gives back its place among {@link ContextOptions#maxAttached} now: true once,
     * although the steps after a loss are repeated if memory was short.
     */
    boolean leavesPlace() {
        boolean held = holdsPlace;
        holdsPlace = false;
        return held;
    }

    @Nullable
    WanAddress target() {
        return target;
    }

    @Override
    boolean send(Arguments arguments, Link link, int handler) {
        boolean hasBulks = arguments.hasBulks();
        long leftNs = arguments.hasDeadline() ? arguments.leftNs() : WriteQueue.NO_TIMEOUT;
        if (!queue.put(WanLayout.head(arguments, link, handler), hasBulks, isReported(link), leftNs)) {
            return false;
        }
        if (hasBulks) {
            try {
                putBulks(arguments);
            } catch (PeerFailedException e) {
                throw e;
            } catch (RuntimeException | Error e) { // the argument's memory was closed meanwhile, or memory is short
                breakOff("a request could be sent in part only", e);
                throw e;
            } finally {
                queue.giveTurn();
            }
        }
        return true;
    }

    /**
     * Whether a lost request is reported to send-failure listeners. The adapter's own requests are not: calls fail by
     * other means, and receivers do without the others.
     */
    private static boolean isReported(Link link) {
        return !link.isSystem();
    }

    private void putBulks(Arguments arguments) {
        for (int i = 0; i < arguments.bulkCount(); i++) {
            MemorySegment bulk = arguments.bulk(i);
            for (long at = 0; at < bulk.byteSize(); at += SealedConnection.RECORD_BYTES) {
                if (!queue.putPiece(piece(bulk, at))) {
                    throw new PeerFailedException(peer.number(), "a request to " + peer + " was cut off: " + lost());
                }
            }
        }
    }

    private static byte[] piece(MemorySegment bulk, long at) {
        int bytes = (int) Math.min(SealedConnection.RECORD_BYTES, bulk.byteSize() - at);
        byte[] piece = new byte[bytes];
        MemorySegment.copy(bulk, RequestLayout.BYTE, at, piece, 0, bytes);
        return piece;
    }

    @Override
    boolean sendNow(Arguments arguments, Link link, int handler, String[] methods) {
        WriteQueue.Outcome outcome = arguments.byteSize() > node.options().maxQueuedBytes()
                ? WriteQueue.Outcome.FULL
                : queue.tryPut(WanLayout.whole(arguments, link, handler), isReported(link));
        if (outcome == WriteQueue.Outcome.FULL) {
            throw new OverloadedException(peer + " receives too slowly: a request of "
                    + arguments.byteSize() + " bytes finds no room in the queue, expected at most "
                    + node.options().maxQueuedBytes() + " queued bytes (ContextOptions.maxQueuedBytes)");
        }
        return outcome == WriteQueue.Outcome.PUT;
    }

    /** Errors, out of memory included, end this connection and nothing else. */
    private void write() {
        try {
            writeAll();
        } catch (Throwable e) {
            giveUp(e);
        }
    }

    /**
     * Ends the connection; called by one of its two threads when it cannot go on. Notifies the other end first if there
     * is enough memory.
     */
    void giveUp(Throwable why) {
        Throwable first;
        synchronized (queue) {
            // the other thread fails, too, when the connection is closed; no atomics: their first use allocates
            first = firstFailure == null ? why : firstFailure;
            firstFailure = first;
        }
        try {
            connection.close();
        } catch (Throwable _) {
            // closing allocates memory; afterLoss closes it again
        }
        loseAtLast(first);
    }

    /**
     * As {@link #giveUp}, by another thread, whose own call fails. If memory is short, the thread that watches
     * deadlines does the rest.
     */
    void breakOff(String what, Throwable why) {
        String text = what;
        try {
            text = what + ": " + why;
            connection.close();
        } catch (Throwable _) {
            // afterLoss closes it again
        }
        lose(text);
    }

    @Override
    String reason(Throwable why) {
        if (why instanceof EOFException) {
            // not a pattern switch: its first execution allocates, and if that fails it fails for good
            return "it has closed its connection, or its process has died";
        }
        if (why instanceof SocketTimeoutException) {
            return "nothing was received from it for "
                    + node.options().silenceTimeout().toMillis() + " ms (ContextOptions.silenceTimeout)";
        }
        if (why instanceof InterruptedException) {
            return "its connection was closed at this end";
        }
        if (why instanceof Error) {
            return "its connection was closed at this end after an error: " + why;
        }
        return "its connection is lost: " + WanReader.text(why);
    }

    private void writeAll() throws IOException, InterruptedException {
        byte[] batch = new byte[SealedConnection.RECORD_BYTES];
        byte[] sign = new byte[WanLayout.HEADER_BYTES];
        MemorySegment.ofArray(sign).set(RequestLayout.INT, WanLayout.BULK_COUNT_OFFSET, SIGN);
        long pauseNs = TimeUnit.MILLISECONDS.toNanos(node.options().silenceTimeoutMs()) / SIGNS_PER_TIMEOUT;
        while (lost() == null) {
            byte[] first = queue.first(pauseNs);
            if (first != null) {
                writeSome(first, batch);
                if (queue.isEmpty()) {
                    node.wayIsFree(peer);
                }
            } else if (lost() == null && queue.isBetweenRequests()) {
                connection.write(sign, 0, sign.length);
            }
        }
    }

    /** Writes as many queued pieces as fit into a record, or one longer piece. */
    private void writeSome(byte[] first, byte[] batch) throws IOException {
        if (first.length > batch.length) {
            byte[] _ = queue.next(0);
            connection.write(first, 0, first.length);
            queue.written(first.length);
            return;
        }
        int filled = 0;
        for (byte[] piece = first; piece != null; piece = queue.next(batch.length - filled)) {
            System.arraycopy(piece, 0, batch, filled, piece.length);
            filled += piece.length;
        }
        connection.write(batch, 0, filled);
        queue.written(filled);
    }

    @Override
    boolean isDrained() {
        return queue.isEmpty();
    }

    @Override
    boolean awaitDrained(long timeoutNs) {
        return queue.awaitEmpty(timeoutNs);
    }

    @Override
    @Nullable
    String whyDisconnected() {
        return lost();
    }

    @Override
    void afterLoss(String why) {
        connection.close();
        boolean reported = queue.close();
        writer.interrupt();
        if (reported) {
            node.failures()
                    .sendFailed(
                            peer.number(),
                            new PeerFailedException(
                                    peer.number(),
                                    "what waited to be sent to " + peer + " by " + name() + " (" + address() + "): "
                                            + why));
        }
    }
}
