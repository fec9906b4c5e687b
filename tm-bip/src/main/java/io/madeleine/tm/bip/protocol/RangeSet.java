package io.madeleine.tm.bip.protocol;

import java.util.Arrays;

/**
 * A set of numbers, kept as half-open ranges in ascending order that neither overlap nor touch. The arrays grow with
 * the largest number of ranges; otherwise nothing is allocated.
 *
 * <p>Threading: confined.
 */
final class RangeSet {
    private static final long[] NONE = {};
    private static final int LEAST_RANGES = 4;

    private long[] starts = NONE; // most sets of an idle connection have never had a range
    private long[] ends = NONE;
    private int count;

    boolean isEmpty() {
        return count == 0;
    }

    int count() {
        return count;
    }

    long start(int i) {
        return starts[i];
    }

    long end(int i) {
        return ends[i];
    }

    void clear() {
        count = 0;
    }

    /** The index of the first range that ends behind the number; {@link #count()} if there is none. */
    int firstEndingBehind(long number) {
        int low = 0;
        int high = count;
        if (count > 0 && ends[count - 1] <= number) {
            return count; // most numbers come in order
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (ends[middle] > number) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    boolean contains(long number) {
        int i = firstEndingBehind(number);
        return i < count && starts[i] <= number;
    }

    void add(long start, long end) {
        if (start >= end) {
            return;
        }
        int from = firstEndingBehind(start - 1); // ranges that end at start are merged
        int to = from;
        long mergedStart = start;
        long mergedEnd = end;
        while (to < count && starts[to] <= end) {
            mergedStart = Math.min(mergedStart, starts[to]);
            mergedEnd = Math.max(mergedEnd, ends[to]);
            to++;
        }
        replace(from, to, 1);
        starts[from] = mergedStart;
        ends[from] = mergedEnd;
    }

    void remove(long start, long end) {
        int from = firstEndingBehind(start);
        if (start >= end || from == count || starts[from] >= end) {
            return;
        }
        int to = from;
        while (to < count && starts[to] < end) {
            to++;
        }
        long firstStart = starts[from];
        long lastEnd = ends[to - 1];
        int left = (firstStart < start ? 1 : 0) + (lastEnd > end ? 1 : 0);
        replace(from, to, left);
        int at = from;
        if (firstStart < start) {
            starts[at] = firstStart;
            ends[at++] = start;
        }
        if (lastEnd > end) {
            starts[at] = end;
            ends[at] = lastEnd;
        }
    }

    void removeBelow(long floor) {
        if (count > 0 && starts[0] < floor) {
            remove(starts[0], floor);
        }
    }

    /** Makes room for {@code left} ranges in place of those from {@code from} to {@code to}. */
    private void replace(int from, int to, int left) {
        int grown = count + left - (to - from);
        if (grown > starts.length) {
            int capacity = Math.max(LEAST_RANGES, 2 * starts.length);
            starts = Arrays.copyOf(starts, capacity);
            ends = Arrays.copyOf(ends, capacity);
        }
        System.arraycopy(starts, to, starts, from + left, count - to);
        System.arraycopy(ends, to, ends, from + left, count - to);
        count = grown;
    }

    /** How many numbers from {@code start} on, and below {@code end}, are in the set without a gap. */
    long runFrom(long start, long end) {
        int i = firstEndingBehind(start);
        return i < count && starts[i] <= start ? Math.min(ends[i], end) - start : 0;
    }

    /** The first number of the set that is not below {@code start}, or {@code end} if that is smaller. */
    long nextFrom(long start, long end) {
        int i = firstEndingBehind(start);
        return i < count ? Math.min(end, Math.max(start, starts[i])) : end;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append('[').append(starts[i]).append(',').append(ends[i]).append(')');
        }
        return text.toString();
    }
}
