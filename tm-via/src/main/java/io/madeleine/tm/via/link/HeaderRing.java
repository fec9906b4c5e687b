package io.madeleine.tm.via.link;

/**
 * The headers of packets of {@code via/rdma} that have arrived.
 *
 * <p>Threading: guarded by the receiver's lock.
 */
final class HeaderRing {
    private final long[] headers;
    private int first;
    private int count;

    HeaderRing(int capacity) {
        headers = new long[capacity];
    }

    /** Adds a header; false if the ring is full. */
    boolean add(long header) {
        if (count == headers.length) {
            return false;
        }
        headers[(first + count++) % headers.length] = header;
        return true;
    }

    boolean isEmpty() {
        return count == 0;
    }

    int count() {
        return count;
    }

    long front() {
        return headers[first];
    }

    /** The i-th header, 0 being the one in front. */
    long get(int i) {
        return headers[(first + i) % headers.length];
    }

    void remove() {
        first = (first + 1) % headers.length;
        count--;
    }
}
