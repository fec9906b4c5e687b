package io.madeleine.switching;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import java.util.Collection;
import java.util.function.Predicate;

/**
 * How a process leaves its channels without cutting anybody off: what {@code endPackingAsync} promised is sent, and what
 * was discarded is taken in, as far as that is possible in time; then the peers are told that nothing more will come. A
 * thread that waits to have its message sent, and may do so for ever, takes nobody's time.
 *
 * <p>Threading: one thread, which drives the networks meanwhile.
 */
public final class Departure {
    private static final long STEP_NS = 1_000_000;

    /**
     * How long the rest of discarded messages is taken in, whose senders wait for that or do not even send, and how long
     * messages have that a thread of this process waits to have sent: who closes meanwhile has not waited for that thread.
     */
    private static final long QUIET_NS = 1_000_000_000;

    private final Collection<SwitchedChannel> channels;
    private final ProgressEngine engine;
    private final long quietNs;

    /** The departure from these channels, which are driven by this engine. */
    public Departure(Collection<SwitchedChannel> channels, ProgressEngine engine) {
        this(channels, engine, QUIET_NS);
    }

    /** The same, with another time than a second for what may never come to an end. */
    public Departure(Collection<SwitchedChannel> channels, ProgressEngine engine, long quietNs) {
        this.channels = channels;
        this.engine = engine;
        this.quietNs = quietNs;
    }

    /** Leaves; returns whether everything that was promised has been sent within so many nanoseconds. */
    public boolean leave(long timeoutNs) {
        channels.forEach(SwitchedChannel::startClosing);
        long startNs = System.nanoTime();
        boolean kept = driveUntil(SwitchedChannel::isDrained, startNs + timeoutNs);
        driveUntil(SwitchedChannel::isQuiet, startNs + Math.min(timeoutNs, quietNs));
        channels.forEach(
                SwitchedChannel::stopSending); // who waits for its end is told; and nothing may follow the goodbye
        driveUntil(SwitchedChannel::isStopped, System.nanoTime() + quietNs);
        channels.forEach(SwitchedChannel::finish);
        return kept;
    }

    private boolean driveUntil(Predicate<SwitchedChannel> done, long deadlineNs) {
        Waitable nothing = new Waitable();
        while (!channels.stream().allMatch(done)) {
            long nowNs = System.nanoTime();
            if (deadlineNs - nowNs <= 0) {
                return false;
            }
            engine.await(nothing, () -> false, Math.min(deadlineNs, nowNs + STEP_NS));
        }
        return true;
    }
}
