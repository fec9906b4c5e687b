package io.madeleine.mpi;

import org.jspecify.annotations.Nullable;

/** An operation of MPI has failed. The classes that programs see turn it into their own exception. */
public final class MpiFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errorClass;

    /**
     * An error of a class.
     *
     * @param errorClass one of {@link ErrorClass}
     * @param message what happened, where, and what was expected
     */
    public MpiFault(int errorClass, String message) {
        this(errorClass, message, null);
    }

    /** An error with its cause. */
    public MpiFault(int errorClass, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.errorClass = errorClass;
    }

    /** One of {@link ErrorClass}. */
    public int errorClass() {
        return errorClass;
    }
}
