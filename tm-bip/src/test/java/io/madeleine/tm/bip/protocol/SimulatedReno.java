package io.madeleine.tm.bip.protocol;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;

/**
 * A stream over TCP with the congestion control of NewReno (RFC 5681, RFC 6582), as far as others notice it: how many
 * segments are under way. Its ends answer at once, as an operating system does.
 */
final class SimulatedReno {
    /** The bytes of a segment of Ethernet. */
    static final int SEGMENT_BYTES = 1_448;

    /** So many acknowledgements of later segments show a loss. */
    private static final int DUPLICATES = 3;

    private static final long TIMEOUT_NS = 200_000_000;

    private final ArrayDeque<Long> underWay = new ArrayDeque<>(); // oldest first
    private final Set<Long> acknowledged = new HashSet<>();
    private double window = 10;
    private double threshold = Double.MAX_VALUE;
    private long next;
    private long recoveredAt; // losses of earlier segments belong to one event
    private long heardNs;
    private long arrivedBytes;

    /** Whether a segment may leave now. */
    boolean permits(long nowNs) {
        if (!underWay.isEmpty() && nowNs - heardNs > TIMEOUT_NS) {
            underWay.clear();
            acknowledged.clear();
            threshold = Math.max(2, window / 2);
            window = 2;
        }
        return underWay.size() - acknowledged.size() < window;
    }

    /** A segment leaves; returns its number. */
    long send(long nowNs) {
        if (underWay.isEmpty()) {
            heardNs = nowNs;
        }
        underWay.add(next);
        return next++;
    }

    void arrived() {
        arrivedBytes += SEGMENT_BYTES;
    }

    long arrivedBytes() {
        return arrivedBytes;
    }

    void acknowledged(long number, long nowNs) {
        heardNs = nowNs;
        if (underWay.isEmpty() || number < underWay.peekFirst()) {
            return; // it counted as lost
        }
        acknowledged.add(number);
        window += window < threshold ? 1 : 1 / window;
        while (!underWay.isEmpty()) {
            long oldest = underWay.peekFirst();
            if (!acknowledged.remove(oldest)) {
                if (oldest > number - DUPLICATES) {
                    return;
                }
                lost(oldest);
            }
            underWay.removeFirst();
        }
    }

    private void lost(long number) {
        if (number >= recoveredAt) {
            recoveredAt = next;
            window = Math.max(2, window / 2);
            threshold = window;
        }
    }
}
