package io.madeleine.switching;

import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.util.List;

/**
 * The memory of an outgoing message that links have posted and a network still reads. The message ends when the network
 * releases it. If the peer receives nothing any more (the message is aborted, the peer is lost, or the session ends),
 * the network has {@code madeleine.peer-timeout} to release it. After that the connection is given up and closed, and
 * no network accesses the memory any more.
 *
 * <p>Threading: as {@link SendHalf}, except {@link #isHeld}.
 */
final class PostedMemory {
    private static final long NOT_YET = Long.MIN_VALUE;

    private final ConnectionContext connection;
    private final PostingLink[] links;
    private long givenUpNs = NOT_YET;
    private boolean takenBack;

    PostedMemory(ConnectionContext connection, List<TransmissionLink> links) {
        this.connection = connection;
        this.links = links.stream()
                .filter(PostingLink.class::isInstance)
                .map(PostingLink.class::cast)
                .toArray(PostingLink[]::new);
    }

    /** Whether the connection has links that can hold memory. */
    boolean isPossible() {
        return links.length != 0;
    }

    /** Whether a link holds memory. Any thread may call it. */
    boolean isHeld() {
        for (PostingLink link : links) {
            if (link.holdsMemory()) {
                return true;
            }
        }
        return false;
    }

    /** For a message that has been given up: whether it has to wait, since a link holds memory. */
    boolean isAwaited() {
        if (takenBack || !isHeld()) {
            return false;
        }
        if (givenUpNs == NOT_YET) {
            givenUpNs = System.nanoTime();
        }
        return true;
    }

    /** Takes the memory back if the time of a message that has been given up has run out. Called by the leader. */
    void takeBackIfOverdue() {
        if (givenUpNs != NOT_YET
                && !takenBack
                && System.nanoTime() - givenUpNs >= connection.peerTimeoutNs()
                && isHeld()) {
            takenBack = connection.takeMemoryBack(
                    "its network did not release the memory of blocks that it reads within madeleine.peer-timeout");
        }
    }

    /** Resets the state for the next message. */
    void reset() {
        givenUpNs = NOT_YET;
        takenBack = false;
    }
}
