package io.madeleine.mpi.datatypes;

/**
 * What MINLOC and MAXLOC work on: a value, and an index that is an int or of the value's type.
 *
 * <p>Threading: immutable.
 *
 * @param value the type of the value
 * @param isIndexOfSameType whether the index has the value's type, as in mpiJava, and lies behind it without a gap
 */
public record Pair(Basic value, boolean isIndexOfSameType) {
    /** Where the index lies, in bytes from the value. */
    public long indexOffset() {
        return isIndexOfSameType ? value.bytes() : Math.max(value.bytes(), Basic.INT.bytes());
    }
}
