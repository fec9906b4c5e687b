package io.madeleine.tm.tcp;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * That a connection brings no more, and why: noted by whoever finds out, reported once, by the leader.
 *
 * <p>Threading: thread-safe, but {@link #report} belongs to the leader.
 */
final class PeerLoss {
    /** Of a send that failed, which says little: reading finds what the peer, or its host, had to say. */
    private record Reason(boolean orderly, boolean isOfSend, String text) {}

    private volatile @Nullable Reason reason;
    private boolean reported;

    /** Returns whether that is news: what was found first counts, but a farewell in the stream counts more. */
    synchronized boolean note(boolean orderly, String text) {
        Reason before = reason;
        if (before != null && !before.isOfSend && !orderly) {
            return false;
        }
        reason = new Reason(orderly, false, text);
        return true;
    }

    /** The same of a send that failed: whatever reading finds counts more. */
    synchronized boolean noteFailedSend(String text) {
        if (reason != null) {
            return false;
        }
        reason = new Reason(false, true, text);
        return true;
    }

    /** What has been noted, or an empty text. */
    String seen() {
        Reason noted = reason;
        return noted == null ? "" : noted.text;
    }

    /** Has what came before read, and then tells of the loss if there is one; returns how many events that was. */
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
        } catch (VirtualMachineError e) { // memory is short, say: the caller comes again
            reported = false;
            throw e;
        }
        return 1;
    }

    /** What it means that reading failed so. */
    static String reasonOf(IOException e) {
        return String.valueOf(e.getMessage()).contains("timed out")
                ? "its host gave no sign for madeleine.peer-timeout"
                : "the connection was reset (" + e.getMessage() + ")";
    }
}
