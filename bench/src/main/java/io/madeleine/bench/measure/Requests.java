package io.madeleine.bench.measure;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * What driver and responder tell each other between the measured messages: small messages over the same wire.
 *
 * <p>Threading: confined to caller.
 */
final class Requests {
    /** What the driver asks of the responder. */
    enum Request {
        /** Check each message as it comes and send it back. */
        VERIFY,
        /** Send each message back. */
        ECHO,
        /** Receive, and acknowledge the last one. */
        STREAM,
        /** Look at the last message unless its number is negative; say what messages have cost since the last time. */
        CHECK,
        /** The measurement is over. */
        END,
        /** Send the last message this many times. */
        BURST,
        /** Acknowledge, look away from the wire for a while, then receive. */
        PAUSE,
        /** Compute until an instant, which stands in place of the number, and send the message back that comes then. */
        COMPUTE,
        /** Write the message of that number into all blocks that are sent by {@link #ANSWER}. */
        FILL,
        /** Answer each message with a block of its own. */
        ANSWER
    }

    /** Request, size, count and number of the first message. */
    record Asked(Request request, long bytes, long count, long number) {}

    /** What the responder has spent since the last time it was asked. */
    record Answer(double allocatedBytes, double cpuPercent, long contextSwitches) {}

    private static final int LONGS = 4;
    private static final long BYTES = LONGS * (long) Long.BYTES;
    private static final Request[] REQUESTS = Request.values();

    private final Wire wire;
    private final Block sent;
    private final Block received;

    Requests(Wire wire) {
        this.wire = wire;
        MemorySegment memory = Arena.ofAuto().allocate(2 * BYTES, Long.BYTES);
        this.sent = Block.of(memory.asSlice(0, BYTES));
        this.received = Block.of(memory.asSlice(BYTES, BYTES));
    }

    @SuppressWarnings("EnumOrdinal") // both ends are the same program
    void ask(Request request, long bytes, long count, long number) {
        send(request.ordinal(), bytes, count, number);
    }

    Asked next() {
        wire.receive(received, BYTES);
        long request = word(0);
        if (request < 0 || request >= REQUESTS.length) {
            throw new IllegalStateException("a message that should be a request is none");
        }
        return new Asked(REQUESTS[(int) request], word(1), word(2), word(3));
    }

    void answer(Answer answer) {
        send(
                Double.doubleToRawLongBits(answer.allocatedBytes()),
                Double.doubleToRawLongBits(answer.cpuPercent()),
                answer.contextSwitches(),
                0);
    }

    Answer awaitAnswer() {
        wire.receive(received, BYTES);
        return new Answer(Double.longBitsToDouble(word(0)), Double.longBitsToDouble(word(1)), word(2));
    }

    void acknowledge() {
        send(0, 0, 0, 0);
    }

    void awaitAcknowledgement() {
        wire.receive(received, BYTES);
    }

    private void send(long first, long second, long third, long fourth) {
        MemorySegment memory = sent.memory();
        memory.set(Blocks.LONG, 0, first);
        memory.set(Blocks.LONG, Long.BYTES, second);
        memory.set(Blocks.LONG, 2L * Long.BYTES, third);
        memory.set(Blocks.LONG, 3L * Long.BYTES, fourth);
        wire.send(sent, BYTES);
    }

    private long word(int index) {
        return received.memory().get(Blocks.LONG, index * (long) Long.BYTES);
    }
}
