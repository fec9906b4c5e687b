package io.madeleine.mpi.datatypes;

import io.madeleine.api.BlockLayout;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.device.Payload;
import java.lang.foreign.MemorySegment;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The memory behind the buffers of programs: arrays, direct and heap buffers. A buffer begins at its element 0,
 * whatever its position and limit are.
 *
 * <p>Threading: without state.
 */
public final class Buffers {
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private Buffers() {}

    /** The memory of a buffer or array, from its element 0 on. A null buffer has none. */
    public static MemorySegment memory(@Nullable Object buffer) {
        return switch (buffer) {
            case null -> NOTHING;
            case byte[] array -> MemorySegment.ofArray(array);
            case int[] array -> MemorySegment.ofArray(array);
            case double[] array -> MemorySegment.ofArray(array);
            case long[] array -> MemorySegment.ofArray(array);
            case float[] array -> MemorySegment.ofArray(array);
            case char[] array -> MemorySegment.ofArray(array);
            case short[] array -> MemorySegment.ofArray(array);
            case Buffer nio -> ofBuffer(nio);
            default ->
                throw new MpiFault(
                        ErrorClass.BUFFER,
                        "a buffer is of " + buffer.getClass().getTypeName()
                                + ": expected a one-dimensional array of a primitive type or a java.nio buffer");
        };
    }

    private static MemorySegment ofBuffer(Buffer buffer) {
        if (!buffer.isDirect() && !buffer.hasArray()) {
            throw new UnsupportedOperationException(
                    "a heap buffer has no accessible array, since it is a view or read-only");
        }
        return MemorySegment.ofBuffer(buffer.duplicate().clear());
    }

    /** Throws if nothing can be received in the buffer, since it is read-only. */
    public static void checkWritable(@Nullable Object buffer) {
        if (buffer instanceof Buffer nio && nio.isReadOnly()) {
            throw new MpiFault(
                    ErrorClass.BUFFER,
                    "a message is received into a read-only buffer: expected one that can be written");
        }
    }

    /** The length of the elements of an array or buffer in bytes. */
    public static int elementBytes(Object buffer) {
        return switch (buffer) {
            case byte[] _, boolean[] _, ByteBuffer _ -> 1;
            case char[] _, short[] _, CharBuffer _, ShortBuffer _ -> 2;
            case int[] _, float[] _, IntBuffer _, FloatBuffer _ -> 4;
            case long[] _, double[] _, LongBuffer _, DoubleBuffer _ -> 8;
            default -> 1;
        };
    }

    /** Throws if items of the type cannot lie in the buffer. */
    public static void checkKind(Object buffer, Type type) {
        boolean isRight = buffer instanceof Buffer
                || type.basic().isArray(buffer)
                || type.size() == 0
                || (type.basic() == Basic.BYTE && buffer instanceof byte[])
                || (type.pair() != null && buffer instanceof byte[]);
        if (!isRight) {
            throw new MpiFault(
                    ErrorClass.TYPE,
                    "a buffer of " + buffer.getClass().getTypeName() + " is used with a datatype over " + type.basic()
                            + ": expected an array of that type, or a buffer");
        }
    }

    /**
     * Sets the payload to {@code count} items.
     *
     * @param offsetBytes where the first item begins in the memory
     * @throws MpiFault if they do not lie in the memory
     */
    public static void set(Payload payload, MemorySegment memory, long offsetBytes, long count, Type type) {
        if (count < 0) {
            throw new MpiFault(ErrorClass.COUNT, "the count of a message is " + count + ": expected 0 or more");
        }
        if (count == 0 || type.size() == 0) {
            payload.clear();
            return;
        }
        if (type.isDense()) {
            long start = Length.DISPLACEMENT.sum(offsetBytes, type.lb());
            long bytes = Length.MESSAGE.times(count, type.size());
            if (start < 0 || bytes > memory.byteSize() - start) {
                throw outside(memory, start, bytes);
            }
            payload.set(memory, start, bytes);
            return;
        }
        List<Run> runs = new ArrayList<>();
        type.replicate(runs, offsetBytes, count);
        List<BlockLayout.Part> parts = new ArrayList<>(runs.size());
        for (Run run : runs) {
            if (run.first() < 0 || run.last() > memory.byteSize()) {
                throw outside(memory, run.first(), run.last() - run.first());
            }
            parts.add(new BlockLayout.Part(memory, run.offset(), run.bytes(), run.strideBytes(), run.count()));
        }
        payload.set(BlockLayout.of(parts));
    }

    /** The error for items that do not lie in their buffer. */
    public static MpiFault outside(MemorySegment memory, long start, long bytes) {
        return new MpiFault(
                ErrorClass.BUFFER,
                memory.equals(NOTHING)
                        ? "the buffer of a message of " + bytes
                                + " bytes is null: expected an array or a java.nio buffer"
                        : "a message covers " + bytes + " bytes from byte " + start + " on of a buffer of "
                                + memory.byteSize() + " bytes: expected it to lie within the buffer");
    }
}
