package io.madeleine.mpi.datatypes;

import java.lang.foreign.MemorySegment;

/**
 * A reduction operation on items without gaps.
 *
 * <p>Threading: thread-safe, unless a user's function is not.
 */
public interface Reduction {
    /** Whether operands may change places. */
    boolean isCommutative();

    /**
     * Throws if the operation is not defined for a type.
     *
     * @throws io.madeleine.mpi.MpiFault of class OP
     */
    void check(Type type);

    /**
     * Computes {@code inOut[i] = in[i] op inOut[i]} for all items. The memory holds the data of the items, packed.
     *
     * @param in operands from the lower ranks
     * @param inOut the other operands, and the results
     * @param bytes the length of both
     */
    void apply(MemorySegment in, MemorySegment inOut, long bytes, Type type);
}
