package io.madeleine.mpi.datatypes;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A datatype: a type map (MPI 4.1, section 5.1) as runs of bytes, in order, with bounds. A type without gaps is dense:
 * its items are moved as one range. All lengths are in bytes. A type is not made if a long cannot hold its size, its
 * extent, or where its data lies: an {@link MpiFault} says which.
 *
 * <p>Threading: immutable.
 */
public final class Type {
    /** How many separate ranges a message may have: while it is under way each takes some 100 bytes of the heap. */
    private static final int MOST_RUNS = 1 << 23;

    private final Basic basic;
    private final @Nullable Pair pair;
    private final List<Run> runs;
    private final long size;
    private final long lb;
    private final long ub;
    private final long extent;
    /** Whether a lower bound was set, and whether an upper one was: each then replaces that of the data. */
    private final boolean hasLb;

    private final boolean hasUb;
    private final int alignment;
    private final boolean dense;
    private final boolean uniform;

    private Type(Basic basic, @Nullable Pair pair, List<Run> runs, long lb, long ub, boolean hasBounds, int alignment) {
        this(basic, pair, runs, lb, ub, hasBounds, hasBounds, alignment);
    }

    private Type(
            Basic basic,
            @Nullable Pair pair,
            List<Run> runs,
            long lb,
            long ub,
            boolean hasLb,
            boolean hasUb,
            int alignment) {
        this.basic = basic;
        this.pair = pair;
        this.runs = List.copyOf(runs);
        this.size = runs.stream().mapToLong(Run::size).reduce(0, Length.SIZE::sum);
        this.lb = lb;
        this.ub = ub;
        this.extent = Length.EXTENT.between(lb, ub);
        long _ = Length.EXTENT.between(trueLb(), trueUb());
        this.hasLb = hasLb;
        this.hasUb = hasUb;
        this.alignment = alignment;
        this.dense = isOneRange();
        this.uniform = runs.stream().allMatch(run -> run.elementBytes() == basic.bytes());
    }

    private boolean isOneRange() {
        if (runs.isEmpty()) {
            return true;
        }
        Run first = runs.getFirst();
        return runs.size() == 1 && first.count() == 1 && first.offset() == lb && size == extent;
    }

    // ---- making types

    /** The type of one element. */
    public static Type of(Basic basic) {
        if (basic == Basic.NONE) {
            return new Type(basic, null, List.of(), 0, 0, false, 1);
        }
        int bytes = basic.bytes();
        return new Type(basic, null, List.of(Run.single(0, bytes, bytes)), 0, bytes, false, bytes);
    }

    /** The mark of a lower bound: no data. */
    public static Type lowerBound() {
        return new Type(Basic.NONE, null, List.of(), 0, 0, true, false, 1);
    }

    /** The mark of an upper bound: no data. */
    public static Type upperBound() {
        return new Type(Basic.NONE, null, List.of(), 0, 0, false, true, 1);
    }

    /** Two numbers without a gap, complex or a pair of mpiJava. */
    public static Type twice(Basic basic, @Nullable Pair pair) {
        int bytes = basic.bytes();
        return new Type(basic, pair, List.of(Run.single(0, 2L * bytes, bytes)), 0, 2L * bytes, false, bytes);
    }

    /** A value and an int, laid out as a C struct; its base is BYTE. */
    public static Type valueAndIndex(Pair pair) {
        int value = pair.value().bytes();
        long index = Math.max(value, 4);
        List<Run> runs = new ArrayList<>();
        add(runs, Run.single(0, value, value));
        add(runs, Run.single(index, 4, 4));
        long extent = roundUp(index + 4, Math.max(value, 4));
        return new Type(Basic.BYTE, pair, runs, 0, extent, false, Math.max(value, 4));
    }

    /** Items one behind the other. */
    public Type contiguous(int count) {
        check(count, "count");
        return blocks(new int[] {count}, new long[] {0}, List.of(this), basic, 1);
    }

