package io.madeleine.tm.tcp.stream;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A cache of byte buffers over native segments, because creating one allocates. The references are weak: the cache
 * does not extend the life of user memory.
 *
 * <p>Threading: confined to the thread that holds the lock of its direction.
 */
final class SegmentViews {
    private static final int CAPACITY = 16;

    private final WeakReference<View>[] views;
    private int victim;

    @SuppressWarnings({"unchecked", "rawtypes"})
    SegmentViews() {
        views = new WeakReference[CAPACITY];
    }

    private static final class View {
        private final MemorySegment segment;
        private final ByteBuffer buffer;

        View(MemorySegment segment) {
            this.segment = segment;
            this.buffer = segment.asByteBuffer();
        }

        /**
         * Whether the segment is the same memory with the same lifetime and access mode. Equal segments begin at the
         * same address.
         */
        boolean isOf(MemorySegment other) {
            return segment.equals(other)
                    && segment.byteSize() == other.byteSize()
                    && segment.scope().equals(other.scope())
                    && segment.isReadOnly() == other.isReadOnly();
        }
    }

    /**
     * Returns a buffer whose position and limit enclose a range of a native segment. Ownership: valid until the next
     * call.
     */
    ByteBuffer view(MemorySegment segment, long offset, long bytes) {
        if (segment.byteSize() > Integer.MAX_VALUE) {
            return segment.asSlice(offset, bytes).asByteBuffer();
        }
        View view = find(segment);
        if (view == null) {
            view = new View(segment);
            views[victim] = new WeakReference<>(view);
            victim = (victim + 1) % CAPACITY;
        }
        return view.buffer.limit((int) (offset + bytes)).position((int) offset);
    }

    private @Nullable View find(MemorySegment segment) {
        for (WeakReference<View> reference : views) {
            View view = reference == null ? null : reference.get();
            if (view != null && view.isOf(segment)) {
                return view;
            }
        }
        return null;
    }
}
