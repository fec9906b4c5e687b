package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestBlocks.block;

import io.madeleine.api.BlockLayout;
import io.madeleine.testkit.ContractViolation;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** A random layout with gaps, over heap memory and other memory, and where each of its parts lies. */
final class ScatteredBlock {
    private static final byte BETWEEN = 0x77;

    private final int number;
    private final List<MemorySegment> memory;
    private final BlockLayout layout;

    ScatteredBlock(int number, int bytes, Random random, Arena confined) {
        this.number = number;
        List<int[]> pieces = pieces(bytes, random); // bytes, stride, count
        long[] extents = new long[2];
        List<long[]> places = new ArrayList<>();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < pieces.size(); i++) {
            order.add(i);
            places.add(new long[2]);
        }
        Collections.shuffle(order, random);
        for (int i : order) {
            int[] piece = pieces.get(i);
            int where = random.nextInt(2);
            long extent = (long) piece[1] * piece[2];
            boolean backward = random.nextInt(4) == 0;
            long first = extents[where] + (backward ? extent - piece[1] : 0);
            if (backward) {
                piece[1] = -piece[1];
            }
            places.set(i, new long[] {where, first});
            extents[where] += extent + random.nextInt(3);
        }
        MemorySegment heap = MemorySegment.ofArray(new byte[(int) extents[0] + 1]);
        MemorySegment other = random.nextInt(4) == 0 ? confined.allocate(extents[1] + 1) : block(extents[1] + 1);
        this.memory = List.of(heap.fill(BETWEEN), other.fill(BETWEEN));
        List<BlockLayout.Part> parts = new ArrayList<>();
        for (int i = 0; i < pieces.size(); i++) {
            int[] piece = pieces.get(i);
            long[] place = places.get(i);
            parts.add(new BlockLayout.Part(memory.get((int) place[0]), place[1], piece[0], piece[1], piece[2]));
        }
        this.layout = BlockLayout.of(parts);
    }

    private static List<int[]> pieces(int bytes, Random random) {
        List<int[]> pieces = new ArrayList<>();
        int left = bytes;
        while (left > 0) {
            int longest = random.nextInt(3) == 0 ? left : Math.min(left, 1 + bytes / 50);
            int range = 1 + random.nextInt(longest);
            int count = 1 + random.nextInt(Math.min(40, left / range));
            pieces.add(new int[] {range, range + random.nextInt(20), count});
            left -= range * count;
        }
        return pieces;
    }

    BlockLayout layout() {
        return layout;
    }

    /** Writes the contents of its number into the ranges, byte by byte. */
    ScatteredBlock fill() {
        MemorySegment flat = Pattern.fill(number, MemorySegment.ofArray(new byte[(int) layout.byteSize()]));
        forEachRange((segment, offset, position, bytes) -> MemorySegment.copy(flat, position, segment, offset, bytes));
        return this;
    }

    void spoil() {
        memory.forEach(segment -> segment.fill((byte) 0xA5));
    }

    /** Checks that the ranges have the contents and that the gaps are untouched. */
    void check() {
        MemorySegment flat = MemorySegment.ofArray(new byte[(int) layout.byteSize()]);
        forEachRange((segment, offset, position, bytes) -> {
            MemorySegment.copy(segment, offset, flat, position, bytes);
            segment.asSlice(offset, bytes).fill(BETWEEN);
        });
        Pattern.check(number, flat);
        for (MemorySegment segment : memory) {
            MemorySegment untouched = MemorySegment.ofArray(new byte[(int) segment.byteSize()]);
            if (segment.mismatch(untouched.fill(BETWEEN)) != -1) {
                throw new ContractViolation("a byte between the ranges was written: " + layout);
            }
        }
    }

    private interface Range {
        void at(MemorySegment segment, long offset, long position, long bytes);
    }

    private void forEachRange(Range range) {
        long position = 0;
        for (int i = 0; i < layout.partCount(); i++) {
            BlockLayout.Part part = layout.part(i);
            for (int j = 0; j < part.count(); j++, position += part.bytes()) {
                range.at(part.segment(), part.offset() + j * part.strideBytes(), position, part.bytes());
            }
        }
    }
}
