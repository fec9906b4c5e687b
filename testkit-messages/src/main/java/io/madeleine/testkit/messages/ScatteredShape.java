package io.madeleine.testkit.messages;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.util.Random;

/** A block as both ends know it. */
record ScatteredShape(int number, int bytes, SendMode send, ReceiveMode receive) {
    private static final int[] FREQUENT = {0, 1, 8, 111, 113, 1023, 1025, 5000, 8193};
    private static final int[] RARE = {32_769, 65_536, 300_001, (1 << 20) + 3};

    @SuppressWarnings("EnumOrdinal") // any of them will do
    static ScatteredShape random(int number, Random random) {
        int[] sizes = random.nextInt(8) == 0 ? RARE : FREQUENT;
        return new ScatteredShape(
                number,
                sizes[random.nextInt(sizes.length)],
                SendMode.values()[random.nextInt(3)],
                ReceiveMode.values()[random.nextInt(3) == 0 ? 0 : 1]);
    }
}
