package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import java.util.concurrent.CancellationException;

/** What kind of failure it is, for programs: the standard codes, as gRPC has them. */
public enum ErrorCode {
    /** The caller has given up, or the other side was interrupted. */
    CANCELLED(1),
    /** Of none of the other kinds. */
    UNKNOWN(2),
    /** The argument is wrong, whatever the state of the service. */
    INVALID_ARGUMENT(3),
    /** Time is up. */
    DEADLINE_EXCEEDED(4),
    /** What is asked for is not there. */
    NOT_FOUND(5),
    /** What should be made is there already. */
    ALREADY_EXISTS(6),
    /** The caller is known, and may not do that. */
    PERMISSION_DENIED(7),
    /** A bound is reached. */
    RESOURCE_EXHAUSTED(8),
    /** The state of the service does not allow it. */
    FAILED_PRECONDITION(9),
    /** It was given up because of a conflict, and may be begun anew. */
    ABORTED(10),
    /** Beyond the end. */
    OUT_OF_RANGE(11),
    /** There is no such service or method. */
    UNIMPLEMENTED(12),
    /** Something is broken. */
    INTERNAL(13),
    /** The service cannot be reached now. */
    UNAVAILABLE(14),
    /** Data are lost or damaged. */
    DATA_LOSS(15),
    /** It is not proven who calls. */
    UNAUTHENTICATED(16);

    private static final ErrorCode[] ALL = values();

    private final int number;

    ErrorCode(int number) {
        this.number = number;
    }

    /** Its number, that of gRPC. */
    public int number() {
        return number;
    }

    /** The code of that number; {@link #UNKNOWN} if there is none. */
    static ErrorCode of(int number) {
        return number >= 1 && number <= ALL.length ? ALL[number - 1] : UNKNOWN;
    }

    /** The code of anything that a call may throw: its own, if it has one, else that of its type. */
    public static ErrorCode of(Throwable thrown) {
        if (thrown instanceof CallException call) { // no switch: without memory its first time would be its last
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
        return Thrown.causeOf(thrown) instanceof RemoteException remote ? remote.code() : UNKNOWN;
    }
}
