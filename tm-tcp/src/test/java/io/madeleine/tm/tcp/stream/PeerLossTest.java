package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import org.junit.jupiter.api.Test;

/** Which of several reasons is told. */
final class PeerLossTest {
    private final PeerLoss loss = new PeerLoss();
    private Runnable reading = () -> {};
    private String told = "";

    private final ConnectionListener upper = new ConnectionListener() {
        @Override
        public int onReadable() {
            reading.run();
            return 0;
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String reason) {
            told += (orderly ? "orderly: " : "lost: ") + reason;
        }
    };

    @Test
    void shouldTellWhatReadingFindsRatherThanThatASendFailed() {
        assertTrue(loss.noteFailedSend("sending failed: Broken pipe"));
        reading = () -> loss.note(false, "it has given this process up");
        assertEquals(1, loss.report(upper));
        assertEquals("lost: it has given this process up", told);
    }

    @Test
    void shouldTellThatASendFailedIfReadingFindsNothing() {
        loss.noteFailedSend("sending failed: Broken pipe");
        assertEquals(1, loss.report(upper));
        assertEquals("lost: sending failed: Broken pipe", told);
    }

    @Test
    void shouldKeepTheFirstReasonThatReadingFound() {
        assertTrue(loss.note(false, "its host gave no sign"));
        assertFalse(loss.noteFailedSend("sending failed: Broken pipe"));
        assertFalse(loss.note(false, "the connection was reset"));
        loss.report(upper);
        assertEquals("lost: its host gave no sign", told);
    }

    @Test
    void shouldTellAFarewellWhateverWasFoundBefore() {
        loss.note(false, "the connection was reset");
        reading = () -> loss.note(true, "it closed its end");
        loss.report(upper);
        assertEquals("orderly: it closed its end", told);
    }

    @Test
    void shouldTellOnce() {
        loss.note(false, "the connection was reset");
        loss.report(upper);
        assertEquals(0, loss.report(upper));
        assertEquals("lost: the connection was reset", told);
    }

    @Test
    void shouldTellOfALossAgainIfMemoryWasTooShortForThat() {
        loss.note(false, "the connection was reset");
        reading = () -> {
            throw new OutOfMemoryError("as a test");
        };
        assertThrows(OutOfMemoryError.class, () -> loss.report(upper));
        reading = () -> {};
        assertEquals(1, loss.report(upper));
        assertEquals("lost: the connection was reset", told);
    }
}
