package io.madeleine.bench;

import io.madeleine.api.Session;
import io.madeleine.bench.mpi.MpiBuffers;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** In which memory a program of ours has its messages. */
enum MessageMemory {
    /** Memory of the session, which networks know: {@link Session#allocate}. */
    SESSION(""),
    /** Native memory that nobody but the program knows. */
    NATIVE("native memory"),
    /** Arrays of the heap. */
    HEAP("heap arrays");

    private static final long PAGE_BYTES = 4096;

    private final String title;

    MessageMemory(String title) {
        this.title = title;
    }

    /** Its name in rows; empty for the usual one. */
    String title() {
        return title;
    }

    /** The kind of buffer that a program of MPI uses instead. */
    MpiBuffers mpiBuffers() {
        return switch (this) {
            case SESSION -> MpiBuffers.MPI_BUFFER;
            case NATIVE -> MpiBuffers.DIRECT;
            case HEAP -> MpiBuffers.ARRAY;
        };
    }

    /** Allocates this much; it is freed with the session, or by the garbage collector. */
    MemorySegment allocate(Session session, long bytes) {
        return switch (this) {
            case SESSION -> session.allocate(bytes);
            case NATIVE -> Arena.ofAuto().allocate(bytes, PAGE_BYTES);
            case HEAP -> MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
        };
    }
}
