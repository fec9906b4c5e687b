package io.madeleine.switching;

import io.madeleine.api.Signal;
import io.madeleine.pmm.Deadlines;
import io.madeleine.pmm.EngineSignal;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.StackRoom;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The signal of a channel, for conditions that the channel's handler makes true. If the message comes from the expected
 * sender, the waiting thread calls the handler itself.
 *
 * <p>Threading: thread-safe.
 */
final class ChannelSignal implements Signal {
    private final SwitchedChannel channel;
    private final EngineSignal signal;

    ChannelSignal(SwitchedChannel channel) {
        this.channel = channel;
        this.signal = new EngineSignal(channel.engine(), channel.settings().hint());
    }

    @Override
    public void await(BooleanSupplier condition) {
        boolean _ = isMet(condition, null) || signal.awaitUntil(condition, ProgressEngine.NO_DEADLINE);
    }

    @Override
    public boolean await(BooleanSupplier condition, long timeout, TimeUnit unit) {
        Objects.requireNonNull(unit, "unit");
        return isMet(condition, null) || signal.awaitUntil(condition, Deadlines.after(timeout, unit));
    }

    @Override
    public boolean await(BooleanSupplier condition, int expected, long timeout, TimeUnit unit) {
        Objects.requireNonNull(unit, "unit");
        return isMet(condition, channel.connectionOrNull(expected))
                || signal.awaitUntil(condition, Deadlines.after(timeout, unit));
    }

    /** Whether the condition is met now or within a moment; reads no clock. */
    private boolean isMet(BooleanSupplier condition, @Nullable SwitchedConnection expected) {
        Objects.requireNonNull(condition, "condition");
        StackRoom.ensure();
        return condition.getAsBoolean() || handleUntil(condition, expected);
    }

    /** An {@link InternalError} from truncated shared memory means a lost connection; the engine reports it. */
    private boolean handleUntil(BooleanSupplier condition, @Nullable SwitchedConnection expected) {
        try {
            return channel.arrivals().handleUntil(condition, expected);
        } catch (InternalError e) {
            if (!channel.engine().recover(e)) {
                throw e;
            }
            return false;
        }
    }

    @Override
    public void signal() {
        signal.signal();
    }
}
