package io.madeleine.pmm.faults;

import java.util.ArrayList;
import java.util.List;

/**
 * The faults of one direction of a connection. Times count from the moment when the connection is there.
 *
 * <p>Threading: immutable.
 *
 * @param delayNs by how much everything is delayed
 * @param jitterNs by how much more at most, at random; the order stays
 * @param stallAfterNs when the direction stalls: from then on nothing arrives
 * @param stallForNs for how long; what was sent meanwhile arrives afterwards
 * @param cutAfterNs when the connection is lost; {@link #NEVER} for never
 */
public record DirectionFaults(long delayNs, long jitterNs, long stallAfterNs, long stallForNs, long cutAfterNs) {
    /** No cut. */
    public static final long NEVER = Long.MAX_VALUE;

    /** No faults. */
    public static final DirectionFaults NONE = new DirectionFaults(0, 0, 0, 0, NEVER);

    /** Whether there is any fault. */
    public boolean any() {
        return delayNs > 0 || jitterNs > 0 || stallForNs > 0 || cutAfterNs != NEVER;
    }

    /** One clause for a log, with times in milliseconds. */
    String summary() {
        List<String> all = new ArrayList<>();
        if (jitterNs > 0) {
            all.add("delay " + millis(delayNs) + " to " + millis(delayNs + jitterNs));
        } else if (delayNs > 0) {
            all.add("delay " + millis(delayNs));
        }
        if (stallForNs > 0) {
            all.add("stalls after " + millis(stallAfterNs) + " for " + millis(stallForNs));
        }
        if (cutAfterNs != NEVER) {
            all.add("is cut after " + millis(cutAfterNs));
        }
        return all.isEmpty() ? "{no faults}" : "{" + String.join(", ", all) + "}";
    }

    private static String millis(long ns) {
        return ns / 1e6 + " ms";
    }
}
