package mpi;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * One complex number in a buffer: its real and imaginary part, one behind the other.
 *
 * <p>Threading: confined to caller.
 */
public final class FloatComplex {
    private final FloatBuffer buffer;
    private final int place;

    private FloatComplex(FloatBuffer buffer, int index) {
        this.buffer = buffer;
        this.place = 2 * index;
    }

    /** The first number of a buffer. */
    public static FloatComplex get(FloatBuffer buffer) {
        return new FloatComplex(buffer, 0);
    }

    /** The number with an index that counts complex numbers. */
    public static FloatComplex get(FloatBuffer buffer, int index) {
        return new FloatComplex(buffer, index);
    }

    /** The first number of an array. */
    public static FloatComplex get(float[] array) {
        return get(FloatBuffer.wrap(array), 0);
    }

    /** The number with an index that counts complex numbers. */
    public static FloatComplex get(float[] array, int index) {
        return get(FloatBuffer.wrap(array), index);
    }

    /** The first number of a buffer, in the buffer's byte order. */
    public static FloatComplex get(ByteBuffer buffer) {
        return get(buffer, 0);
    }

    /** The number with an index that counts complex numbers, in the buffer's byte order. */
    public static FloatComplex get(ByteBuffer buffer, int index) {
        return get(buffer.duplicate().clear().order(buffer.order()).asFloatBuffer(), index);
    }

    /** The real part. */
    public float getReal() {
        return buffer.get(place);
    }

    /** The imaginary part. */
    public float getImag() {
        return buffer.get(place + 1);
    }

    /** Sets the real part. */
    public void putReal(float real) {
        buffer.put(place, real);
    }

    /** Sets the imaginary part. */
    public void putImag(float imag) {
        buffer.put(place + 1, imag);
    }

    /** The memory of this number. */
    public FloatBuffer getBuffer() {
        return place == 0 ? buffer : buffer.slice(place, buffer.capacity() - place);
    }
}
