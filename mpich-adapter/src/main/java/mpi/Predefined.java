package mpi;

import io.madeleine.mpi.datatypes.Arithmetic;
import io.madeleine.mpi.datatypes.Basic;
import io.madeleine.mpi.datatypes.Location;
import io.madeleine.mpi.datatypes.Pair;
import io.madeleine.mpi.datatypes.Reduction;
import io.madeleine.mpi.datatypes.Type;

/**
 * The predefined datatypes, operations and error handlers.
 *
 * <p>Threading: immutable.
 */
public class Predefined extends Constants {
    /** Signed bytes. */
    public static final Datatype BYTE = new Datatype(Type.of(Basic.BYTE), "MPI_BYTE");

    /** Items of a char array. */
    public static final Datatype CHAR = new Datatype(Type.of(Basic.CHAR), "MPI_UINT16_T");

    /** Items of a short array. */
    public static final Datatype SHORT = new Datatype(Type.of(Basic.SHORT), "MPI_INT16_T");

    /** Items of a boolean array. */
    public static final Datatype BOOLEAN = new Datatype(Type.of(Basic.BOOLEAN), "MPI_UINT8_T");

    /** Items of a int array. */
    public static final Datatype INT = new Datatype(Type.of(Basic.INT), "MPI_INT32_T");

    /** Items of a long array. */
    public static final Datatype LONG = new Datatype(Type.of(Basic.LONG), "MPI_INT64_T");

    /** Items of a float array. */
    public static final Datatype FLOAT = new Datatype(Type.of(Basic.FLOAT), "MPI_FLOAT");

    /** Items of a double array. */
    public static final Datatype DOUBLE = new Datatype(Type.of(Basic.DOUBLE), "MPI_DOUBLE");

    /** The output of pack. */
    public static final Datatype PACKED = new Datatype(Type.of(Basic.PACKED), "MPI_PACKED");

    /** References to objects, which are serialized (mpiJava). */
    public static final Datatype OBJECT = new Datatype(Type.of(Basic.OBJECT), "MPI.OBJECT");

    /** The null type. */
    public static final Datatype DATATYPE_NULL = new Datatype(null, "MPI_DATATYPE_NULL");

    /** The null type (mpiJava). */
    public static final Datatype NULL = DATATYPE_NULL;

    /** The lower bound of a struct (mpiJava). */
    public static final Datatype LB = new Datatype(Type.lowerBound(), "MPI_LB");

    /** The upper bound of a struct (mpiJava). */
    public static final Datatype UB = new Datatype(Type.upperBound(), "MPI_UB");

    /** Pairs (real, imaginary) of float. */
    public static final Datatype FLOAT_COMPLEX =
            new Datatype(Type.twice(Basic.FLOAT_COMPLEX, null), "MPI_C_FLOAT_COMPLEX");

    /** Pairs (real, imaginary) of double. */
    public static final Datatype DOUBLE_COMPLEX =
            new Datatype(Type.twice(Basic.DOUBLE_COMPLEX, null), "MPI_C_DOUBLE_COMPLEX");

    /** A value and an index, both of type int. */
    public static final Datatype INT2 = pairOfSame(Basic.INT);

    /** A value and an index, both of type short. */
    public static final Datatype SHORT2 = pairOfSame(Basic.SHORT);

    /** A value and an index, both of type long. */
    public static final Datatype LONG2 = pairOfSame(Basic.LONG);

    /** A value and an index, both of type float. */
    public static final Datatype FLOAT2 = pairOfSame(Basic.FLOAT);

    /** A value and an index, both of type double. */
    public static final Datatype DOUBLE2 = pairOfSame(Basic.DOUBLE);

    /** A short and an int index, as a C struct. */
    public static final Datatype SHORT_INT = pairWithInt(Basic.SHORT);

    /** A long and an int index, as a C struct. */
    public static final Datatype LONG_INT = pairWithInt(Basic.LONG);

    /** A float and an int index, as a C struct. */
    public static final Datatype FLOAT_INT = pairWithInt(Basic.FLOAT);

    /** A double and an int index, as a C struct. */
    public static final Datatype DOUBLE_INT = pairWithInt(Basic.DOUBLE);

    /** Access to pairs in memory. */
    public static final Int2 int2 = new Int2();

    /** Access to pairs in memory. */
    public static final ShortInt shortInt = new ShortInt();

    /** Access to pairs in memory. */
    public static final LongInt longInt = new LongInt();

    /** Access to pairs in memory. */
    public static final FloatInt floatInt = new FloatInt();

    /** Access to pairs in memory. */
    public static final DoubleInt doubleInt = new DoubleInt();

    /** The largest. */
    public static final Op MAX = new Op(Arithmetic.MAX);

    /** The smallest. */
    public static final Op MIN = new Op(Arithmetic.MIN);

    /** The sum. */
    public static final Op SUM = new Op(Arithmetic.SUM);

    /** The product. */
    public static final Op PROD = new Op(Arithmetic.PROD);

    /** Logical and. */
    public static final Op LAND = new Op(Arithmetic.LAND);

    /** Bitwise and. */
    public static final Op BAND = new Op(Arithmetic.BAND);

    /** Logical or. */
    public static final Op LOR = new Op(Arithmetic.LOR);

    /** Bitwise or. */
    public static final Op BOR = new Op(Arithmetic.BOR);

    /** Logical exclusive or. */
    public static final Op LXOR = new Op(Arithmetic.LXOR);

    /** Bitwise exclusive or. */
    public static final Op BXOR = new Op(Arithmetic.BXOR);

    /** The smallest value and its index. */
    public static final Op MINLOC = new Op(Location.MINLOC);

    /** The largest value and its index. */
    public static final Op MAXLOC = new Op(Location.MAXLOC);

    /** Replaces, in one-sided communication. */
    public static final Op REPLACE = new Op((Reduction) null);

    /** Does nothing, in one-sided communication. */
    public static final Op NO_OP = new Op((Reduction) null);

    /** An error ends the job. */
    public static final Errhandler ERRORS_ARE_FATAL = new Errhandler(true, "MPI_ERRORS_ARE_FATAL");

    /** An error ends the job. */
    public static final Errhandler ERRORS_ABORT = new Errhandler(true, "MPI_ERRORS_ABORT");

    /** An error is an exception. */
    public static final Errhandler ERRORS_RETURN = new Errhandler(false, "MPI_ERRORS_RETURN");

    Predefined() {}

    private static Datatype pairOfSame(Basic basic) {
        return new Datatype(Type.twice(basic, new Pair(basic, true)), "MPI_2" + basic);
    }

    private static Datatype pairWithInt(Basic basic) {
        return new Datatype(Type.valueAndIndex(new Pair(basic, false)), "MPI_" + basic + "_INT");
    }
}
