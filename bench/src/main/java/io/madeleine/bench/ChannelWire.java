package io.madeleine.bench;

import io.madeleine.api.Channel;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import io.madeleine.bench.measure.Block;
import io.madeleine.bench.measure.Wire;
import java.lang.foreign.MemorySegment;

/**
 * Madeleine's public API: messages of one block, received CHEAPER, by one call at each end, received from anyone.
 *
 * <p>Threading: confined to caller.
 */
final class ChannelWire implements Wire {
    private final Session session;
    private final Channel channel;
    private final MessageMemory memory;
    private final SendMode sendMode;
    private final int peers;
    private int peer;

    ChannelWire(Session session, String channel, MessageMemory memory, SendMode sendMode) {
        this.session = session;
        this.memory = memory;
        this.sendMode = sendMode;
        this.channel = session.channel(channel);
        this.peers = session.rank() == 0 ? session.size() - 1 : 1;
        this.peer = session.rank() == 0 ? 1 : 0;
    }

    @Override
    public MemorySegment allocate(long bytes) {
        return memory.allocate(session, bytes);
    }

    @Override
    public int peers() {
        return peers;
    }

    @Override
    public void towards(int other) {
        peer = peers > 1 ? other + 1 : peer;
    }

    @Override
    public void send(Block block, long bytes) {
        channel.send(peer, block.memory(), 0, bytes, sendMode, ReceiveMode.CHEAPER);
    }

    @Override
    public void receive(Block block, long bytes) {
        int _ = channel.receive(block.memory(), 0, bytes, sendMode, ReceiveMode.CHEAPER);
    }

    @Override
    public void close() {
        session.close();
    }
}
