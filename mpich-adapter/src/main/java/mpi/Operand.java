package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.collectives.Area;
import io.madeleine.mpi.collectives.Schedule;
import io.madeleine.mpi.datatypes.Buffers;
import io.madeleine.mpi.datatypes.Type;
import io.madeleine.mpi.device.Payload;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A buffer argument with its datatype: where its items lie in memory. An array of boolean has no memory of its own that
 * can be moved, so a copy stands for it, which {@link #giveBack} copies back.
 *
 * <p>Threading: confined to caller.
 */
final class Operand {
    private final MemorySegment memory;
    private final long offset;
    private final Type type;
    private final boolean @Nullable [] flags;

    private Operand(MemorySegment memory, long offset, Type type, boolean @Nullable [] flags) {
        this.memory = memory;
        this.offset = offset;
        this.type = type;
        this.flags = flags;
    }

    /**
     * A buffer argument.
     *
     * @param offset where the first item begins, in elements of the array
     */
    static Operand of(@Nullable Object buffer, int offset, Datatype datatype) {
        Type type = Datatype.check(datatype).type();
        if (Datatype.isObject(datatype)) {
            throw new MpiFault(
                    ErrorClass.TYPE,
                    "MPI.OBJECT is used in an operation that cannot move objects: expected a send, a receive, or a"
                            + " blocking collective operation of mpiJava, such as Bcast");
        }
        if (offset < 0) {
            throw new MpiFault(ErrorClass.ARG, "the offset of a buffer is " + offset + ": expected 0 or more");
        }
        if (buffer instanceof boolean[] array) {
            Buffers.checkKind(array, type);
            return new Operand(MemorySegment.ofArray(bytes(array)), offset, type, array);
        }
        if (buffer instanceof mpjbuf.Buffer packed) {
            return new Operand(MemorySegment.ofArray(packed.array()), 0, type, null);
        }
        if (buffer == null) {
            return new Operand(Buffers.memory(null), 0, type, null);
        }
        Buffers.checkKind(buffer, type);
        long start = (long) offset * Buffers.elementBytes(buffer);
        return new Operand(Buffers.memory(buffer), start, type, null);
    }

    /** As {@link #of}, for a buffer in which something will arrive; throws if it is read-only. */
    static Operand ofResult(@Nullable Object buffer, int offset, Datatype datatype) {
        Buffers.checkWritable(buffer);
        return of(buffer, offset, datatype);
    }

    /** The same memory for items of another datatype; for a {@link #isCopy copy}. */
    Operand as(Datatype datatype) {
        Type other = Datatype.check(datatype).type();
        if (flags != null) {
            Buffers.checkKind(flags, other);
        }
        return new Operand(memory, offset, other, null);
    }

    static byte[] bytes(boolean[] flags) {
        byte[] bytes = new byte[flags.length];
        for (int i = 0; i < flags.length; i++) {
            bytes[i] = (byte) (flags[i] ? 1 : 0);
        }
        return bytes;
    }

    Type type() {
        return type;
    }

    /** Where the data of the first item begins, for a type without gaps. */
    private long start() {
        return offset + type.lb();
    }

    /** Whether the caller must {@link #giveBack} what was received. */
    boolean isCopy() {
        return flags != null;
    }

    /** Copies what was received to the array of boolean. */
    void giveBack() {
        boolean[] target = flags;
        if (target != null) {
            for (int i = 0; i < target.length; i++) {
                target[i] = memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, i) != 0;
            }
        }
    }

    /** Sets a payload to the first items. */
    void set(Payload payload, long count) {
        Buffers.set(payload, memory, offset, count, type);
    }

    /** The items from a distance on. */
    Payload payload(long distanceBytes, long count) {
        Payload payload = new Payload();
        Buffers.set(payload, memory, offset + distanceBytes, count, type);
        return payload;
    }

    /** The first items as one range: in place if they have no gaps, else a copy. */
    Area area(long count, boolean isInput) {
        Payload items = payload(0, count);
        if (type.isDense()) {
            return new Area(memory, items.bytes() == 0 ? 0 : start(), items.bytes());
        }
        Area copy = Area.allocate(items.bytes());
        if (isInput) {
            items.copyTo(copy.segment(), 0, items.bytes());
        }
        return copy;
    }

    /** A copy of the first items. */
    Area copy(long count) {
        Payload items = payload(0, count);
        Area copy = Area.allocate(items.bytes());
        items.copyTo(copy.segment(), 0, items.bytes());
        return copy;
    }

    /** Has a schedule copy the range that {@link #area} returned back to the items, if it was a copy. */
    void store(Schedule schedule, Area area, long count) {
        if (!type.isDense()) {
            Payload items = payload(0, count);
            schedule.then(() -> items.copyFrom(area.segment(), area.offset(), items.bytes()));
        }
    }
}
