package io.madeleine.bench.mpi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import mpi.MPI;

/** In which memory a program has its messages. */
public enum MpiBuffers {
    /** Buffers of {@code MPI.newByteBuffer}. */
    MPI_BUFFER("newByteBuffer"),
    /** Direct buffers that the program has allocated itself. */
    DIRECT("plain direct"),
    /** Arrays. */
    ARRAY("array");

    private final String title;

    MpiBuffers(String title) {
        this.title = title;
    }

    /** What rows call it. */
    public String title() {
        return title;
    }

    /** So much memory, as bytes or, for reductions, as floating-point numbers. */
    Object allocate(int bytes, boolean isOfFloats) {
        return switch (this) {
            case MPI_BUFFER -> MPI.newByteBuffer(bytes);
            case DIRECT -> ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
            case ARRAY -> isOfFloats ? new float[bytes / Float.BYTES] : new byte[bytes];
        };
    }
}
