package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.datatypes.Reduction;
import io.madeleine.mpi.datatypes.Type;
import org.jspecify.annotations.Nullable;

/**
 * A reduction operation.
 *
 * <p>Threading: thread-safe.
 */
public final class Op implements Freeable {
    private final @Nullable Reduction predefined;
    private final @Nullable UserFunction function;
    private final @Nullable User_function javaFunction;
    private final boolean commutative;
    private volatile boolean freed;

    Op(@Nullable Reduction predefined) {
        this.predefined = predefined;
        this.function = null;
        this.javaFunction = null;
        this.commutative = true;
    }

    /** An operation of the program; if it is not commutative, operands keep the order of the ranks. */
    public Op(UserFunction function, boolean commutative) {
        this.predefined = null;
        this.function = given(function);
        this.javaFunction = null;
        this.commutative = commutative;
    }

    /** An operation of the program, mpiJava style. */
    public Op(User_function function, boolean commutative) {
        this.predefined = null;
        this.function = null;
        this.javaFunction = given(function);
        this.commutative = commutative;
    }

    /** As {@link #Op(User_function, boolean)}; the code has no meaning. */
    public Op(User_function function, boolean commutative, int code) {
        this(function, commutative);
    }

    private static <T> T given(@Nullable T function) {
        return Arguments.required(
                function, MPI.ERR_ARG, "the function of an operation", "a UserFunction or a User_function");
    }

    /** The operation for a datatype. */
    Reduction reduction(Datatype datatype) {
        Type type = datatype.type();
        if (freed) {
            throw new MpiFault(ErrorClass.OP, "the operation is freed");
        }
        Reduction own = predefined;
        if (own == null) {
            if (function == null && javaFunction == null) {
                throw new MpiFault(
                        ErrorClass.OP,
                        "MPI.REPLACE and MPI.NO_OP are no reductions: expected an operation such as MPI.SUM");
            }
            own = new UserReduction(function, javaFunction, commutative, datatype);
        }
        own.check(type);
        return own;
    }

    /** Throws if the operation is not one of the program, which alone can combine objects. */
    void checkForObjects() {
        if (freed) {
            throw new MpiFault(ErrorClass.OP, "the operation is freed");
        }
        if (function == null && javaFunction == null) {
            throw new MpiFault(
                    ErrorClass.OP, "a predefined operation is used on MPI.OBJECT: expected an Op of the program");
        }
    }

    /** {@code inOut[i] = in[i] op inOut[i]}, by the program's function. */
    void callOnObjects(Object[] in, Object[] inOut, int count) {
        try {
            if (javaFunction != null) {
                javaFunction.Call(in, 0, inOut, 0, count, MPI.OBJECT);
            } else if (function != null) {
                function.call(in, inOut, count, MPI.OBJECT);
            }
        } catch (Throwable e) { // an Error of the program, too, ends this operation and not the process
            throw new MpiFault(ErrorClass.OTHER, "a reduction of objects failed: " + e, e);
        }
    }

    /** Whether operands may change places. */
    public boolean isCommutative() {
        return commutative;
    }

    @Override
    public void free() {
        if (function == null && javaFunction == null) {
            throw new MPIException(MPI.ERR_OP, "a predefined operation is freed: expected one of the program", null);
        }
        freed = true;
    }

    /** Whether it is freed. */
    public boolean isNull() {
        return freed;
    }
}
