package io.madeleine.mpi.datatypes;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;

/**
 * What is counted in bytes, and must fit a long. The methods compute as the operators do, but throw where the result
 * does not fit.
 *
 * <p>Threading: immutable.
 */
public enum Length {
    SIZE(ErrorClass.COUNT, "the size of a datatype"),
    EXTENT(ErrorClass.COUNT, "the extent of a datatype"),
    DISPLACEMENT(ErrorClass.ARG, "a displacement"),
    MESSAGE(ErrorClass.COUNT, "the length of a message");

    private final int errorClass;
    private final String what;

    Length(int errorClass, String what) {
        this.errorClass = errorClass;
        this.what = what;
    }

    /**
     * So many times this number of bytes.
     *
     * @throws MpiFault if a long cannot hold it
     */
    public long times(long number, long bytes) {
        long product = number * bytes;
        if (Math.multiplyHigh(number, bytes) != product >> Long.SIZE - 1) {
            throw tooLong(number + " times " + bytes);
        }
        return product;
    }

    /**
     * The sum.
     *
     * @throws MpiFault if a long cannot hold it
     */
    public long sum(long first, long second) {
        long sum = first + second;
        if (((first ^ sum) & (second ^ sum)) < 0) {
            throw tooLong(first + " plus " + second);
        }
        return sum;
    }

    /** The distance between two places; throws as {@link #sum} does. */
    long between(long from, long to) {
        long distance = to - from;
        if (((to ^ from) & (to ^ distance)) < 0) {
            throw tooLong("from " + from + " to " + to);
        }
        return distance;
    }

    private MpiFault tooLong(String expression) {
        return new MpiFault(
                errorClass, what + " is " + expression + " bytes: expected a number of bytes that a long can hold");
    }
}
