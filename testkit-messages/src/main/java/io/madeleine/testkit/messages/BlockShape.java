package io.madeleine.testkit.messages;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.util.ArrayList;
import java.util.List;

/** A block of a message as both ends know it. */
record BlockShape(int number, int bytes, BlockMemory memory, SendMode send, ReceiveMode receive) {
    static final int VERY_LARGE_BYTES = 16 << 20;
    private static final int LARGE_BYTES = 1 << 20;
    private static final int[] SIZES = {
        0, 1, 7, 8, 111, 112, 113, 1023, 1024, 4096, 8192, 32768, 65536, (1 << 20) + 3, 16 << 20
    };

    /** Every size in every mode and kind of memory: the large sizes, or the others. */
    static List<BlockShape> all(boolean large) {
        List<BlockShape> shapes = new ArrayList<>();
        for (SendMode send : SendMode.values()) {
            for (ReceiveMode receive : ReceiveMode.values()) {
                for (BlockMemory memory : BlockMemory.values()) {
                    for (int bytes : SIZES) {
                        if (bytes >= LARGE_BYTES == large && memory.isWorthTrying(bytes)) {
                            shapes.add(new BlockShape(shapes.size(), bytes, memory, send, receive));
                        }
                    }
                }
            }
        }
        return shapes;
    }

    boolean isVeryLarge() {
        return bytes >= VERY_LARGE_BYTES;
    }
}
