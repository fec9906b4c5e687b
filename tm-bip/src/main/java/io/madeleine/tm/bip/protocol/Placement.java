package io.madeleine.tm.bip.protocol;

import java.lang.foreign.MemorySegment;

/**
 * Puts bytes of a stream at their final address.
 *
 * <p>Threading: called under the connection's lock.
 */
public interface Placement {
    /** Places nothing. */
    Placement NOWHERE = (_, _, _, bytes) -> -bytes;

    /**
     * Places bytes of a datagram.
     *
     * @param offset the offset of the first byte in the stream
     * @param bytes how many there are, above 0
     * @return how many bytes from the first on were placed, above 0; or, negated, how many from the first on have no
     *     place
     */
    int place(long offset, MemorySegment source, long position, int bytes);
}
