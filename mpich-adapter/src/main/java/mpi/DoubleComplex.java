package mpi;

import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;

/**
 * One complex number in a buffer: its real and imaginary part, one behind the other.
 *
 * <p>Threading: confined to caller.
 */
public final class DoubleComplex {
    private final DoubleBuffer buffer;
    private final int place;

    private DoubleComplex(DoubleBuffer buffer, int index) {
        this.buffer = buffer;
        this.place = 2 * index;
    }

    /** The first number of a buffer. */
    public static DoubleComplex get(DoubleBuffer buffer) {
        return new DoubleComplex(buffer, 0);
    }

    /** The number with an index that counts complex numbers. */
    public static DoubleComplex get(DoubleBuffer buffer, int index) {
        return new DoubleComplex(buffer, index);
    }

    /** The first number of an array. */
    public static DoubleComplex get(double[] array) {
        return get(DoubleBuffer.wrap(array), 0);
    }

    /** The number with an index that counts complex numbers. */
    public static DoubleComplex get(double[] array, int index) {
        return get(DoubleBuffer.wrap(array), index);
    }

    /** The first number of a buffer, in the buffer's byte order. */
    public static DoubleComplex get(ByteBuffer buffer) {
        return get(buffer, 0);
    }

    /** The number with an index that counts complex numbers, in the buffer's byte order. */
    public static DoubleComplex get(ByteBuffer buffer, int index) {
        return get(buffer.duplicate().clear().order(buffer.order()).asDoubleBuffer(), index);
    }

    /** The real part. */
    public double getReal() {
        return buffer.get(place);
    }

    /** The imaginary part. */
    public double getImag() {
        return buffer.get(place + 1);
    }

    /** Sets the real part. */
    public void putReal(double real) {
        buffer.put(place, real);
    }

    /** Sets the imaginary part. */
    public void putImag(double imag) {
        buffer.put(place + 1, imag);
    }

    /** The memory of this number. */
    public DoubleBuffer getBuffer() {
        return place == 0 ? buffer : buffer.slice(place, buffer.capacity() - place);
    }
}
