package io.madeleine.nexus;

import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.foreign.MemorySegment;

/**
 * The layout of a request on a wide-area connection. All numbers are little-endian.
 *
 * <pre>
 *  0        4          8         12       16      32                 32+8*bulks
 *  | bulks  | endpoint | handler | inline | grant | lengths of bulks | arguments | bulk | bulk ...
 * </pre>
 *
 * <p>{@code bulks} is the number of large arguments, {@code inline} the length of the small ones, {@code grant} what
 * permits a context of another session to call the endpoint ({@link Link}).
 *
 * <p>Threading: stateless.
 */
final class WanLayout {
    static final int BULK_COUNT_OFFSET = 0;
    static final int ENDPOINT_OFFSET = 4;
    static final int HANDLER_OFFSET = 8;
    static final int INLINE_OFFSET = 12;
    static final int GRANT_OFFSET = 16;
    static final int GRANT_REST_OFFSET = 24;
    static final int HEADER_BYTES = 32;

    private WanLayout() {}

    /** The request without its large arguments. */
    static byte[] head(Arguments arguments, Link link, int handler) {
        return bytes(arguments, link, handler, 0);
    }

    /** The whole request; at most 2 GiB. */
    static byte[] whole(Arguments arguments, Link link, int handler) {
        byte[] whole = bytes(arguments, link, handler, (int) (arguments.byteSize() - arguments.inlineBytes()));
        int offset = whole.length;
        for (int i = arguments.bulkCount() - 1; i >= 0; i--) {
            MemorySegment bulk = arguments.bulk(i);
            offset -= (int) bulk.byteSize();
            MemorySegment.copy(bulk, RequestLayout.BYTE, 0, whole, offset, (int) bulk.byteSize());
        }
        return whole;
    }

    private static byte[] bytes(Arguments arguments, Link link, int handler, int moreBytes) {
        int bulks = arguments.bulkCount();
        int lengthBytes = bulks * Long.BYTES;
        int inline = arguments.inlineBytes();
        byte[] bytes = new byte[HEADER_BYTES + lengthBytes + inline + moreBytes];
        MemorySegment head = MemorySegment.ofArray(bytes);
        head.set(RequestLayout.INT, BULK_COUNT_OFFSET, bulks);
        head.set(RequestLayout.INT, ENDPOINT_OFFSET, link.endpoint());
        head.set(RequestLayout.INT, HANDLER_OFFSET, handler);
        head.set(RequestLayout.INT, INLINE_OFFSET, inline);
        head.set(RequestLayout.LONG, GRANT_OFFSET, link.grant());
        head.set(RequestLayout.LONG, GRANT_REST_OFFSET, link.grantRest());
        for (int i = 0; i < bulks; i++) {
            long bulkBytes = arguments.bulk(i).byteSize();
            head.set(RequestLayout.LONG, HEADER_BYTES + (long) i * Long.BYTES, bulkBytes);
        }
        arguments.copyInline(head, HEADER_BYTES + (long) lengthBytes);
        return bytes;
    }
}
