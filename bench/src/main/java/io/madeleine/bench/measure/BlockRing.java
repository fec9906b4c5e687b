package io.madeleine.bench.measure;

import java.lang.foreign.MemorySegment;

/**
 * The blocks of one direction, as {@link Buffers} says.
 *
 * <p>Threading: confined to caller. The memory is the wire's.
 */
final class BlockRing {
    /** More than any cache holds. */
    static final long ROTATED_BYTES = 64L << 20;

    private static final long PAGE_BYTES = 4096;
    private static final long LINE_BYTES = 64;

    private final Buffers kind;
    private final long bytes;
    private final Block[] blocks;
    private int last;

    /** @param region memory of {@link #regionBytes} */
    BlockRing(Buffers kind, long bytes, MemorySegment region) {
        this.kind = kind;
        this.bytes = bytes;
        long stride = strideBytes(bytes);
        this.blocks = new Block[kind == Buffers.ROTATE ? (int) Math.max(2, ROTATED_BYTES / stride) : 1];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = Block.of(region.asSlice(i * stride, bytes));
        }
    }

    /** A line more than pages, so that small blocks do not all fall into the same set of the caches. */
    private static long strideBytes(long bytes) {
        return Math.max(PAGE_BYTES, (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES) + LINE_BYTES;
    }

    /** How much memory blocks of this size need. */
    static long regionBytes(Buffers kind, long bytes) {
        return kind == Buffers.ROTATE ? Math.max(2 * strideBytes(bytes), ROTATED_BYTES) : bytes;
    }

    /** The block of the next message. */
    Block next() {
        if (kind == Buffers.FRESH) {
            blocks[0] = Block.of(MemorySegment.ofArray(new byte[(int) bytes]));
            return blocks[0];
        }
        last = last + 1 == blocks.length ? 0 : last + 1;
        return blocks[last];
    }

    /** The block that {@link #next} gave last. */
    Block last() {
        return blocks[last];
    }

    /** How many blocks take turns. */
    int count() {
        return blocks.length;
    }

    /** Writes the contents of one message into all blocks. */
    void fill(long number) {
        for (Block block : blocks) {
            Contents.fill(block.memory(), bytes, number);
        }
    }

    void clear() {
        for (Block block : blocks) {
            block.memory().fill((byte) 0);
        }
    }
}
