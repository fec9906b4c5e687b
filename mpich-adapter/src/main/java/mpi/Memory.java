package mpi;

import io.madeleine.mpi.datatypes.BufferPool;
import java.nio.Buffer;
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

    private static int bytes(int elements, int elementBytes) {
        int most = Integer.MAX_VALUE / elementBytes;
        if (elements < 0 || elements > most) {
            throw new MPIException(
                    ERR_ARG,
                    "a buffer of " + elements + " elements is asked for: expected 0 to " + most
                            + ", since it has at most " + Integer.MAX_VALUE + " bytes",
                    null);
        }
        return elements * elementBytes;
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static ByteBuffer newByteBuffer(int elements) {
        return allocate(bytes(elements, 1));
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static CharBuffer newCharBuffer(int elements) {
        return allocate(bytes(elements, 2)).asCharBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static ShortBuffer newShortBuffer(int elements) {
        return allocate(bytes(elements, 2)).asShortBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static IntBuffer newIntBuffer(int elements) {
        return allocate(bytes(elements, 4)).asIntBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static LongBuffer newLongBuffer(int elements) {
        return allocate(bytes(elements, 8)).asLongBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static FloatBuffer newFloatBuffer(int elements) {
        return allocate(bytes(elements, 4)).asFloatBuffer();
    }

    /** A direct buffer of some elements, in native byte order. Works at any time. */
    public static DoubleBuffer newDoubleBuffer(int elements) {
        return allocate(bytes(elements, 8)).asDoubleBuffer();
    }

    private static <T> T array(@Nullable T array) {
        return Arguments.required(array, ERR_BUFFER, "the array of a slice", "an array");
    }

    /** The buffer, with its position at an element. */
    private static <B extends Buffer> B at(@Nullable B buffer, int offset) {
        B own = Arguments.required(buffer, ERR_BUFFER, "the buffer of a slice", "a buffer");
        if (offset < 0 || offset > own.capacity()) {
            throw new MPIException(
                    ERR_ARG,
                    "a slice begins at element " + offset + " of a buffer of " + own.capacity()
                            + " elements: expected 0 to " + own.capacity(),
                    null);
        }
        own.clear().position(offset);
        return own;
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static ByteBuffer slice(ByteBuffer buf, int offset) {
        return at(buf, offset).slice().order(ByteOrder.nativeOrder());
    }

    /** The part of an array from an element on. */
    public static ByteBuffer slice(byte[] buf, int offset) {
        return slice(ByteBuffer.wrap(array(buf)), offset);
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static CharBuffer slice(CharBuffer buf, int offset) {
        return at(buf, offset).slice();
    }

    /** The part of an array from an element on. */
    public static CharBuffer slice(char[] buf, int offset) {
        return slice(CharBuffer.wrap(array(buf)), offset);
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static ShortBuffer slice(ShortBuffer buf, int offset) {
        return at(buf, offset).slice();
    }

    /** The part of an array from an element on. */
    public static ShortBuffer slice(short[] buf, int offset) {
        return slice(ShortBuffer.wrap(array(buf)), offset);
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static IntBuffer slice(IntBuffer buf, int offset) {
        return at(buf, offset).slice();
    }

    /** The part of an array from an element on. */
    public static IntBuffer slice(int[] buf, int offset) {
        return slice(IntBuffer.wrap(array(buf)), offset);
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static LongBuffer slice(LongBuffer buf, int offset) {
        return at(buf, offset).slice();
    }

    /** The part of an array from an element on. */
    public static LongBuffer slice(long[] buf, int offset) {
        return slice(LongBuffer.wrap(array(buf)), offset);
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static FloatBuffer slice(FloatBuffer buf, int offset) {
        return at(buf, offset).slice();
    }

    /** The part of an array from an element on. */
    public static FloatBuffer slice(float[] buf, int offset) {
        return slice(FloatBuffer.wrap(array(buf)), offset);
    }

    /** The part of a buffer from an element on; changes the position and limit of the argument. */
    public static DoubleBuffer slice(DoubleBuffer buf, int offset) {
        return at(buf, offset).slice();
    }

    /** The part of an array from an element on. */
    public static DoubleBuffer slice(double[] buf, int offset) {
        return slice(DoubleBuffer.wrap(array(buf)), offset);
    }
}
