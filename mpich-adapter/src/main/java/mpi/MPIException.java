package mpi;

import org.jspecify.annotations.Nullable;

/**
 * An operation of MPI has failed. Unchecked, so that programs of both dialects compile.
 *
 * <p>Threading: immutable.
 */
public class MPIException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errorClass;

    /** An error without a message. */
    public MPIException() {
        this.errorClass = 0;
    }

    /** An error with a message; its code and class are 0. */
    public MPIException(String message) {
        super(message);
        this.errorClass = 0;
    }

    /** An error with the stack trace of its cause; its code and class are 0. */
    @SuppressWarnings("this-escape") // no subclass overrides setStackTrace
    public MPIException(Throwable cause) {
        super(cause.getMessage(), cause);
        this.errorClass = 0;
        setStackTrace(cause.getStackTrace());
    }

    MPIException(int errorClass, @Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
        this.errorClass = errorClass;
    }

    /** The error code: the class. */
    public int getErrorCode() {
        return errorClass;
    }

    /** The error class, one of the {@code ERR_} constants of {@link MPI}. */
    public int getErrorClass() {
        return errorClass;
    }
}
