package io.madeleine.mpi.datatypes;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * MINLOC and MAXLOC (MPI 4.1, section 6.9.4): the smallest or largest value, with its index; of equal values, the
 * smaller index. The memory holds pairs packed: a value, and behind it an index, without the gaps of a C struct.
 *
 * <p>Threading: immutable.
 */
public enum Location implements Reduction {
    MINLOC,
    MAXLOC;

    @Override
    public boolean isCommutative() {
        return true;
    }

    @Override
    public void check(Type type) {
        if (type.pair() == null) {
            throw new MpiFault(
                    ErrorClass.OP,
                    name() + " is not defined for a datatype over " + type.basic()
                            + ": expected a predefined pair such as MPI.INT2 or MPI.DOUBLE_INT");
        }
    }

    @Override
    public void apply(MemorySegment in, MemorySegment inOut, long bytes, Type type) {
        Pair pair = type.pair();
        if (pair == null) {
            check(type);
            return;
        }
        long value = pair.value().bytes();
        Basic indexType = pair.isIndexOfSameType() ? pair.value() : Basic.INT;
        long size = value + indexType.bytes();
        for (long at = 0; at < bytes; at += size) {
            int order = compare(in, inOut, at, pair.value());
            boolean takesIn = this == MINLOC ? order < 0 : order > 0;
            if (order == 0) {
                takesIn = compare(in, inOut, at + value, indexType) < 0;
            }
            if (takesIn) {
                MemorySegment.copy(in, at, inOut, at, size);
            }
        }
    }

    private static int compare(MemorySegment a, MemorySegment b, long at, Basic type) {
        return switch (type) {
            case BYTE -> Byte.compare(a.get(ValueLayout.JAVA_BYTE, at), b.get(ValueLayout.JAVA_BYTE, at));
            case SHORT ->
                Short.compare(a.get(ValueLayout.JAVA_SHORT_UNALIGNED, at), b.get(ValueLayout.JAVA_SHORT_UNALIGNED, at));
            case INT ->
                Integer.compare(a.get(ValueLayout.JAVA_INT_UNALIGNED, at), b.get(ValueLayout.JAVA_INT_UNALIGNED, at));
            case LONG ->
                Long.compare(a.get(ValueLayout.JAVA_LONG_UNALIGNED, at), b.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
            case FLOAT ->
                Float.compare(a.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at), b.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at));
            case DOUBLE ->
                Double.compare(
                        a.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, at), b.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, at));
            default -> throw new MpiFault(ErrorClass.OP, "no pair has values of type " + type);
        };
    }
}
