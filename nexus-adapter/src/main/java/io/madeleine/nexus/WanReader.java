package io.madeleine.nexus;

import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wan.SealedConnection;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketTimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes requests from a connection. Large arguments up to {@link #PRESENT_BYTES} are taken first, so that a handler never
 * waits for them; those of larger requests come as the handler asks for them, and until then nothing else comes from there.
 *
 * <p>Threading: a virtual thread; the handler of a request with large arguments reads in its place until it is through.
 */
final class WanReader implements Runnable {
    /** In all, per connection. */
    private static final long PRESENT_BYTES = 1 << 20;

    private static final int KEPT_BYTES = 1 << 20;

    private final Node node;
    private final WanWay way;
    private final SealedConnection connection;
    private final Request request;
    private final byte[] header = new byte[WanLayout.HEADER_BYTES];
    private final MemorySegment fields = MemorySegment.ofArray(header);
    private byte[] memory = new byte[1024];

    WanReader(Node node, WanWay way, SealedConnection connection) {
        this.node = node;
        this.way = way;
        this.connection = connection;
        this.request = new Request(node);
    }

    @Override
    public void run() {
        String why;
        try {
            while (way.lost() == null) {
                receive();
            }
            return;
        } catch (EOFException e) {
            why = "it has closed its connection, or died";
        } catch (SocketTimeoutException e) {
            why = "no sign of it for " + node.options().silenceTimeout().toMillis()
                    + " ms (ContextOptions.silenceTimeout)";
        } catch (Throwable e) { // memory that is short, too
            why = "its connection is lost: " + text(e);
        }
        way.lose(why);
    }

    static String text(Throwable e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }

    private void receive() throws IOException {
        connection.readFully(header, 0, header.length);
        int bulks = fields.get(Wire.INT, WanLayout.BULK_COUNT_OFFSET);
        if (bulks == WanWay.SIGN) {
            return;
        }
        int inline = fields.get(Wire.INT, WanLayout.INLINE_OFFSET);
        int maxBytes = node.options().maxRequestBytes();
        if (bulks < 0 || bulks > Wire.MAX_BULKS || inline < 0 || inline > maxBytes) {
            throw new NexusException("a request with " + Integer.toUnsignedString(inline)
                    + " bytes of small arguments and " + Integer.toUnsignedString(bulks)
                    + " large ones was announced: expected at most " + maxBytes
                    + " bytes (ContextOptions.maxRequestBytes) and " + Wire.MAX_BULKS);
        }
        long[] lengths = bulks == 0 ? new long[0] : lengths(bulks);
        byte[] small = inline <= memory.length ? memory : room(inline);
        connection.readFully(small, 0, inline);
        dispatch(Bytes.of(small), inline, lengths);
    }

    private long[] lengths(int count) throws IOException {
        byte[] bytes = new byte[count * Long.BYTES];
        connection.readFully(bytes, 0, bytes.length);
        long[] lengths = new long[count];
        for (int i = 0; i < count; i++) {
            lengths[i] = MemorySegment.ofArray(bytes).get(Wire.LONG, (long) i * Long.BYTES);
            if (lengths[i] < Wire.BULK_BYTES) {
                throw new NexusException("a large argument of " + lengths[i]
                        + " bytes was announced: expected at least " + Wire.BULK_BYTES);
            }
        }
        return lengths;
    }

    private byte[] room(int bytes) {
        byte[] larger = new byte[bytes];
        if (bytes <= KEPT_BYTES) {
            memory = larger;
        }
        return larger;
    }

    private void dispatch(Bytes small, int inline, long[] lengths) throws IOException {
        BulkSource bulks;
        Stream stream = null;
        if (isSmall(lengths)) {
            MemorySegment[] blocks = new MemorySegment[lengths.length];
            for (int i = 0; i < blocks.length; i++) {
                byte[] block = new byte[(int) lengths[i]];
                connection.readFully(block, 0, block.length);
                blocks[i] = MemorySegment.ofArray(block);
            }
            bulks = new BulkSource.Present(blocks);
        } else {
            stream = new Stream(lengths, Thread.currentThread());
            bulks = stream;
        }
        request.begin(small, 0, inline, way.peer.number(), lengths.length, bulks);
        int endpoint = fields.get(Wire.INT, WanLayout.ENDPOINT_OFFSET);
        int handler = fields.get(Wire.INT, WanLayout.HANDLER_OFFSET);
        if (mayRequest(endpoint)) {
            node.inbound().receive(request, endpoint, handler);
        } else {
            node.inbound().refuse(request, endpoint, handler, Refusal.Reason.NO_SUCH_ENDPOINT);
        }
        if (stream != null) {
            stream.awaitEnd();
        }
    }

    private boolean mayRequest(int endpoint) {
        return endpoint == Wire.SYSTEM_ENDPOINT
                || node.grants()
                        .allow(
                                way.peer.number(),
                                node.find(endpoint),
                                fields.get(Wire.LONG, WanLayout.GRANT_OFFSET),
                                fields.get(Wire.LONG, WanLayout.GRANT_REST_OFFSET));
    }

    private static boolean isSmall(long[] lengths) {
        long sum = 0;
        for (long length : lengths) {
            sum += Math.min(length, PRESENT_BYTES + 1);
        }
        return sum <= PRESENT_BYTES;
    }

    /** Large arguments that are on their way. */
    private final class Stream implements BulkSource {
        private final long[] lengths;
        private final Thread reader;
        private int taken;
        private volatile boolean over;

        Stream(long[] lengths, Thread reader) {
            this.lengths = lengths;
            this.reader = reader;
        }

        @Override
        public void take(MemorySegment target, long offset, long bytes) {
            if (bytes != lengths[taken]) {
                throw new NexusException("the request from " + way.peer + " says that a large argument has " + bytes
                        + " bytes, and brings " + lengths[taken]);
            }
            try {
                connection.readFully(target, offset, bytes);
                taken++;
            } catch (IOException e) {
                way.lose("its connection is lost: " + text(e));
                throw new PeerFailedException(way.peer.number(), "an argument does not come whole: " + text(e));
            } catch (RuntimeException e) { // of the target
                way.lose("an argument could not be taken: " + e);
                throw e;
            }
        }

        @Override
        public void close() {
            over = true;
            LockSupport.unpark(reader);
        }

        void awaitEnd() throws IOException {
            while (!over && way.lost() == null) {
                LockSupport.park(this);
            }
            for (; taken < lengths.length && way.lost() == null; taken++) {
                connection.skip(lengths[taken]);
            }
        }
    }
}
