package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.nio.channels.SelectableChannel;

/** A reactor without events; a test plays its sleep. */
abstract class PlayedReactor implements Reactor {
    @Override
    public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
        throw new AssertionError();
    }

    @Override
    public int poll() {
        return 0;
    }

    @Override
    public void close() {}
}
