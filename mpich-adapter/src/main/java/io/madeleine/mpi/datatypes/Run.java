package io.madeleine.mpi.datatypes;

/**
 * Ranges of equal length at equal distances in an item of a datatype.
 *
 * @param offset where the first one begins, relative to the item, in bytes; may be negative
 * @param bytes the length of each
 * @param strideBytes the distance from one to the next
 * @param count how many there are
 * @param elementBytes the length of a basic element in them
 */
record Run(long offset, long bytes, long strideBytes, int count, int elementBytes) {
    /** Throws if a long cannot hold the size, or where the ranges lie. */
    Run {
        long _ = Length.SIZE.times(count, bytes);
        long span = Length.DISPLACEMENT.times(Math.max(0, count - 1), strideBytes);
        long last = Length.DISPLACEMENT.sum(offset, span);
        long _ = Length.DISPLACEMENT.sum(Math.max(offset, last), bytes);
    }

    static Run single(long offset, long bytes, int elementBytes) {
        return new Run(offset, bytes, bytes, 1, elementBytes);
    }

    Run shifted(long by) {
        return new Run(Length.DISPLACEMENT.sum(offset, by), bytes, strideBytes, count, elementBytes);
    }

    long size() {
        return bytes * count;
    }

    long first() {
        return Math.min(offset, offset + strideBytes * (count - 1));
    }

    long last() {
        return Math.max(offset, offset + strideBytes * (count - 1)) + bytes;
    }

    /** Whether the other begins where this one ends, so that both are one. */
    boolean isContinuedBy(Run other) {
        return count == 1 && other.count == 1 && offset + bytes == other.offset && elementBytes == other.elementBytes;
    }
}
