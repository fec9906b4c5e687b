package io.madeleine.nexus.wire;

import io.madeleine.nexus.NexusException;
import io.madeleine.nexus.OverloadedException;
import java.lang.foreign.MemorySegment;

/** The source of the large arguments of a request. */
public interface BulkSource {
    /** Takes the next argument, which has that many bytes. */
    void take(MemorySegment target, long offset, long bytes);

    /**
     * Called before memory for the next argument is allocated: a source that only knows an announced length receives
     * the argument first, so that no memory is allocated for bytes that never come.
     */
    default void expect(long bytes) {}

    /** Drops the arguments that were not taken. */
    void close();

    /** Moves the arguments that are left to a source for another thread; this object may serve another request. */
    default BulkSource detach() {
        return this;
    }

    /** The number of bytes, as far as known, that have not arrived in this process yet. */
    default long awaitedBytes() {
        return 0;
    }

    /** Receives the arguments that are left into memory of this process. */
    default BulkSource receiveAll() {
        return this;
    }

    /** Large arguments that were dropped because {@link ArgumentMemory} had no room. */
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

    /** Large arguments that have arrived. */
    final class Present implements BulkSource {
        private final MemorySegment[] blocks;
        private int taken;

        public Present(MemorySegment[] blocks) {
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
