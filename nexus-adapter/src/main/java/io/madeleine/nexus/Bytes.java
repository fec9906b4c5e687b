package io.madeleine.nexus;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Memory for small arguments: an array, whose elements the compiler reaches with next to nothing in between, and the same as a
 * segment, for what is copied from and to elsewhere. Numbers are little-endian, at any offset.
 *
 * <p>Threading: confined to caller.
 */
final class Bytes {
    private static final VarHandle SHORT = view(short[].class);
    private static final VarHandle CHAR = view(char[].class);
    private static final VarHandle INT = view(int[].class);
    private static final VarHandle LONG = view(long[].class);

    private final byte[] array;
    private final MemorySegment segment;

    private Bytes(byte[] array) {
        this.array = array;
        this.segment = MemorySegment.ofArray(array);
    }

    private static VarHandle view(Class<?> type) {
        return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.LITTLE_ENDIAN)
                .withInvokeExactBehavior();
    }

    /** New memory. */
    static Bytes allocate(int size) {
        return new Bytes(new byte[size]);
    }

    /** The array itself, not a copy. */
    static Bytes of(byte[] array) {
        return new Bytes(array);
    }

    int size() {
        return array.length;
    }

    /** The same memory. */
    MemorySegment segment() {
        return segment;
    }

    byte getByte(int offset) {
        return array[offset];
    }

    void putByte(int offset, byte value) {
        array[offset] = value;
    }

    short getShort(int offset) {
        return (short) SHORT.get(array, offset);
    }

    void putShort(int offset, short value) {
        SHORT.set(array, offset, value);
    }

    char getChar(int offset) {
        return (char) CHAR.get(array, offset);
    }

    void putChar(int offset, char value) {
        CHAR.set(array, offset, value);
    }

    int getInt(int offset) {
        return (int) INT.get(array, offset);
    }

    void putInt(int offset, int value) {
        INT.set(array, offset, value);
    }

    long getLong(int offset) {
        return (long) LONG.get(array, offset);
    }

    void putLong(int offset, long value) {
        LONG.set(array, offset, value);
    }
}
