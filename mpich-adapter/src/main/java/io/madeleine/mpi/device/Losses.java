package io.madeleine.mpi.device;

import io.madeleine.api.PeerFailedException;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.util.List;

/**
 * What follows when a process dies or leaves: the operations that need it fail.
 *
 * <p>Threading: thread-safe.
 */
final class Losses {
    private final Peers peers;
    private final Matching matching;
    private final OperationTable<Operation> operations;
    private final Controls controls;
    private final Cancellation cancellation;
    private final Waiting waiting;

    Losses(
            Peers peers,
            Matching matching,
            OperationTable<Operation> operations,
            Controls controls,
            Cancellation cancellation,
            Waiting waiting) {
        this.peers = peers;
        this.matching = matching;
        this.operations = operations;
        this.controls = controls;
        this.cancellation = cancellation;
        this.waiting = waiting;
    }

    /** The session says that a process has died. */
    void peerFailed(int rank, PeerFailedException cause) {
        lost(rank, new MpiFault(ErrorClass.PROC_ABORTED, sentence(rank, String.valueOf(cause.getMessage())), cause));
    }

    /** What has happened to a process. The reason may be a sentence about the rank already. */
    private static String sentence(int rank, String reason) {
        String subject = "rank " + rank + " ";
        return reason.startsWith(subject) ? reason : subject + "is gone: " + reason;
    }

    /** A process has left since MPI could not end in order there. */
    void peerLeft(int rank, int errorClass) {
        lost(
                rank,
                new MpiFault(
                        ErrorClass.PROC_ABORTED,
                        "rank " + rank + " has left: MPI.Finalize failed there with error class " + errorClass
                                + "; see the error of that rank"));
    }

    /**
     * Tells all others that this process leaves although they may wait for it: MPI could not end in order. Never waits.
     */
    void leave(int errorClass) {
        peers.postToAll(controls, Header.LEAVING, errorClass);
    }

    private void lost(int rank, MpiFault why) {
        peers.fail(rank, why);
        List<ReceiveOperation> concerned;
        matching.lock.lock();
        try {
            concerned = matching.takePostedOf(rank);
            matching.dropRequestsOf(rank);
        } finally {
            matching.lock.unlock();
        }
        for (ReceiveOperation receive : concerned) {
            receive.failed(why);
        }
        for (Operation operation : operations.takeAll(each -> isWith(each, rank))) {
            operation.fail(why);
        }
        for (Operation operation : operations.all(each -> each instanceof SendOperation send && send.concerns(rank))) {
            cancellation.giveUp((SendOperation) operation, why);
        }
        waiting.signal();
    }

    private static boolean isWith(Operation operation, int rank) {
        return operation instanceof SendOperation send
                ? send.target() == rank
                : operation instanceof ReceiveOperation receive && receive.source() == rank;
    }
}