    /** Blocks of items at equal distances. */
    public Type vector(int count, int blockLength, long strideBytes) {
        check(count, "count");
        check(blockLength, "blockLength");
        Type block = contiguous(blockLength);
        if (block.runs.size() == 1 && block.runs.getFirst().count() == 1 && count > 0) {
            Run one = block.runs.getFirst();
            Run all = count == 1 ? one : new Run(one.offset(), one.bytes(), strideBytes, count, one.elementBytes());
            long span = Length.EXTENT.times(count - 1, strideBytes);
            return new Type(
                    basic,
                    null,
                    List.of(all),
                    Length.EXTENT.sum(block.lb, Math.min(0, span)),
                    Length.EXTENT.sum(block.ub, Math.max(0, span)),
                    block.hasLb,
                    block.hasUb,
                    alignment);
        }
        checkRanges(count, Math.min(1, block.runs.size()), MOST_RUNS);
        int[] lengths = new int[count];
        long[] displacements = new long[count];
        for (int i = 0; i < count; i++) {
            lengths[i] = blockLength;
            displacements[i] = Length.DISPLACEMENT.times(i, strideBytes);
        }
        return indexed(lengths, displacements);
    }

    /** Blocks of items anywhere. */
    public Type indexed(int[] lengths, long[] displacements) {
        if (lengths.length != displacements.length) {
            throw new MpiFault(
                    ErrorClass.ARG,
                    "a datatype has " + lengths.length + " block lengths and " + displacements.length
                            + " displacements: expected as many of both");
        }
        List<Type> types = new ArrayList<>();
        for (int length : lengths) {
            check(length, "block length");
            types.add(this);
        }
        return blocks(lengths, displacements, types, basic, 1);
    }

    /**
     * Blocks of different types anywhere.
     *
     * @param base what the lengths of the result count
     * @param isAligned whether the extent is rounded up to the largest alignment, as a C compiler does; blocks without
     *     data have none
     */
    public static Type struct(int[] lengths, long[] displacements, List<Type> types, Basic base, boolean isAligned) {
        if (lengths.length != displacements.length || lengths.length != types.size()) {
            throw new MpiFault(
                    ErrorClass.ARG,
                    "a struct has " + lengths.length + " block lengths, " + displacements.length + " displacements and "
                            + types.size() + " types: expected as many of each");
        }
        int alignment = isAligned ? alignment(lengths, types) : 1;
        return blocks(lengths, displacements, types, base, alignment);
    }

    private static int alignment(int[] lengths, List<Type> types) {
        return IntStream.range(0, lengths.length)
                .filter(i -> lengths[i] > 0 && types.get(i).hasData())
                .map(i -> types.get(i).alignment)
                .max()
                .orElse(1);
    }

    /** The same data with other bounds. */
    public Type resized(long newLb, long newExtent) {
        return new Type(basic, null, runs, newLb, Length.EXTENT.sum(newLb, newExtent), true, alignment);
    }

    private boolean hasData() {
        return !runs.isEmpty();
    }

    /** The bounds of the items of a block, or of all blocks; explicit ones win over those of the data. */
    private static final class Bounds {
        private long low = Long.MAX_VALUE;
        private long high = Long.MIN_VALUE;
        private long explicitLow = Long.MAX_VALUE;
        private long explicitHigh = Long.MIN_VALUE;

        void add(Type type, long from, long to) {
            if (type.hasLb) {
                explicitLow = Math.min(explicitLow, from);
            } else if (type.hasData()) {
                low = Math.min(low, from);
            }
            if (type.hasUb) {
                explicitHigh = Math.max(explicitHigh, to);
            } else if (type.hasData()) {
                high = Math.max(high, to);
            }
        }

        long lb() {
            long natural = low == Long.MAX_VALUE ? 0 : low;
            return explicitLow == Long.MAX_VALUE ? natural : explicitLow;
        }

        long ub() {
            long natural = high == Long.MIN_VALUE ? lb() : high;
            return explicitHigh == Long.MIN_VALUE ? natural : explicitHigh;
        }
    }

    private static Type blocks(int[] lengths, long[] displacements, List<Type> types, Basic base, int alignment) {
        List<Run> runs = new ArrayList<>();
        Bounds bounds = new Bounds();
        boolean hasLb = false;
        boolean hasUb = false;
        for (int i = 0; i < lengths.length; i++) {
            Type type = types.get(i);
            hasLb |= type.hasLb && lengths[i] > 0;
            hasUb |= type.hasUb && lengths[i] > 0;
            if (lengths[i] == 0) {
                continue;
            }
            type.addBounds(bounds, displacements[i], lengths[i]);
            type.replicate(runs, displacements[i], lengths[i]);
        }
        long lb = bounds.lb();
        long ub = bounds.ub();
        if (!hasLb && !hasUb) {
            ub = Length.EXTENT.sum(lb, roundUp(Length.EXTENT.between(lb, ub), alignment));
        }
        return new Type(base, null, runs, lb, ub, hasLb, hasUb, alignment(lengths, types));
    }

