package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.madeleine.api.LossKind;
import io.madeleine.api.PeerFailedException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FailuresTest {
    @ParameterizedTest
    @EnumSource
    void shouldKeepRankKindAndTextOfALossThatAnotherThreadHasDetected(LossKind kind) {
        PeerFailedException seen = new PeerFailedException(3, kind, "it is gone");
        PeerFailedException here = assertInstanceOf(PeerFailedException.class, MessageFailures.seenFromHere(seen));
        assertEquals(3, here.rank());
        assertEquals(kind, here.kind());
        assertEquals("it is gone", here.getMessage());
        assertSame(seen, here.getCause());
    }
}
