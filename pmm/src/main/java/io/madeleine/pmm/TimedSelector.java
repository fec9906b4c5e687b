package io.madeleine.pmm;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;

/**
 * Selects with a timeout exact to microseconds, although the JDK's selector counts milliseconds: an alarm ends a wait
 * of less than a millisecond. The alarm's thread starts with the first such wait. A wait may end late by a fiftieth of
 * its length if it then takes whole milliseconds: an exact end would need a second wake-up.
 *
 * <p>Threading: one thread at a time selects.
 */
public final class TimedSelector implements AutoCloseable {
    private static final long NS_PER_MS = 1_000_000;
    private static final long LATE_SHARE = 50;

    private final Selector selector;
    private final Alarm alarm;

    /** Selects with this selector; the caller keeps it. */
    public TimedSelector(Selector selector) {
        this.selector = selector;
        this.alarm = new Alarm("madeleine-alarm", selector::wakeup);
    }

    /**
     * Waits until a key is ready, the selector is woken, or the time is over. A wait of less than 50 milliseconds may
     * return less than a millisecond early; the caller may then wait for the rest.
     *
     * @param action handles each ready key
     * @param timeoutNs above 0; {@link Long#MAX_VALUE} for no limit
     * @return how many keys were ready
     */
    public int select(Consumer<SelectionKey> action, long timeoutNs) throws IOException {
        if (timeoutNs == Long.MAX_VALUE) {
            return selector.select(action);
        }
        long wholeMs = Math.ceilDiv(timeoutNs, NS_PER_MS);
        if (wholeMs * NS_PER_MS - timeoutNs <= timeoutNs / LATE_SHARE) {
            return selector.select(action, wholeMs);
        }
        if (wholeMs > 1) {
            return selector.select(action, wholeMs - 1);
        }
        alarm.set(System.nanoTime() + timeoutNs);
        try {
            return selector.select(action, 1); // a bound, should the alarm not ring
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
