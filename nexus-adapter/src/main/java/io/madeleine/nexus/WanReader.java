package io.madeleine.nexus;

import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wan.SealedConnection;
import io.madeleine.nexus.wire.ArgumentMemory;
import io.madeleine.nexus.wire.BulkSource;
import io.madeleine.nexus.wire.Bytes;
import io.madeleine.nexus.wire.RequestLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests from a wide-area connection. It reads large arguments before the handler runs, if they have at most
 * {@link ArgumentMemory#FREE_BYTES} or the handler is non-threaded. Otherwise the handler reads them as it takes them,
 * and until then nothing else comes from this connection. Memory is allocated for bytes that have arrived, never for
 * announced bytes: it grows with them.
 *
 * <p>Threading: a thread of its own; while the handler of a request with large arguments reads in its place, it waits.
 */
final class WanReader implements Runnable {
    private static final int KEPT_BYTES = 1 << 20;
    private static final int FIRST_BYTES = 1024;

    private final Node node;
    private final WanRoute route;
    private final SealedConnection connection;
    private final Request request;
    private final IncrementalReader incremental;
    private final byte[] header = new byte[WanLayout.HEADER_BYTES];
    private final MemorySegment fields = MemorySegment.ofArray(header);
    private byte[] memory = new byte[FIRST_BYTES];

    WanReader(Node node, WanRoute route, SealedConnection connection) {
        this.node = node;
        this.route = route;
        this.connection = connection;
        this.request = new Request(node);
        this.incremental = new IncrementalReader(connection, node.argumentMemory());
    }

    @Override
    public void run() {
        try {
            while (route.lost() == null) {
                receive();
                boolean _ = Thread.interrupted(); // left behind by a handler, and not meant for the next one
            }
        } catch (Throwable e) { // out of memory, too
            route.giveUp(e); // never throws
        }
        incremental.release();
    }

    static String text(Throwable e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }

    private void receive() throws IOException {
        connection.readFully(header, 0, header.length);
        int bulks = fields.get(RequestLayout.INT, WanLayout.BULK_COUNT_OFFSET);
        if (bulks == WanRoute.SIGN) {
            return;
        }
        int inline = fields.get(RequestLayout.INT, WanLayout.INLINE_OFFSET);
        int maxBytes = node.options().maxRequestBytes();
        if (bulks < 0 || bulks > RequestLayout.MAX_BULKS || inline < 0) {
            throw new NexusException("a request with " + Integer.toUnsignedString(inline)
                    + " bytes of small arguments and " + Integer.toUnsignedString(bulks)
                    + " large ones was announced: expected at most " + maxBytes
                    + " bytes (ContextOptions.maxRequestBytes) and " + RequestLayout.MAX_BULKS);
        }
        long[] lengths = bulks == 0 ? new long[0] : lengths(bulks);
        if (inline > maxBytes) {
            tooLarge(inline, lengths, new TooLargeException(inline, maxBytes));
            return;
        }
        dispatch(Bytes.of(readSmall(inline)), inline, lengths);
        if (inline > KEPT_BYTES) {
            request.forget();
        }
    }

    /** Ends a request with too many small arguments, as {@link Receiver} does. */
    private void tooLarge(int inline, long[] lengths, TooLargeException why) throws IOException {
        int first = Math.min(inline, FIRST_BYTES);
        connection.readFully(memory, 0, first);
        connection.skip(inline - first);
        for (long length : lengths) {
            connection.skip(length);
        }
        int endpoint = fields.get(RequestLayout.INT, WanLayout.ENDPOINT_OFFSET);
        int handler = fields.get(RequestLayout.INT, WanLayout.HANDLER_OFFSET);
        if (endpoint == RequestLayout.SYSTEM_ENDPOINT) {
            request.begin(Bytes.of(memory), 0, first, route.peer.number());
            request.cutOff(String.valueOf(why.getMessage()));
            node.inbound().receive(request, endpoint, handler);
        } else {
            Refusal.Reason reason = mayRequest(endpoint) ? Refusal.Reason.TOO_LARGE : Refusal.Reason.NO_SUCH_ENDPOINT;
            node.inbound().refuse(route.peer.number(), endpoint, handler, reason);
        }
    }

    private byte[] readSmall(int bytes) throws IOException {
        if (bytes <= memory.length) {
            connection.readFully(memory, 0, bytes);
            return memory;
        }
        byte[] small = incremental.read(bytes);
        if (bytes <= KEPT_BYTES) {
            memory = small;
        }
        return small;
    }

    private long[] lengths(int count) throws IOException {
        byte[] bytes = incremental.read(count * Long.BYTES);
        long[] lengths = new long[count];
        for (int i = 0; i < count; i++) {
            lengths[i] = MemorySegment.ofArray(bytes).get(RequestLayout.LONG, (long) i * Long.BYTES);
            if (lengths[i] < RequestLayout.BULK_BYTES) {
                throw new NexusException("a large argument of " + lengths[i]
                        + " bytes was announced: expected at least " + RequestLayout.BULK_BYTES);
            }
        }
        return lengths;
    }

    private void dispatch(Bytes small, int inline, long[] lengths) throws IOException {
        int endpoint = fields.get(RequestLayout.INT, WanLayout.ENDPOINT_OFFSET);
        int handler = fields.get(RequestLayout.INT, WanLayout.HANDLER_OFFSET);
        if (!mayRequest(endpoint)) {
            for (long length : lengths) {
                connection.skip(length);
            }
            node.inbound().refuse(route.peer.number(), endpoint, handler, Refusal.Reason.NO_SUCH_ENDPOINT);
            return;
        }
        long bytes = sum(lengths);
        if (bytes > ArgumentMemory.FREE_BYTES && !node.inbound().takesLargeInPlace(endpoint, handler)) {
            Stream stream = new Stream(lengths, Thread.currentThread());
            receive(small, inline, lengths.length, stream);
            stream.awaitEnd();
            return;
        }
        MemorySegment[] blocks = incremental.readAll(lengths);
        if (blocks != null) {
            receive(small, inline, lengths.length, new BulkSource.Present(blocks));
            incremental.release();
        } else if (endpoint == RequestLayout.SYSTEM_ENDPOINT) {
            receive(small, inline, lengths.length, BulkSource.NO_ROOM);
        } else {
            node.inbound().refuse(route.peer.number(), endpoint, handler, Refusal.Reason.OVERLOADED);
        }
    }

    private boolean mayRequest(int endpoint) {
        return endpoint == RequestLayout.SYSTEM_ENDPOINT
                || node.grants()
                        .allow(
                                route.peer.number(),
                                node.find(endpoint),
                                fields.get(RequestLayout.LONG, WanLayout.GRANT_OFFSET),
                                fields.get(RequestLayout.LONG, WanLayout.GRANT_REST_OFFSET));
    }

    private void receive(Bytes small, int inline, int count, BulkSource bulks) {
        request.begin(small, 0, inline, route.peer.number(), count, bulks);
        node.inbound()
                .receive(
                        request,
                        fields.get(RequestLayout.INT, WanLayout.ENDPOINT_OFFSET),
                        fields.get(RequestLayout.INT, WanLayout.HANDLER_OFFSET));
    }

    private static long sum(long[] lengths) {
        long sum = 0;
        for (long length : lengths) {
            sum = Math.min(Long.MAX_VALUE / 2, sum + Math.min(length, Long.MAX_VALUE / 2));
        }
        return sum;
    }

    /** Large arguments that the handler reads from the connection. */
    private final class Stream implements BulkSource {
        private final long[] lengths;
        private final Thread reader;
        private int taken;

        /** The next argument, if it was received before memory for it was allocated. */
        private byte @Nullable [] expected;

        private volatile boolean over;

        Stream(long[] lengths, Thread reader) {
            this.lengths = lengths;
            this.reader = reader;
        }

        @Override
        public void take(MemorySegment target, long offset, long bytes) {
            check(bytes);
            byte[] here = expected;
            if (here != null) {
                expected = null;
                MemorySegment.copy(here, 0, target, RequestLayout.BYTE, offset, here.length);
                taken++;
                return;
            }
            try {
                connection.readFully(target, offset, bytes);
                taken++;
            } catch (IOException e) {
                throw lost(e);
            } catch (RuntimeException | Error e) { // of the target memory, or out of memory
                route.breakOff("an argument could not be read", e);
                throw e;
            }
        }

        private void check(long bytes) {
            if (bytes != lengths[taken]) {
                throw new NexusException("the request from " + route.peer + " says that a large argument has " + bytes
                        + " bytes, and brings " + lengths[taken]);
            }
        }

        private PeerFailedException lost(IOException why) {
            route.lose("its connection is lost: " + text(why));
            return new PeerFailedException(route.peer.number(), "an argument was cut off: " + text(why));
        }

        @Override
        public void expect(long bytes) {
            check(bytes);
            if (expected == null && bytes > ArgumentMemory.FREE_BYTES) {
                expected = read(bytes);
            }
        }

        private byte[] read(long bytes) {
            try {
                return incremental.read((int) bytes);
            } catch (IOException e) {
                throw lost(e);
            } catch (RuntimeException | Error e) { // out of memory, for instance
                route.breakOff("an argument could not be read", e);
                throw e;
            }
        }

        @Override
        public long awaitedBytes() {
            return sum(Arrays.copyOfRange(lengths, taken, lengths.length));
        }

        @Override
        public BulkSource receiveAll() {
            MemorySegment[] blocks = new MemorySegment[lengths.length - taken];
            for (int i = 0; i < blocks.length; i++, taken++) {
                byte[] here = expected;
                expected = null;
                blocks[i] = MemorySegment.ofArray(here != null ? here : read(lengths[taken]));
            }
            close();
            return new Present(blocks);
        }

        @Override
        public void close() {
            over = true;
            LockSupport.unpark(reader);
        }

        void awaitEnd() throws IOException {
            while (!over && route.lost() == null) {
                boolean _ = Thread.interrupted(); // left behind by a handler; park would not wait
                LockSupport.park(this);
            }
            if (over && expected != null) {
                taken++;
            }
            for (; over && taken < lengths.length && route.lost() == null; taken++) {
                connection.skip(lengths[taken]);
            }
        }
    }
}
