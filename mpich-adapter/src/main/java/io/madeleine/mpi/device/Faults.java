package io.madeleine.mpi.device;

import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;

/**
 * The errors of the device.
 *
 * <p>Threading: thread-safe.
 */
final class Faults {
    private final Session session;

    Faults(Session session) {
        this.session = session;
    }

    /** The error that a failure of the channel means for an operation. */
    MpiFault of(RuntimeException failure, String what) {
        if (failure instanceof MpiFault fault) {
            return fault;
        }
        int errorClass = failure instanceof PeerFailedException ? ErrorClass.PROC_ABORTED : ErrorClass.OTHER;
        return new MpiFault(
                errorClass, what + " failed at rank " + session.rank() + ": " + failure.getMessage(), failure);
    }
}
