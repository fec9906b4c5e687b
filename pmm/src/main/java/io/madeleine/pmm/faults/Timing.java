package io.madeleine.pmm.faults;

import java.util.random.RandomGenerator;

/**
 * When what arrives now is handed on.
 *
 * <p>Threading: confined to the thread that holds the lock of the connection.
 */
final class Timing {
    private final DirectionFaults faults;
    private final RandomGenerator random;
    private final long startNs;

    Timing(DirectionFaults faults, RandomGenerator random, long startNs) {
        this.faults = faults;
        this.random = random;
        this.startNs = startNs;
    }

    /**
     * The time at which something that arrives now is due.
     *
     * @param previousNs when what arrived before it is due: nothing overtakes
     */
    long due(long nowNs, long previousNs) {
        long jitterNs = faults.jitterNs() == 0 ? 0 : random.nextLong(faults.jitterNs() + 1);
        long dueNs = nowNs + faults.delayNs() + jitterNs;
        long ageNs = dueNs - startNs;
        if (ageNs >= faults.stallAfterNs() && ageNs - faults.stallAfterNs() < faults.stallForNs()) {
            dueNs = startNs + faults.stallAfterNs() + faults.stallForNs();
        }
        return dueNs - previousNs < 0 ? previousNs : dueNs;
    }

    /** Whether the connection is cut by now. */
    boolean isCut(long nowNs) {
        return untilCutNs(nowNs) <= 0;
    }

    /** How long the connection has until it is cut; {@link Long#MAX_VALUE} if it never is. */
    long untilCutNs(long nowNs) {
        return faults.cutAfterNs() == DirectionFaults.NEVER ? Long.MAX_VALUE : faults.cutAfterNs() - (nowNs - startNs);
    }
}
