package io.madeleine.tm.tcp.stream;

import java.util.function.IntSupplier;

/**
 * Whether the bytes that one connection sends still get an answer, judged by regular samples of the kernel's counters.
 * Any acknowledgement by the peer's kernel is an answer, also one that announces no room: the kernel of a stopped or
 * slow process still answers.
 *
 * <p>Threading: {@link #sent} and {@link #end} are thread-safe; the rest belongs to the thread that samples.
 */
public final class PathState {
    /** The state of a connection that is not watched. */
    static final PathState UNWATCHED = new PathState("", () -> 0);

    /** One probe of a full receiver may always be in flight. */
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

    /** The connection's key; see {@link SocketTable#key}. */
    String key() {
        return key;
    }

    /** Notes that bytes are sent. Called for each packet, so it writes only if necessary. */
    void sent() {
        if (!used) {
            used = true;
        }
    }

    /** Ends watching: the connection is closed, or known to be lost. */
    void end() {
        ended = true;
    }

    boolean hasEnded() {
        return ended;
    }

    /**
     * Whether a sample is needed: bytes may be unacknowledged, and the peer has sent nothing lately either. (Bytes
     * that the kernel received before the cut count as well: silence begins when they have been read.)
     */
    boolean beginLook() {
        int heardBefore = heard;
        heard = heardPackets.getAsInt();
        if (!used || (heard != heardBefore && !silent)) {
            return false;
        }
        used = false; // before the sample, which may miss what is sent from now on
        return true;
    }

    /** Whether nothing has been answered since at least the last sample but one. */
    boolean isSilent() {
        return silent;
    }

    /** Notes that the table had no row: it may lack one if it changes while it is read. The next sample tells. */
    void missed() {
        used = true;
    }

    /**
     * Takes a sample.
     *
     * @return the least time for which nothing has been answered, in nanoseconds, or 0
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
        // the kernel doubles the time between attempts: without a new attempt there was an answer in between
        return attempts > firstCount ? nowNs - silentSinceNs : 0;
    }

    /** The last sample as a clause. */
    String describe() {
        return unacknowledgedBytes + " bytes are unacknowledged after " + count + " more attempts";
    }
}
