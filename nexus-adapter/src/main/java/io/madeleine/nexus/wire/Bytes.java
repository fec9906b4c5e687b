package io.madeleine.nexus.wire;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Memory for small arguments: an array, whose elements compiled code accesses directly, and a segment over the same
 * array for bulk copies. Numbers are little-endian, at any offset.
 *
 * <p>Threading: confined to caller.
 */
public final class Bytes {
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

    /** Allocates memory. */
    public static Bytes allocate(int size) {
        return new Bytes(new byte[size]);
    }

    /** Wraps an array without a copy. */
    public static Bytes of(byte[] array) {
        return new Bytes(array);
    }

    public int size() {
        return array.length;
    }

    /** The same memory as a segment. */
    public MemorySegment segment() {
        return segment;
    }

    public byte getByte(int offset) {
        return array[offset];
    }

    public void putByte(int offset, byte value) {
        array[offset] = value;
    }

    public short getShort(int offset) {
        return (short) SHORT.get(array, offset);
    }

    public void putShort(int offset, short value) {
        SHORT.set(array, offset, value);
    }

    public char getChar(int offset) {
        return (char) CHAR.get(array, offset);
    }

    public void putChar(int offset, char value) {
        CHAR.set(array, offset, value);
    }

    public int getInt(int offset) {
        return (int) INT.get(array, offset);
    }

    public void putInt(int offset, int value) {
        INT.set(array, offset, value);
    }

    public long getLong(int offset) {
        return (long) LONG.get(array, offset);
    }

    public void putLong(int offset, long value) {
        LONG.set(array, offset, value);
    }
}
