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
    private final DeviceSettings settings;

    Faults(Session session, DeviceSettings settings) {
        this.session = session;
        this.settings = settings;
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

    /** A message is lost, since there is no memory for it: nobody could go on, so the job ends. */
    void cannotKeep(int source, long bytes, OutOfMemoryError full) {
        session.abort(
                ErrorClass.INTERN,
                "rank " + session.rank() + " has no memory for a message of " + bytes + " bytes from rank " + source
                        + " that it has not asked for (" + full.getMessage()
                        + "): expected receives earlier, more memory"
                        + " (-Xmx), or a smaller mpi.credit-bytes, which is now " + settings.creditBytes());
    }
}
