package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The connection is lost while its messages are read: those that have arrived can still be read. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LossWhileReadingTest {
    private static final int MESSAGES = 5_000;

    private final LoneEnd end = new LoneEnd(true);
    private final ReceiveHalf half = end.receiving();

    @AfterEach
    void close() {
        end.close();
    }

    /** A user ends a message without the lock, at any moment while another thread settles what is left. */
    @Test
    void shouldGiveOutTheNextMessageHoweverThePollAndTheEndOfAMessageMeet() throws Exception {
        end.lost = true;
        end.message(0, 0);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> polling = end.startApart(() -> {
            while (!over.get()) {
                int _ = half.onReadable();
            }
        });
        try {
            for (int i = 0; i < MESSAGES; i++) {
                IncomingHandle in = half.tryBegin();
                while (in == null) {
                    assertFalse(half.isExhausted(), "message " + i + " has arrived and is lost");
                    in = half.tryBegin();
                }
                end.message(i + 1, i + 1 & 0x7f);
                assertEquals(i & 0x7f, in.unpackByte());
                in.endUnpacking();
                in.close();
            }
        } finally {
            over.set(true);
        }
        polling.get(10, TimeUnit.SECONDS);
        assertTrue(half.mayBegin(), "the last message has not been begun");
    }
}
