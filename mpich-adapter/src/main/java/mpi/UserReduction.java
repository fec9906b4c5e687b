package mpi;

import io.madeleine.mpi.datatypes.Basic;
import io.madeleine.mpi.datatypes.Buffers;
import io.madeleine.mpi.datatypes.Reduction;
import io.madeleine.mpi.datatypes.Type;
import io.madeleine.mpi.device.Payload;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * An operation of the program on the items of one datatype. The collective operations move items packed; the program
 * sees them laid out as in its own buffers.
 *
 * <p>Threading: as the program's function.
 */
final class UserReduction implements Reduction {
    /** The type on which this thread's function works: usable there even if the program has freed it. */
    private static final ScopedValue<Datatype> COMBINING = ScopedValue.newInstance();

    private final @Nullable UserFunction function;
    private final @Nullable User_function javaFunction;
    private final boolean commutative;
    private final Datatype datatype;

    UserReduction(
            @Nullable UserFunction function,
            @Nullable User_function javaFunction,
            boolean commutative,
            Datatype datatype) {
        this.function = function;
        this.javaFunction = javaFunction;
        this.commutative = commutative;
        this.datatype = datatype;
    }

    /** Whether this thread is in a function that combines items of the type. */
    static boolean isCombining(Datatype type) {
        return COMBINING.isBound() && COMBINING.get() == type;
    }

    @Override
    public boolean isCommutative() {
        return commutative;
    }

    @Override
    public void check(Type type) {
        // the program's function decides
    }

    @Override
    public void apply(MemorySegment in, MemorySegment inOut, long bytes, Type type) {
        int count = Math.toIntExact(type.itemsIn(bytes));
        MemorySegment lower = laidOut(in, count, type);
        MemorySegment upper = laidOut(inOut, count, type);
        ScopedValue.where(COMBINING, datatype).run(() -> call(lower, upper, count, type));
        Payload items = new Payload();
        Buffers.set(items, upper, -type.lb(), count, type);
        items.copyTo(inOut, 0, bytes);
    }

    private static MemorySegment laidOut(MemorySegment packed, int count, Type type) {
        long bytes = Math.max(count * type.extent(), type.trueUb() - type.lb() + (count - 1) * type.extent());
        ByteBuffer memory = ByteBuffer.allocateDirect(Math.toIntExact(bytes));
        MemorySegment segment = MemorySegment.ofBuffer(memory);
        Payload items = new Payload();
        Buffers.set(items, segment, -type.lb(), count, type);
        items.copyFrom(packed, 0, packed.byteSize());
        return segment;
    }

    private void call(MemorySegment lower, MemorySegment upper, int count, Type type) {
        UserFunction openMpi = function;
        User_function mpiJava = javaFunction;
        if (openMpi != null && type.basic() != Basic.BOOLEAN) {
            openMpi.call(
                    lower.asByteBuffer().order(ByteOrder.nativeOrder()),
                    upper.asByteBuffer().order(ByteOrder.nativeOrder()),
                    count,
                    datatype);
            return;
        }
        Object in = TypedArrays.of(type.basic(), lower);
        Object inOut = TypedArrays.of(type.basic(), upper);
        if (openMpi != null) {
            openMpi.call(in, inOut, count, datatype);
        } else if (mpiJava != null) {
            mpiJava.Call(in, 0, inOut, 0, count, datatype);
        }
        TypedArrays.copy(inOut, upper);
    }
}
