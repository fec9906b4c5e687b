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
import java.lang.foreign.Arena;
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
    /** Longer messages are unpacked where they are wanted, without a copy between. */
    private static final long SHORT_BYTES = 256;

    /** What the receiving thread and the handler know of each other. */
    private enum State {
        NOTHING,
        WANTED,
        LEFT
    }

    private final Channel channel;
    private final Wire sending;
    private final SendMode sendMode;
    private final Signal signal;
    private final MemorySegment small = Arena.ofAuto().allocate(SHORT_BYTES);
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
        this.channel.onMessage(this::handle, small, new ShortHandler());
    }

    /** Takes short messages as bytes, and only when one is wanted: they cannot be left for later. */
    private final class ShortHandler implements Channel.ShortMessageHandler {
        @Override
        public boolean accepts(int remote) {
            return state.get() == State.WANTED;
        }

        @Override
        public void onMessage(int remote, long bytes) {
            MemorySegment.copy(small, 0, wanted.memory(), 0, bytes);
            state.set(State.NOTHING);
            signal.signal();
        }
    }

    private void handle(IncomingMessage message) {
        if (state.get() == State.WANTED) {
            take(message, wanted, wantedBytes);
            state.set(State.NOTHING);
            signal.signal();
            return;
        }
        left = message;
        if (!state.compareAndSet(State.NOTHING, State.LEFT)) {
            handle(message); // wanted since
        }
    }

    private boolean isReceived() {
        return state.get() != State.WANTED;
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
