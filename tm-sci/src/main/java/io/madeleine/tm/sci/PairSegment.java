package io.madeleine.tm.sci;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A mapped pair segment, seen from one side.
 *
 * @param arena what the mapping lives in
 * @param memory all of the segment
 * @param layout where everything lies
 * @param side {@link PairLayout#INITIATOR} or {@link PairLayout#ACCEPTOR}
 * @param ownSlot where the peer announces news in this process's inbox
 * @param peerSlot where this process announces news in the peer's inbox
 */
record PairSegment(Arena arena, MemorySegment memory, PairLayout layout, int side, int ownSlot, int peerSlot) {
    int otherSide() {
        return PairLayout.INITIATOR + PairLayout.ACCEPTOR - side;
    }
}
