package io.madeleine.switching;

import io.madeleine.pmm.Attempts;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import java.util.Collection;
import java.util.function.Predicate;

/**
 * Leaves the channels of a process without cutting off any peer: sends what {@code endPackingAsync} promised and drains
 * discarded messages, as far as time permits, and then tells the peers that nothing more will come. A thread that
 * waits, perhaps forever, for the end of its own message does not prolong the shutdown.
 *
 * <p>Threading: one thread, which drives the networks meanwhile.
 */
public final class ChannelShutdown {
    private static final long STEP_NS = 1_000_000;

    /**
     * The bound for draining discarded messages, whose senders may have stopped sending, and for messages whose sending
     * thread waits for their end.
     */
    private static final long QUIET_NS = 1_000_000_000;

    private final Collection<SwitchedChannel> channels;
    private final ProgressEngine engine;
    private final long quietNs;

    /** Creates the shutdown of these channels, which this engine drives. */
    public ChannelShutdown(Collection<SwitchedChannel> channels, ProgressEngine engine) {
        this(channels, engine, QUIET_NS);
    }

    /** As above, with another bound than one second for messages that may never end. */
    public ChannelShutdown(Collection<SwitchedChannel> channels, ProgressEngine engine, long quietNs) {
        this.channels = channels;
        this.engine = engine;
        this.quietNs = quietNs;
    }

    /**
     * Leaves the channels.
     *
     * @return whether everything that was promised has been sent within {@code timeoutNs} nanoseconds
     */
    public boolean leave(long timeoutNs) {
        channels.forEach(SwitchedChannel::startClosing);
        long startNs = System.nanoTime();
        boolean kept = driveUntil(SwitchedChannel::isDrained, startNs + timeoutNs);
        long drainedNs = System.nanoTime(); // sending what was promised may have taken longer than the bound
        driveUntil(SwitchedChannel::isQuiet, drainedNs + Math.min(startNs + timeoutNs - drainedNs, quietNs));
        channels.forEach(SwitchedChannel::stopSending); // fails pending messages: nothing may follow the goodbye
        driveUntil(SwitchedChannel::isStopped, System.nanoTime() + quietNs);
        Attempts goodbyes = new Attempts();
        channels.forEach(channel -> goodbyes.take(channel::finish));
        goodbyes.rethrow();
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
