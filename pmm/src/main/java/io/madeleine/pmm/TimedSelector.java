package io.madeleine.pmm;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;

/**
 * Selects for a time to the microsecond, where the JDK's selector counts milliseconds: what is less than one of them an alarm ends.
 * Who has nothing to do at odd times never has that alarm's thread.
 *
 * <p>Threading: one thread at a time selects.
 */
public final class TimedSelector implements AutoCloseable {
    private static final long NS_PER_MS = 1_000_000;

    private final Selector selector;
    private final Alarm alarm;

    /** Over a selector, which stays its owner's. */
    public TimedSelector(Selector selector) {
        this.selector = selector;
        this.alarm = new Alarm("madeleine-alarm", selector::wakeup);
    }

    /**
     * Waits until something is ready or the selector is woken, or for so long. It may be back by less than a millisecond too early,
     * and may be asked for the rest then, which it takes exactly.
     *
     * @param action what to do with each key that is ready
     * @param timeoutNs above 0; {@link Long#MAX_VALUE} for as long as it takes
     * @return how many keys that were
     */
    public int select(Consumer<SelectionKey> action, long timeoutNs) throws IOException {
        if (timeoutNs == Long.MAX_VALUE) {
            return selector.select(action);
        }
        if (timeoutNs >= NS_PER_MS) {
            return selector.select(action, timeoutNs / NS_PER_MS);
        }
        alarm.set(System.nanoTime() + timeoutNs);
        try {
            return selector.select(action, 1); // by then in any case
        } finally {
            alarm.clear();
        }
    }

    /** Ends the alarm. */
    @Override
    public void close() {
        alarm.close();
    }
}
