package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/** The kind of a failure, for programs to evaluate: the standard codes of gRPC. */
public enum ErrorCode {
    /** The caller has cancelled the call, or the other side was interrupted. */
    CANCELLED(1),
    /** None of the other kinds. */
    UNKNOWN(2),
    /** The argument is wrong in any state of the service. */
    INVALID_ARGUMENT(3),
    /** The deadline has passed. */
    DEADLINE_EXCEEDED(4),
    /** The requested object does not exist. */
    NOT_FOUND(5),
    /** The object to create exists already. */
    ALREADY_EXISTS(6),
    /** The caller is known, but lacks the permission. */
    PERMISSION_DENIED(7),
    /** A bound is reached. */
    RESOURCE_EXHAUSTED(8),
    /** The state of the service does not allow the operation. */
    FAILED_PRECONDITION(9),
    /** The operation was aborted because of a conflict; it may be repeated. */
    ABORTED(10),
    /** The argument is beyond the valid range. */
    OUT_OF_RANGE(11),
    /** The service or method does not exist. */
    UNIMPLEMENTED(12),
    /** An internal error. */
    INTERNAL(13),
    /** The service cannot be reached now. */
    UNAVAILABLE(14),
    /** Data are lost or damaged. */
    DATA_LOSS(15),
    /** The caller is not authenticated. */
    UNAUTHENTICATED(16);

    private static final ErrorCode[] ALL = values();

    private final int number;

    ErrorCode(int number) {
        this.number = number;
    }

    /** The number of the code, as in gRPC. */
    public int number() {
        return number;
    }

    /** The code of a number; {@link #UNKNOWN} if no code has it. */
    static ErrorCode of(int number) {
        return number >= 1 && number <= ALL.length ? ALL[number - 1] : UNKNOWN;
    }

    /** The code of an exception that a call may throw: its own code if it has one, else that of its type. */
    public static ErrorCode of(Throwable thrown) {
        if (thrown instanceof CallException call) {
            // not a pattern switch: its first execution allocates, and if that fails it fails for good
            return call.code();
        }
        if (thrown instanceof OverloadedException) {
            return RESOURCE_EXHAUSTED;
        }
        if (thrown instanceof UnavailableException
                || thrown instanceof PeerFailedException
                || thrown instanceof SessionException) {
            return UNAVAILABLE;
        }
        if (thrown instanceof DeadlineExceededException) {
            return DEADLINE_EXCEEDED;
        }
        if (thrown instanceof CancellationException
                || thrown instanceof WaitInterruptedException
                || thrown instanceof InterruptedException) {
            return CANCELLED;
        }
        if (thrown instanceof CodingException) {
            return INTERNAL;
        }
        return causeOf(thrown) instanceof RemoteException remote ? remote.code() : UNKNOWN;
    }

    private static @Nullable Throwable causeOf(Throwable thrown) {
        try {
            return thrown.getCause();
        } catch (Throwable e) { // of an exception of the program
            return null;
        }
    }
}
