package io.madeleine.tm.tcp.stream;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The loss of a connection and its reason: any thread notes it, the leader reports it once.
 *
 * <p>Threading: thread-safe, but {@link #report} belongs to the leader.
 */
final class PeerLoss {
    /** A reason. That of a failed send says little: reading may find what the peer, or its host, said before. */
    private record Reason(boolean orderly, boolean isOfSend, String text) {}

    private volatile @Nullable Reason reason;
    private boolean reported;

    /**
     * Notes a loss. The first reason counts, but a farewell in the stream replaces it, and any reason replaces that of
     * a failed send.
     *
     * @return whether the reason was taken
     */
    synchronized boolean note(boolean orderly, String text) {
        Reason before = reason;
        if (before != null && !before.isOfSend && !orderly) {
            return false;
        }
        reason = new Reason(orderly, false, text);
        return true;
    }

    /**
     * Notes a failed send; any other reason takes precedence.
     *
     * @return whether the reason was taken
     */
    synchronized boolean noteFailedSend(String text) {
        if (reason != null) {
            return false;
        }
        reason = new Reason(false, true, text);
        return true;
    }

    /** The reason noted so far, or an empty text. */
    String seen() {
        Reason noted = reason;
        return noted == null ? "" : noted.text;
    }

    /**
     * Has the listener read everything that came before the loss, and then reports the loss, if there is one and it
     * has not been reported.
     *
     * @return the number of events
     */
    int report(ConnectionListener upper) {
        if (reason == null || reported) {
            return 0;
        }
        reported = true;
        try {
            upper.onReadable();
            Reason last = reason; // reading may have found the farewell
            if (last != null) {
                upper.onLost(LossKind.CONNECTION, last.orderly, last.text);
            }
        } catch (VirtualMachineError e) { // for example out of memory: the caller calls again
            reported = false;
            throw e;
        }
        return 1;
    }

    /** The reason of loss that a failed read stands for. */
    static String reasonOf(IOException e) {
        return String.valueOf(e.getMessage()).contains("timed out")
                ? "its host gave no sign for madeleine.peer-timeout"
                : "the connection was reset (" + e.getMessage() + ")";
    }
}
