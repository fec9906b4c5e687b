package io.madeleine.bench.mpi;

import io.madeleine.bench.measure.Computing;
import io.madeleine.bench.measure.MeasuringException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.Buffer;
import mpi.Intracomm;

/**
 * Where a benchmark runs: the communicator, and a buffer to send from and one to receive into, each with room for a
 * message to or from every process.
 *
 * <p>Threading: confined to caller.
 */
final class Scene {
    final Intracomm comm;
    final int rank;
    final int size;

    /** The size of a message in bytes. */
    final int bytes;

    final MpiBuffers buffers;
    final boolean isOfFloats;
    final Object out;
    final Object in;
    final Computing computing = new Computing();

    private final MemorySegment sent;
    private final MemorySegment received;

    Scene(Intracomm comm, MpiBuffers buffers, int bytes, boolean isOfFloats) {
        this.comm = comm;
        this.rank = comm.getRank();
        this.size = comm.getSize();
        this.bytes = bytes;
        this.buffers = buffers;
        this.isOfFloats = isOfFloats;
        int all = Math.multiplyExact(Math.max(bytes, Float.BYTES), isOfFloats ? 1 : size);
        this.out = buffers.allocate(all, isOfFloats);
        this.in = buffers.allocate(all, isOfFloats);
        this.sent = memory(out);
        this.received = memory(in);
    }

    private static MemorySegment memory(Object buffer) {
        if (buffer instanceof Buffer direct) {
            return MemorySegment.ofBuffer(direct);
        }
        return buffer instanceof float[] floats
                ? MemorySegment.ofArray(floats)
                : MemorySegment.ofArray((byte[]) buffer);
    }

    /** How many numbers a message has. */
    int floats() {
        return bytes / Float.BYTES;
    }

    private static byte content(int from, int to, long index) {
        return (byte) (1 + 31 * from + 17 * to + 7 * index);
    }

    /** Fills the part of the buffer to send that is for one process. */
    void fill(int place, int to) {
        for (long i = 0; i < bytes; i++) {
            sent.set(ValueLayout.JAVA_BYTE, place * (long) bytes + i, content(rank, to, i));
        }
    }

    /** Fills the parts for all processes, and clears what is received into. */
    void fillAll() {
        for (int to = 0; to < size; to++) {
            fill(to, to);
        }
        clear();
    }

    void clear() {
        received.fill((byte) 0);
    }

    /** Checks a part of the buffer that was received into. */
    void check(int place, int from, int to) {
        check(received, place, from, to);
    }

    /** Checks a part of the buffer that is usually sent from. */
    void checkOut(int place, int from, int to) {
        check(sent, place, from, to);
    }

    private void check(MemorySegment memory, int place, int from, int to) {
        for (long i = 0; i < bytes; i++) {
            byte found = memory.get(ValueLayout.JAVA_BYTE, place * (long) bytes + i);
            if (found != content(from, to, i)) {
                throw new MeasuringException("byte " + i + " of a message of " + bytes + " bytes from rank " + from
                        + " to rank " + to + " is " + found + ": expected " + content(from, to, i));
            }
        }
    }

    private static float number(int of, long index) {
        return of + 1 + index % 5;
    }

    void fillNumbers() {
        for (long i = 0; i < floats(); i++) {
            sent.set(ValueLayout.JAVA_FLOAT_UNALIGNED, i * Float.BYTES, number(rank, i));
        }
        clear();
    }

    /** Checks {@code count} numbers that were received, the sums over the ranks 0 to {@code ranks} - 1. */
    void checkSums(long first, long count, int ranks) {
        for (long i = 0; i < count; i++) {
            float expected = 0;
            for (int of = 0; of < ranks; of++) {
                expected += number(of, first + i);
            }
            float found = received.get(ValueLayout.JAVA_FLOAT_UNALIGNED, i * Float.BYTES);
            if (found != expected) {
                throw new MeasuringException("number " + (first + i) + " of a sum over " + ranks + " ranks is " + found
                        + ": expected " + expected);
            }
        }
    }
}
