package io.madeleine.bench.measure;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * One end of what is measured: takes messages to the other process and from it. Both ends know the size of each
 * message.
 *
 * <p>Threading: confined to the measuring thread. Waits are bounded: a peer that is gone shows as an exception.
 */
public interface Wire extends AutoCloseable {
    /** How long an end waits for the other one before it gives up. */
    long PATIENCE_NS = 30_000_000_000L;

    /** Memory from which messages can be sent and into which they can be received, as this wire likes it best. */
    default MemorySegment allocate(long bytes) {
        return Arena.ofAuto().allocate(bytes, 4096);
    }

    /** Sends the first {@code bytes} bytes of a block now; the block may be reused when this returns. */
    void send(Block block, long bytes);

    /** Sends as well, but may keep the message back, with the block, until the next {@link #flush}. */
    default void stream(Block block, long bytes) {
        send(block, bytes);
    }

    /** Nothing is kept back any longer. */
    default void flush() {}

    /** Waits for a message of {@code bytes} bytes. */
    void receive(Block block, long bytes);

    /**
     * Makes a request, as the pattern says, with the first {@code bytes} bytes of a block, and waits for the same in
     * the answer. The other end need not do anything but receive.
     */
    default void call(Pattern pattern, Block request, Block answer, long bytes) {
        throw new MeasuringException("there are no calls here");
    }

    /** Makes this many calls of a typed service, {@code atOnce} of them under way, and waits for all answers. */
    default void calls(Block request, long bytes, long count, int atOnce) {
        throw new MeasuringException("there are no calls here");
    }

    /** The largest message that can be taken. */
    default long maxBytes() {
        return Long.MAX_VALUE;
    }

    /** How many others there are at the other end. */
    default int peers() {
        return 1;
    }

    /** Whom the next messages go to, 0 to {@link #peers()} - 1; what is received comes from anyone. */
    default void towards(int peer) {}

    @Override
    void close();
}
