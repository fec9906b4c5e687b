package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;

/**
 * A link that can also send or receive a packet of a single block in one call. The call has the effect of several calls
 * of {@link StaticLink}, and saves the state checks that each of them repeats; for a small message these are most of
 * its cost.
 *
 * <p>A call that returns false has changed nothing. The caller then makes the separate calls, which also report the
 * obstacle. A link may return false even if it could move the packet. These calls never fail for lack of heap memory.
 *
 * <p>Threading: as for {@link TransmissionLink}.
 */
public interface OneStepLink extends StaticLink {
    /**
     * Does {@link #claim}, copies the block into the buffer, and does {@link #commit}. Call it while no buffer is
     * claimed, and call {@link #announce} after it.
     *
     * @param header the header of a packet that fits in a buffer; its payload length is the number of bytes to send
     * @param block the memory that holds the payload
     * @param offset the payload's offset in the block
     * @return whether the packet has been sent
     * @throws IllegalStateException if the block's memory has been freed ({@link WrongThreadException} if it belongs to
     *     another thread); nothing has been sent then
     */
    boolean sendPacket(long header, MemorySegment block, long offset);

    /**
     * Does {@link #front}, {@link #receiveWhole} and {@link #release}. Call it while nothing of the packet in front has
     * been taken.
     *
     * @param header the header of the expected packet
     * @param block the memory for its payload
     * @param offset the payload's offset in the block
     * @return whether this packet was in front and has been received
     * @throws IllegalStateException as for {@link #sendPacket}; nothing has been taken then
     */
    boolean receivePacket(long header, MemorySegment block, long offset);
}
