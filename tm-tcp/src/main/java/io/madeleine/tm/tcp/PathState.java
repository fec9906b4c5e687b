package io.madeleine.tm.tcp;

import java.util.function.IntSupplier;

/**
 * Whether what one connection sends still gets an answer, judged by what the kernel tells from time to time. An answer is any
 * acknowledgement by the peer's kernel, also "no room", whatever its process does: a stopped or slow peer answers.
 *
 * <p>Threading: {@link #sent} and {@link #end} are thread-safe; the rest belongs to the thread that looks.
 */
final class PathState {
    /** Of a connection that is not watched. */
    static final PathState UNWATCHED = new PathState("", () -> 0);

    /** One probe of a full receiver may be on its way. */
    private static final int PROBES_UNDER_WAY = 1;

    private final String key;
    private final IntSupplier heardPackets;
    private volatile boolean used = true;
    private volatile boolean ended;

    private int heard;
    private boolean silent;
    private long silentSinceNs;
    private int firstCount;
    private int count;
    private long unacknowledgedBytes;

    PathState(String key, IntSupplier heardPackets) {
        this.key = key;
        this.heardPackets = heardPackets;
    }

    /** As {@link SocketTable#key} says. */
    String key() {
        return key;
    }

    /** Something is sent; for each packet, so it costs next to nothing. */
    void sent() {
        if (!used) {
            used = true;
        }
    }

    /** The connection is closed, or it is known to be lost. */
    void end() {
        ended = true;
    }

    boolean hasEnded() {
        return ended;
    }

    /**
     * Whether the kernel is to be asked: something may be unacknowledged, and the peer has sent nothing lately either. (What the
     * kernel had received before the link was cut counts, too: then silence begins when that has been read.)
     */
    boolean beginLook() {
        int heardBefore = heard;
        heard = heardPackets.getAsInt();
        if (!used || (heard != heardBefore && !silent)) {
            return false;
        }
        used = false; // what is sent from now on the kernel may not tell
        return true;
    }

    /** Whether everything has been in vain since the last look but one at least. */
    boolean isSilent() {
        return silent;
    }

    /** The kernel told nothing: a table that changes while it is read may lack a row, and the next look tells. */
    void missed() {
        used = true;
    }

    /**
     * Takes what the kernel told.
     *
     * @return how long at least everything has been in vain, in nanoseconds, or 0
     */
    long look(SocketTable.Row row, long nowNs) {
        if (row.unacknowledgedBytes() > 0) {
            used = true;
        }
        int attempts =
                Math.max(row.retransmissions(), row.unansweredProbes() > PROBES_UNDER_WAY ? row.unansweredProbes() : 0);
        boolean answered = attempts == 0 || attempts < count || row.unacknowledgedBytes() < unacknowledgedBytes;
        count = attempts;
        unacknowledgedBytes = row.unacknowledgedBytes();
        if (answered || !silent) {
            silent = attempts > 0;
            silentSinceNs = nowNs;
            firstCount = attempts;
            return 0;
        }
        // each attempt comes after twice the time: if there is none for so long, there was an answer in between
        return attempts > firstCount ? nowNs - silentSinceNs : 0;
    }

    /** The last attempts, in words. */
    String describe() {
        return unacknowledgedBytes + " bytes are unacknowledged after " + count + " more attempts";
    }
}
