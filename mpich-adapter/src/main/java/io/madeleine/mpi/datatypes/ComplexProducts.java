package io.madeleine.mpi.datatypes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Products of complex numbers, (real, imaginary) pairs of float or double.
 *
 * <p>Threading: without state.
 */
final class ComplexProducts {
    private ComplexProducts() {}

    /** As {@link Reduction#apply}. */
    static void apply(MemorySegment in, MemorySegment inOut, long bytes, Type type) {
        if (type.basic() == Basic.FLOAT_COMPLEX) {
            floats(in, inOut, bytes / 8);
        } else {
            doubles(in, inOut, bytes / 16);
        }
    }

    private static void floats(MemorySegment in, MemorySegment inOut, long count) {
        for (long i = 0; i < count; i++) {
            float a = in.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 8 * i);
            float b = in.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 8 * i + 4);
            float c = inOut.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 8 * i);
            float d = inOut.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 8 * i + 4);
            inOut.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 8 * i, a * c - b * d);
            inOut.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 8 * i + 4, a * d + b * c);
        }
    }

    private static void doubles(MemorySegment in, MemorySegment inOut, long count) {
        for (long i = 0; i < count; i++) {
            double a = in.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 16 * i);
            double b = in.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 16 * i + 8);
            double c = inOut.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 16 * i);
            double d = inOut.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 16 * i + 8);
            inOut.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, 16 * i, a * c - b * d);
            inOut.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, 16 * i + 8, a * d + b * c);
        }
    }
}
