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
    private static final int PLACES = 256;

    /** So many buffers may have the same hash code, by chance, and do not displace each other. */
    static final int WAYS = 8;

    private final @Nullable Entry[] entries = new Entry[PLACES];

    /** Counts displaced entries, so that each place of a full row has its turn. */
    private int displaced;

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
        int hash = System.identityHashCode(buffer);
        for (int way = 0; way < WAYS; way++) {
            Entry entry = entries[place(hash, way)];
            if (entry == null) {
                break; // places are filled in order
            }
            if (entry.buffer.refersTo(buffer)) {
                MemorySegment known = entry.segment.get();
                if (known != null) {
                    return known;
                }
            }
        }
        MemorySegment made = Buffers.memory(buffer);
        entries[freePlace(hash)] = new Entry(buffer, made);
        return made;
    }

    private static int place(int hash, int way) {
        return hash + way & PLACES - 1;
    }

    /** The first place of a row that serves no buffer any more, or else one that does. */
    private int freePlace(int hash) {
        for (int way = 0; way < WAYS; way++) {
            Entry entry = entries[place(hash, way)];
            if (entry == null || entry.segment.refersTo(null)) {
                return place(hash, way);
            }
        }
        return place(hash, displaced++ & WAYS - 1);
    }
}
