package io.madeleine.nexus;

import java.lang.foreign.MemorySegment;

/** Where the large arguments of a request come from. */
interface BulkSource {
    /** Takes the next one, which has that many bytes. */
    void take(MemorySegment target, long offset, long bytes);

    /** The others are not asked for. */
    void close();

    /** What is left, for another thread; this object may serve another request. */
    default BulkSource detach() {
        return this;
    }

    /** Large arguments that are here. */
    final class Present implements BulkSource {
        private final MemorySegment[] blocks;
        private int taken;

        Present(MemorySegment[] blocks) {
            this.blocks = blocks;
        }

        @Override
        public void take(MemorySegment target, long offset, long bytes) {
            MemorySegment.copy(blocks[taken++], 0, target, offset, bytes);
        }

        @Override
        public void close() {}
    }
}
