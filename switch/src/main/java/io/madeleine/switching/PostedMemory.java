package io.madeleine.switching;

import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.util.List;

/**
 * The memory of an outgoing message that links have taken and still read. The message ends when they let go. Where nothing is
 * received any more (the message is aborted, the peer is lost, the session ends) they have {@code madeleine.peer-timeout} for
 * that, or the connection is lost; and once more after that, in which this side alone has to see to it.
 *
 * <p>Threading: as {@link SendHalf} says, but for {@link #isHeld}.
 */
final class PostedMemory {
    private static final long NOT_YET = Long.MIN_VALUE;

    private final SwitchedConnection connection;
    private final PostingLink[] links;
    private long givenUpNs = NOT_YET;
    private boolean brokenUp;

    PostedMemory(SwitchedConnection connection, List<TransmissionLink> links) {
        this.connection = connection;
        this.links = links.stream()
                .filter(PostingLink.class::isInstance)
                .map(PostingLink.class::cast)
                .toArray(PostingLink[]::new);
    }

    /** Whether there are links that may hold memory. */
    boolean isPossible() {
        return links.length != 0;
    }

    /** Whether a link holds memory. Any thread. */
    boolean isHeld() {
        for (PostingLink link : links) {
            if (link.holdsMemory()) {
                return true;
            }
        }
        return false;
    }

    /** Of a message that has been given up: whether memory is held that is still waited for. */
    boolean isAwaited() {
        if (!isHeld()) {
            return false;
        }
        long nowNs = System.nanoTime();
        if (givenUpNs == NOT_YET) {
            givenUpNs = nowNs;
            brokenUp = connection.isLost();
        }
        if (nowNs - givenUpNs < connection.peerTimeoutNs()) {
            return true;
        }
        if (brokenUp) {
            return false;
        }
        brokenUp = true;
        givenUpNs = nowNs;
        connection.breakUp(
                "its network did not let go of the memory of blocks that it reads within madeleine.peer-timeout");
        return true;
    }

    /** On to the next message. */
    void reset() {
        givenUpNs = NOT_YET;
        brokenUp = false;
    }
}
