package mpi;

import io.madeleine.mpi.datatypes.Basic;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Arrays of a base type with the content of memory. Threading: without state. */
final class TypedArrays {
    private TypedArrays() {}

    /** An array of the base type with a copy of the memory. */
    static Object of(Basic basic, MemorySegment memory) {
        int count = Math.toIntExact(memory.byteSize() / basic.bytes());
        Object array = switch (basic) {
            case CHAR -> new char[count];
            case SHORT -> new short[count];
            case INT -> new int[count];
            case LONG -> new long[count];
            case FLOAT, FLOAT_COMPLEX -> new float[count];
            case DOUBLE, DOUBLE_COMPLEX -> new double[count];
            case BOOLEAN -> new boolean[count];
            default -> new byte[count];
        };
        if (array instanceof boolean[] flags) {
            for (int i = 0; i < count; i++) {
                flags[i] = memory.get(ValueLayout.JAVA_BYTE, i) != 0;
            }
        } else {
            MemorySegment.copy(memory, 0, io.madeleine.mpi.datatypes.Buffers.memory(array), 0, memory.byteSize());
        }
        return array;
    }

    /** Copies an array to memory. */
    static void copy(Object array, MemorySegment memory) {
        MemorySegment source = array instanceof boolean[] flags
                ? MemorySegment.ofArray(Operand.bytes(flags))
                : io.madeleine.mpi.datatypes.Buffers.memory(array);
        MemorySegment.copy(source, 0, memory, 0, memory.byteSize());
    }
}
