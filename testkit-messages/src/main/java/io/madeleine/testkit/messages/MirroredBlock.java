package io.madeleine.testkit.messages;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.util.Random;

/** A block as one end sees it. */
record MirroredBlock(int bytes, SendMode send, ReceiveMode receive) {
    /** Sizes around the thresholds of all modules; larger ones take longer and are tested less often. */
    private static final int[] FREQUENT = {0, 1, 4, 40, 111, 112, 113, 1000, 1024, 1025, 5000, 8191, 8192, 8193};

    private static final int[] RARE = {9000, 30_000, 32_768, 32_769, 65_537, 100_000, 262_145};

    @SuppressWarnings("EnumOrdinal") // any of them will do
    static MirroredBlock random(Random random) {
        int[] sizes = random.nextInt(4) == 0 ? RARE : FREQUENT;
        return new MirroredBlock(
                sizes[random.nextInt(sizes.length)],
                SendMode.values()[random.nextInt(3)],
                ReceiveMode.values()[random.nextInt(4) == 0 ? 0 : 1]);
    }
}
