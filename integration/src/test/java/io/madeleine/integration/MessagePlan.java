package io.madeleine.integration;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One random message, which both ends derive from its seed: its blocks, and what the sender and the receiver do with
 * it.
 *
 * <p>Threading: immutable.
 *
 * @param seed what everything follows from
 * @param blocks the blocks, behind a header of three longs
 * @param ending what becomes of the message
 * @param endingAfter after how many blocks that happens, where it happens in the middle
 * @param asynchronousSend whether the sender ends it with endPackingAsync
 * @param asynchronousReceive whether the receiver ends it with endUnpackingAsync
 */
record MessagePlan(
        long seed,
        List<Block> blocks,
        Ending ending,
        int endingAfter,
        boolean asynchronousSend,
        boolean asynchronousReceive) {
    private static final int MAX_BLOCKS = 12;

    /** No message is longer. */
    static final int MAX_BYTES = MAX_BLOCKS << 20;

    /** Powers of two up to these, from small to large; small ones are more frequent. */
    private static final int[] SIZE_BITS = {3, 7, 7, 10, 12, 13, 14, 17, 20};

    /** What becomes of a message. */
    enum Ending {
        WHOLE,
        ABORTED,
        DISCARDED
    }

    /** One block. */
    record Block(int bytes, SendMode send, ReceiveMode receive, boolean native0, boolean native1, long seed) {
        /** Where it lies at the sender, or at the receiver. */
        boolean isNative(boolean atSender) {
            return atSender ? native0 : native1;
        }
    }

    static MessagePlan of(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Block> blocks = new ArrayList<>();
        for (int left = random.nextInt(MAX_BLOCKS); left > 0; left--) {
            int bits = SIZE_BITS[random.nextInt(SIZE_BITS.length)];
            blocks.add(new Block(
                    random.nextInt(1 << bits),
                    SendMode.values()[random.nextInt(3)],
                    ReceiveMode.values()[random.nextInt(2)],
                    random.nextBoolean(),
                    random.nextBoolean(),
                    random.nextLong()));
        }
        int dice = random.nextInt(16);
        Ending ending = dice == 0 ? Ending.ABORTED : dice == 1 ? Ending.DISCARDED : Ending.WHOLE;
        return new MessagePlan(
                seed,
                List.copyOf(blocks),
                ending,
                random.nextInt(blocks.size() + 1),
                random.nextInt(4) == 0,
                random.nextInt(4) == 0);
    }
}
