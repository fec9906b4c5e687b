package io.madeleine.bench.peer;

import io.madeleine.pmm.WaitMode;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;

/**
 * How a peer with a channel of the JDK waits: as {@link Idling} says, and asleep in a selector.
 *
 * <p>Threading: confined to caller.
 */
final class ChannelIdling implements AutoCloseable {
    private static final int SELECT_MS = 1_000;

    private final Selector selector;
    private final SelectionKey key;
    private final Idling idling;

    /** Makes the channel non-blocking. */
    ChannelIdling(SelectableChannel channel, WaitMode wait) throws IOException {
        channel.configureBlocking(false);
        this.selector = Selector.open();
        this.key = channel.register(selector, 0);
        this.idling = new Idling(wait);
    }

    /** The operation was not possible this many times, counted from 0. */
    void idle(int turn, int operation) throws IOException {
        switch (idling.next(turn)) {
            case POLL -> {}
            case YIELD -> Thread.yield();
            case SLEEP -> {
                key.interestOps(operation);
                selector.select(SELECT_MS);
                selector.selectedKeys().clear();
            }
        }
    }

    @Override
    public void close() throws IOException {
        selector.close();
    }
}
