package io.madeleine.bench;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import io.madeleine.bench.measure.Block;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Wire;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Messages as {@link ChannelWire} sends them, received by the channel's handler, for which the measuring thread waits.
 * A message that comes before the thread waits for it stays where it is.
 *
 * <p>Threading: confined to caller; the handler is run by whoever drives progress.
 */
final class HandlerWire implements Wire {
    /** What the receiving thread and the handler know of each other. */
    private enum State {
        NOTHING,
        WANTED,
        LEFT,
        RECEIVED,
        RECEIVED_AND_LEFT
    }

    private final Channel channel;
    private final Wire sending;
    private final SendMode sendMode;
    private final Signal signal;
    private final AtomicReference<State> state = new AtomicReference<>(State.NOTHING);
    private final BooleanSupplier isReceived = this::isReceived;

    // handed over by the state
    private Block wanted = Block.of(MemorySegment.NULL);
    private long wantedBytes;
    private @Nullable IncomingMessage left;

    HandlerWire(Session session, String channel, MessageMemory memory, SendMode sendMode) {
        this.channel = session.channel(channel);
        this.sending = new ChannelWire(session, channel, memory, sendMode);
        this.sendMode = sendMode;
        this.signal = this.channel.newSignal();
        this.channel.onMessage(this::handle);
    }

    private void handle(IncomingMessage message) {
        if (state.get() == State.WANTED) {
            take(message, wanted, wantedBytes);
            state.set(State.RECEIVED);
            signal.signal();
            return;
        }
        left = message;
        if (!state.compareAndSet(State.NOTHING, State.LEFT)
                && !state.compareAndSet(State.RECEIVED, State.RECEIVED_AND_LEFT)) {
            handle(message); // wanted since, or that before it has been accepted
        }
    }

    private boolean isReceived() {
        State now = state.get();
        return now == State.RECEIVED || now == State.RECEIVED_AND_LEFT;
    }

    private void take(IncomingMessage message, Block block, long bytes) {
        message.unpack(block.memory(), 0, bytes, sendMode, ReceiveMode.CHEAPER);
        message.endUnpacking();
        message.close();
    }

    @Override
    public void receive(Block block, long bytes) {
        wanted = block;
        wantedBytes = bytes;
        if (!state.compareAndSet(State.NOTHING, State.WANTED)) {
            IncomingMessage message = Objects.requireNonNull(left);
            state.set(State.NOTHING); // the next one comes when this one has ended
            take(message, block, bytes);
            return;
        }
        if (!signal.await(isReceived, PATIENCE_NS, TimeUnit.NANOSECONDS)) {
            throw new MeasuringException("no message within " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS) + " s");
        }
        if (!state.compareAndSet(State.RECEIVED, State.NOTHING)) {
            state.set(State.LEFT);
        }
    }

    @Override
    public MemorySegment allocate(long bytes) {
        return sending.allocate(bytes);
    }

    @Override
    public void send(Block block, long bytes) {
        sending.send(block, bytes);
    }

    @Override
    public void close() {
        sending.close();
    }
}
