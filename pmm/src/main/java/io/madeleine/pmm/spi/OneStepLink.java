package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;

/**
 * A link that can also move a packet that is one block, whole, in one step. Such a step does what the several calls of {@link
 * StaticLink} do that it stands for, and spares what each of those has to look at anew: of small messages that is most of what they
 * cost.
 *
 * <p>A step that is refused has done nothing, and the calls that it stands for are made; they also tell what stands in the way. A
 * link need not take a step whenever it could. A step never fails for want of heap memory.
 *
 * <p>Threading: as {@link TransmissionLink} says.
 */
public interface OneStepLink extends StaticLink {
    /**
     * {@link #claim}, filling and {@link #commit}. No buffer is claimed; {@link #announce} follows.
     *
     * @param header of a packet that a buffer has room for
     * @param block where the payload lies
     * @param offset where in that
     * @return whether the packet has left
     * @throws IllegalStateException if the block's memory has been freed ({@link WrongThreadException} if it is another thread's);
     *     nothing has left then
     */
    boolean sendPacket(long header, MemorySegment block, long offset);

    /**
     * {@link #front}, {@link #receiveWhole} and {@link #release}. Nothing of the packet in front has been taken.
     *
     * @param header of the packet that is wanted
     * @param block where its payload is to lie
     * @param offset where in that
     * @return whether this packet was in front, and has been received
     * @throws IllegalStateException as {@link #sendPacket}; nothing was taken then
     */
    boolean receivePacket(long header, MemorySegment block, long offset);
}
