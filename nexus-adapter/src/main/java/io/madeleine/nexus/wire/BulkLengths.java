package io.madeleine.nexus.wire;

import io.madeleine.nexus.NexusException;
import java.util.Arrays;

/**
 * The lengths of the large arguments of a request on a channel, which its sender has put behind the small ones; see
 * {@link RequestLayout}.
 *
 * <p>Threading: confined to caller.
 */
public final class BulkLengths {
    private static final int KEPT = 16;

    private long[] bytes = new long[2];
    private int count;
    private int tableBytes;

    /** Reads the table at the end of the small arguments, which reach from {@code start} to {@code end}. */
    public void read(Bytes inline, int start, int end) {
        int tail = end - start < Integer.BYTES + Long.BYTES ? 0 : inline.getInt(end - Integer.BYTES);
        count = tail < 0 ? -tail : 1;
        tableBytes = tail < 0 ? (count + 1) * Integer.BYTES : Integer.BYTES;
        if (tail == Integer.MIN_VALUE || count > RequestLayout.MAX_BULKS || tableBytes > end - start) {
            throw new NexusException("a request with " + Integer.toUnsignedString(count)
                    + " large arguments was announced in " + (end - start) + " bytes of small ones: expected at most "
                    + RequestLayout.MAX_BULKS + ", and where the length of each is");
        }
        if (count > bytes.length || bytes.length > Math.max(KEPT, count)) {
            bytes = new long[count];
        }
        int last = end - tableBytes - Long.BYTES;
        for (int i = 0; i < count; i++) {
            int at = inline.getInt(end - tableBytes + i * Integer.BYTES);
            bytes[i] = at < 0 || at > last - start ? 0 : RequestLayout.bulkBytes(inline, start + at);
            if (bytes[i] < RequestLayout.BULK_BYTES) {
                throw new NexusException("the length of a large argument is said to be at byte "
                        + Integer.toUnsignedString(at) + " of a request with " + (end - start)
                        + " bytes of small ones, and is not there");
            }
        }
    }

    /** The number of large arguments. */
    public int count() {
        return count;
    }

    /** The length of the table, which is no argument, in bytes. */
    public int tableBytes() {
        return tableBytes;
    }

    public long get(int index) {
        return bytes[index];
    }

    /** The sum of the lengths from one argument on; saturates instead of overflowing. */
    public long sum(int from) {
        long sum = 0;
        for (int i = from; i < count; i++) {
            sum = Math.min(Long.MAX_VALUE / 2, sum + Math.min(bytes[i], Long.MAX_VALUE / 2));
        }
        return sum;
    }

    /** A copy for another thread. */
    public BulkLengths copy() {
        BulkLengths copied = new BulkLengths();
        copied.bytes = Arrays.copyOf(bytes, count);
        copied.count = count;
        return copied;
    }
}
