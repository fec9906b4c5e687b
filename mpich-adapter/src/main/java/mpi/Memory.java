package mpi;

import io.madeleine.mpi.datatypes.BufferPool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Buffers and parts of them.
 *
 * <p>Threading: without state.
 */
public class Memory extends Predefined {
    /** Has memory that the networks access in place, between the start and the end of MPI. */
    private static volatile @Nullable BufferPool pool;

    Memory() {}

    /** Sets where long buffers come from; null for the JVM's own memory. */
    static void takeFrom(@Nullable BufferPool wanted) {
        pool = wanted;
    }

    private static ByteBuffer allocate(int bytes) {
        BufferPool own = pool;
        ByteBuffer pooled = own == null ? null : own.take(bytes);
        return (pooled == null ? ByteBuffer.allocateDirect(bytes) : pooled).order(ByteOrder.nativeOrder());
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static ByteBuffer newByteBuffer(int elements) {
        return allocate(elements);
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static CharBuffer newCharBuffer(int elements) {
        return allocate(Math.multiplyExact(elements, 2)).asCharBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static ShortBuffer newShortBuffer(int elements) {
        return allocate(Math.multiplyExact(elements, 2)).asShortBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static IntBuffer newIntBuffer(int elements) {
        return allocate(Math.multiplyExact(elements, 4)).asIntBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static LongBuffer newLongBuffer(int elements) {
        return allocate(Math.multiplyExact(elements, 8)).asLongBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static FloatBuffer newFloatBuffer(int elements) {
        return allocate(Math.multiplyExact(elements, 4)).asFloatBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static DoubleBuffer newDoubleBuffer(int elements) {
        return allocate(Math.multiplyExact(elements, 8)).asDoubleBuffer();
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static ByteBuffer slice(ByteBuffer buf, int offset) {
        buf.clear().position(offset);
        return buf.slice().order(ByteOrder.nativeOrder());
    }

    /** The part of an array from an element on. */
    public static ByteBuffer slice(byte[] buf, int offset) {
        return ByteBuffer.wrap(buf, offset, buf.length - offset).slice().order(ByteOrder.nativeOrder());
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static CharBuffer slice(CharBuffer buf, int offset) {
        buf.clear().position(offset);
        return buf.slice();
    }

    /** The part of an array from an element on. */
    public static CharBuffer slice(char[] buf, int offset) {
        return CharBuffer.wrap(buf, offset, buf.length - offset).slice();
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static ShortBuffer slice(ShortBuffer buf, int offset) {
        buf.clear().position(offset);
        return buf.slice();
    }

    /** The part of an array from an element on. */
    public static ShortBuffer slice(short[] buf, int offset) {
        return ShortBuffer.wrap(buf, offset, buf.length - offset).slice();
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static IntBuffer slice(IntBuffer buf, int offset) {
        buf.clear().position(offset);
        return buf.slice();
    }

    /** The part of an array from an element on. */
    public static IntBuffer slice(int[] buf, int offset) {
        return IntBuffer.wrap(buf, offset, buf.length - offset).slice();
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static LongBuffer slice(LongBuffer buf, int offset) {
        buf.clear().position(offset);
        return buf.slice();
    }

    /** The part of an array from an element on. */
    public static LongBuffer slice(long[] buf, int offset) {
        return LongBuffer.wrap(buf, offset, buf.length - offset).slice();
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static FloatBuffer slice(FloatBuffer buf, int offset) {
        buf.clear().position(offset);
        return buf.slice();
    }

    /** The part of an array from an element on. */
    public static FloatBuffer slice(float[] buf, int offset) {
        return FloatBuffer.wrap(buf, offset, buf.length - offset).slice();
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static DoubleBuffer slice(DoubleBuffer buf, int offset) {
        buf.clear().position(offset);
        return buf.slice();
    }

    /** The part of an array from an element on. */
    public static DoubleBuffer slice(double[] buf, int offset) {
        return DoubleBuffer.wrap(buf, offset, buf.length - offset).slice();
    }
}