    /** Adds the bounds of a block of items. */
    private void addBounds(Bounds bounds, long displacement, int length) {
        long span = Length.EXTENT.times(length - 1, extent);
        bounds.add(
                this,
                Length.EXTENT.sum(Length.EXTENT.sum(displacement, lb), Math.min(0, span)),
                Length.EXTENT.sum(Length.EXTENT.sum(displacement, ub), Math.max(0, span)));
    }

    /** Adds the runs of some items, the first of them at an offset. */
    void replicate(List<Run> to, long offset, long count) {
        if (isDense()) {
            if (size > 0 && count > 0) {
                long start = Length.DISPLACEMENT.sum(offset, lb);
                long bytes = Length.SIZE.times(count, size);
                add(to, Run.single(start, bytes, runs.getFirst().elementBytes()));
            }
            return;
        }
        if (runs.size() == 1 && runs.getFirst().count() == 1 && count > 1 && count <= Integer.MAX_VALUE) {
            Run only = runs.getFirst();
            long start = Length.DISPLACEMENT.sum(offset, only.offset());
            to.add(new Run(start, only.bytes(), extent, (int) count, only.elementBytes()));
            return;
        }
        checkRanges(count, runs.size(), MOST_RUNS - to.size());
        for (long i = 0; i < count; i++) {
            long start = Length.DISPLACEMENT.sum(offset, Length.DISPLACEMENT.times(i, extent));
            for (Run run : runs) {
                add(to, run.shifted(start));
            }
        }
    }

    private static void checkRanges(long count, int ranges, int most) {
        if (ranges > 0 && count > most / ranges) {
            throw new MpiFault(
                    ErrorClass.TYPE,
                    "a datatype or buffer consists of " + count + " times " + ranges
                            + " separate ranges: expected at most " + most);
        }
    }

    private static void add(List<Run> runs, Run run) {
        if (run.bytes() == 0 || run.count() == 0) {
            return;
        }
        if (!runs.isEmpty() && runs.getLast().isContinuedBy(run)) {
            Run before = runs.removeLast();
            runs.add(Run.single(before.offset(), Length.SIZE.sum(before.bytes(), run.bytes()), run.elementBytes()));
        } else {
            runs.add(run);
        }
    }

    private static void check(int number, String what) {
        if (number < 0) {
            throw new MpiFault(ErrorClass.COUNT, "a datatype has the " + what + " " + number + ": expected 0 or more");
        }
    }

    private static long roundUp(long bytes, int alignment) {
        return Length.EXTENT.sum(bytes, alignment - 1) / alignment * alignment;
    }

    // ---- what a type is

    /** What its lengths count, and what arrays hold its items. */
    public Basic basic() {
        return basic;
    }

    /** What MINLOC and MAXLOC compare; null if the type is no predefined pair. */
    public @Nullable Pair pair() {
        return pair;
    }

    /** The bytes of data of one item. */
    public long size() {
        return size;
    }

    /** The lower bound. */
    public long lb() {
        return lb;
    }

    /** The upper bound. */
    public long ub() {
        return ub;
    }

    /** The distance between items. */
    public long extent() {
        return extent;
    }

    /** Where the data of an item begins. */
    public long trueLb() {
        return runs.stream().mapToLong(Run::first).min().orElse(0);
    }

    /** Where the data of an item ends. */
    public long trueUb() {
        return runs.stream().mapToLong(Run::last).max().orElse(0);
    }

    /** Whether the items of an array are one range. */
    public boolean isDense() {
        return dense;
    }

    /** The basic type of all elements if they have the same length, as reductions need it. */
    public boolean isUniform() {
        return uniform;
    }

    /** How many whole items these bytes are; -1 if they are no whole number of items; 0 if items have no data. */
    public long itemsIn(long bytes) {
        if (size == 0) {
            return 0;
        }
        return bytes % size == 0 ? bytes / size : -1;
    }

    /** How many basic elements these bytes are, the last item may be partial; -1 if an element is partial. */
    public long elementsIn(long bytes) {
        if (size == 0) {
            return 0;
        }
        long perItem =
                runs.stream().mapToLong(run -> run.size() / run.elementBytes()).sum();
        long elements = bytes / size * perItem;
        long left = bytes % size;
        for (Run run : runs) {
            long taken = Math.min(left, run.size());
            if (taken % run.elementBytes() != 0) {
                return -1;
            }
            elements += taken / run.elementBytes();
            left -= taken;
        }
        return elements;
    }
}
