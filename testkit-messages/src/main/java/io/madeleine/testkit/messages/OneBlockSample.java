package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestBlocks.block;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/** A message as both ends know it, and whether each end uses the one call. */
record OneBlockSample(
        int number, int bytes, SendMode send, ReceiveMode receive, boolean sentWhole, boolean receivedWhole) {
    /** Sizes around the thresholds of all modules; larger ones are tested less often. */
    private static final int[] FREQUENT = {0, 1, 7, 8, 9, 64, 111, 112, 113, 1000, 1023, 1024, 1025, 8191, 8192};

    private static final int[] RARE = {8193, 32_769, 65_537, 300_001};

    @SuppressWarnings("EnumOrdinal") // any of them will do
    static OneBlockSample random(int number, Random random) {
        int[] sizes = random.nextInt(8) == 0 ? RARE : FREQUENT;
        return new OneBlockSample(
                number,
                sizes[random.nextInt(sizes.length)],
                SendMode.values()[random.nextInt(3)],
                ReceiveMode.values()[random.nextInt(2)],
                random.nextBoolean(),
                random.nextBoolean());
    }

    void sendTo(Channel channel, MemorySegment memory) {
        MemorySegment block = Pattern.fill(number, memory.asSlice(3, bytes));
        if (sentWhole) {
            channel.send(1, memory, 3, bytes, send, receive);
            block.fill((byte) 0xA5); // allowed in any mode: the message has left
        } else {
            try (OutgoingMessage out = channel.beginPacking(1)) {
                out.pack(block, send, receive);
                out.endPacking();
            }
        }
    }

    void receiveFrom(Channel channel, MemorySegment memory, Random random) {
        MemorySegment block = memory.asSlice(5, bytes);
        if (!receivedWhole) {
            try (IncomingMessage in = channel.beginUnpacking()) {
                in.unpack(block, send, receive);
                in.endUnpacking();
            }
        } else if (random.nextBoolean()) {
            assertEquals(0, channel.receive(memory, 5, bytes, send, receive));
        } else {
            channel.receive(0, block, send, receive);
        }
        Pattern.check(number, block);
    }

    /** Random memory, with room for any block and for a prefix. */
    static MemorySegment memory(Random random, Arena confined) {
        long bytes = RARE[RARE.length - 1] + 8L;
        return switch (random.nextInt(3)) {
            case 0 -> MemorySegment.ofArray(new byte[(int) bytes]);
            case 1 -> confined.allocate(bytes);
            default -> block(bytes);
        };
    }
}
