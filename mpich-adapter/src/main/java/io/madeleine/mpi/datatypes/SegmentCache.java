package io.madeleine.mpi.datatypes;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * The segments of buffers that programs use again and again, so that a message allocates nothing. It keeps neither
 * buffers nor segments reachable.
 *
 * <p>Threading: thread-safe; a lost entry is made again.
 */
public final class SegmentCache {
    private static final int PLACES = 64;

    private final @Nullable Entry[] entries = new Entry[PLACES];

    private static final class Entry {
        private final WeakReference<Object> buffer;
        private final WeakReference<MemorySegment> segment;

        Entry(Object buffer, MemorySegment segment) {
            this.buffer = new WeakReference<>(buffer);
            this.segment = new WeakReference<>(segment);
        }
    }

    /** An empty cache. */
    public SegmentCache() {}

    /** As {@link Buffers#memory}. */
    public MemorySegment memory(Object buffer) {
        int place = System.identityHashCode(buffer) & PLACES - 1;
        Entry entry = entries[place];
        if (entry != null && entry.buffer.refersTo(buffer)) {
            MemorySegment known = entry.segment.get();
            if (known != null) {
                return known;
            }
        }
        MemorySegment made = Buffers.memory(buffer);
        entries[place] = new Entry(buffer, made);
        return made;
    }
}
