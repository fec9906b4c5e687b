package io.madeleine.tm.via.link;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Pieces that are registered one by one. */
class GrowingPiecesTest {
    @Test
    void shouldDoubleUpToTheBoundAndBeginAgain() {
        GrowingPieces pieces = new GrowingPieces(4096, 20_000);
        for (int time = 0; time < 2; time++) {
            assertEquals(4096, pieces.next(true));
            assertEquals(8192, pieces.next(false));
            assertEquals(16_384, pieces.next(false));
            assertEquals(20_000, pieces.next(false));
            assertEquals(20_000, pieces.next(false));
        }
    }

    @Test
    void shouldNeverExceedTheBound() {
        GrowingPieces pieces = new GrowingPieces(8192, 4096);
        assertEquals(4096, pieces.next(true));
        assertEquals(4096, pieces.next(false));
    }
}
