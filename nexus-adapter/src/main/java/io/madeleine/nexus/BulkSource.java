package io.madeleine.nexus;

import java.lang.foreign.MemorySegment;

/** Where the large arguments of a request come from. */
interface BulkSource {
    /** Takes the next one, which has that many bytes. */
    void take(MemorySegment target, long offset, long bytes);

    /**
     * The next one is asked for, and memory for that many bytes is going to be taken: what was only announced is received before.
     */
    default void expect(long bytes) {}

    /** The others are not asked for. */
    void close();

    /** What is left, for another thread; this object may serve another request. */
    default BulkSource detach() {
        return this;
    }

    /** How many bytes are left that are not in this process yet, as far as they are known. */
    default long awaitedBytes() {
        return 0;
    }

    /** Receives what is left, into memory of this process. */
    default BulkSource receiveAll() {
        return this;
    }

    /** Large arguments that have been dropped, since there was no memory for them. */
    BulkSource NO_ROOM = new BulkSource() {
        @Override
        public void take(MemorySegment target, long offset, long bytes) {
            expect(bytes);
        }

        @Override
        public void expect(long bytes) {
            throw new OverloadedException("a large argument of " + bytes + " bytes was dropped: as much as"
                    + " ContextOptions.maxReceivedBytes allows has been received already, or one request may have no"
                    + " more than a quarter of it");
        }

        @Override
        public void close() {}
    };

    /** Large arguments that are here. */
    final class Present implements BulkSource {
        private final MemorySegment[] blocks;
        private int taken;

        Present(MemorySegment[] blocks) {
            this.blocks = blocks;
        }

        @Override
        public void take(MemorySegment target, long offset, long bytes) {
            MemorySegment block = blocks[taken];
            if (block.byteSize() != bytes) {
                throw new NexusException(
                        "a large argument is said to have " + bytes + " bytes, and has " + block.byteSize());
            }
            taken++;
            MemorySegment.copy(block, 0, target, offset, bytes);
        }

        @Override
        public void close() {}
    }
}
