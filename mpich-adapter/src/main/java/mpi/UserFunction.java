package mpi;

import io.madeleine.mpi.datatypes.Type;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A reduction operation of the program, Open MPI style: {@code inOut[i] = in[i] op inOut[i]}. Override one of the two
 * methods.
 *
 * <p>Threading: called by whichever thread makes progress, one call at a time per operation.
 */
public abstract class UserFunction {
    /** For subclasses. */
    protected UserFunction() {}

    /**
     * Combines arrays of the base type.
     *
     * @param in the operands from lower ranks
     * @param inOut the other operands, and the results
     * @param count the number of items
     * @param datatype the type of the items
     */
    public void call(Object in, Object inOut, int count, Datatype datatype) {
        throw new UnsupportedOperationException(
                "a UserFunction overrides neither call(Object, Object, int, Datatype) nor the form with buffers");
    }

    /** Combines direct buffers in native byte order; by default with the other form. */
    public void call(ByteBuffer in, ByteBuffer inOut, int count, Datatype datatype) {
        Type type = datatype.layout();
        Object lower = TypedArrays.of(type.basic(), MemorySegment.ofBuffer(in));
        Object upper = TypedArrays.of(type.basic(), MemorySegment.ofBuffer(inOut));
        call(lower, upper, count, datatype);
        TypedArrays.copy(upper, MemorySegment.ofBuffer(inOut));
    }
}
