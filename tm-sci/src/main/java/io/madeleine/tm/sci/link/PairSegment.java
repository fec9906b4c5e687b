package io.madeleine.tm.sci.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A mapped pair segment, seen from one side.
 *
 * <p>Threading: immutable; the memory is shared between processes.
 *
 * @param arena the lifetime of the mapping
 * @param memory the whole segment
 * @param layout its layout
 * @param side {@link PairLayout#INITIATOR} or {@link PairLayout#ACCEPTOR}
 * @param ownSlot the slot in this process's inbox where the peer announces
 * @param peerSlot the slot in the peer's inbox where this process announces
 */
public record PairSegment(Arena arena, MemorySegment memory, PairLayout layout, int side, int ownSlot, int peerSlot) {
    public int otherSide() {
        return PairLayout.INITIATOR + PairLayout.ACCEPTOR - side;
    }
}
