package mpi;

/**
 * A reduction operation of the program, mpiJava style.
 *
 * <p>Threading: called by whichever thread makes progress, one call at a time per operation.
 */
@SuppressWarnings("MemberName") // the names of mpiJava
public abstract class User_function {
    /** For subclasses. */
    protected User_function() {}

    /**
     * Computes {@code inOut[inOutOffset + i] = in[inOffset + i] op inOut[inOutOffset + i]}.
     *
     * @param in an array of the base type: the operands from lower ranks
     * @param inOffset where they begin
     * @param inOut an array of the base type: the other operands, and the results
     * @param inOutOffset where they begin
     * @param count the number of items
     * @param datatype the type of the items
     */
    public abstract void Call(Object in, int inOffset, Object inOut, int inOutOffset, int count, Datatype datatype);
}
