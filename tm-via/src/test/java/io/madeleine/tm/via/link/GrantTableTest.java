package io.madeleine.tm.via.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The parts of a grant's pieces land in any order, and a piece counts when all its parts have landed. */
class GrantTableTest {
    private static final int ROUNDS = 500;
    private static final int MOST_PARTS = 16;

    private static GrantTable withOneGrant() {
        GrantTable grants = new GrantTable();
        grants.addChunk(0, 1 << 17, MemorySegment.NULL, 0);
        return grants;
    }

    private static void land(GrantTable grants, int part, boolean more) {
        long immediate = GrantFlyweight.immediate(7, 0, part, more);
        assertEquals(7, GrantFlyweight.connection(immediate));
        assertTrue(grants.land(
                GrantFlyweight.grant(immediate), GrantFlyweight.part(immediate), GrantFlyweight.moreFollow(immediate)));
    }

    @Test
    void shouldCountPiecesWhosePartsLandInAnyOrder() {
        GrantTable grants = withOneGrant();
        Random random = new Random(1);
        int first = 0;
        for (int round = 0; round < ROUNDS; round++) { // the numbers come again and again
            int count = 1 + random.nextInt(MOST_PARTS);
            int end = first + count;
            List<Integer> parts = new ArrayList<>();
            for (int part = first; part < end; part++) {
                parts.add(part);
            }
            Collections.shuffle(parts, random);
            land(grants, end, false); // the next piece overtakes this one
            for (int part : parts) {
                assertEquals(GrantTable.NOT_LANDED, grants.endOfPiece(0, first));
                land(grants, part, part < end - 1);
            }
            assertEquals(end, grants.endOfPiece(0, first));
            grants.take(0, first, end);
            assertEquals(GrantTable.NOT_LANDED, grants.endOfPiece(0, first));
            assertEquals(end + 1, grants.endOfPiece(0, end));
            grants.take(0, end, end + 1);
            first = end + 1;
        }
    }

    @Test
    void shouldTakeAsManyPartsAsThereAreNumbers() {
        GrantTable grants = withOneGrant();
        for (int part = 0; part < GrantFlyweight.PARTS; part++) {
            assertEquals(GrantTable.NOT_LANDED, grants.endOfPiece(0, 0));
            land(grants, part, part < GrantFlyweight.PARTS - 1);
        }
        assertEquals(GrantFlyweight.PARTS, grants.endOfPiece(0, 0));
    }

    @Test
    void shouldNotLookForEverForTheEndOfAPiece() {
        GrantTable grants = withOneGrant();
        for (int part = 0; part < GrantFlyweight.PARTS; part++) {
            land(grants, part, true); // no peer that keeps the protocol does so
        }
        assertEquals(GrantTable.NOT_LANDED, grants.endOfPiece(0, 0));
    }

    @Test
    void shouldRefuseWhatWasNotGranted() {
        assertFalse(withOneGrant().land(1, 0, false));
    }
}
