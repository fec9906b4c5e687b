package io.madeleine.tm.via.link;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.LossKind;
import org.junit.jupiter.api.Test;

/** The kind of a loss agrees with its text. */
class ConnectionEndTest {
    private final ConnectionEnd end = new ConnectionEnd();

    @Test
    void shouldKeepKindAndTextOfTheFirstLoss() {
        end.ended(LossKind.PEER, "its process has ended");
        end.ended(LossKind.CONNECTION, "sending to it failed");
        end.finished();
        assertEquals(LossKind.PEER, end.kind());
        assertEquals("its process has ended", end.reason());
    }

    @Test
    void shouldNotCallAPeerLostThatHasFinishedBefore() {
        end.finished();
        end.ended(LossKind.PEER, "its process has ended");
        assertEquals(LossKind.CONNECTION, end.kind());
        assertEquals("it has finished", end.reason());
    }
}
