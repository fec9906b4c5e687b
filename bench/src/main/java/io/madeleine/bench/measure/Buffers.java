package io.madeleine.bench.measure;

import java.util.Locale;

/** Which memory the messages of a stream or of round trips are in. */
public enum Buffers {
    /** The same block each time: the caches hold it. */
    SAME,
    /** Blocks at least a page apart, over 64 MiB. */
    ROTATE,
    /** A new array on the heap for each message. */
    FRESH;

    /** How much memory the messages of one direction need, of this size or smaller. */
    public long memoryBytes(long bytes) {
        return BlockRing.regionBytes(this, bytes);
    }

    /** As in options and results. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
