package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.ProgressEngine;
import java.lang.foreign.MemorySegment;

/**
 * An incoming message in the state EXCLUSIVE: no block waits for its data. It belongs to its user alone, who takes
 * blocks out of arrived packets without a lock. Most small messages begin and end in this state. Once a block has to
 * wait, the message is shared with the threads that poll, and every access needs the receive lock.
 *
 * <p>Threading: the user's, between {@link #enter()} and {@link #leave()}; {@link #revoke} needs the receive lock.
 */
final class ExclusiveMessage {
    private final Reception reception;
    private final Extraction extraction;
    private final Flag inside = new Flag();

    /** The message is exclusive while the reception is in the state EXCLUSIVE. */
    ExclusiveMessage(Reception reception, Extraction extraction) {
        this.reception = reception;
        this.extraction = extraction;
    }

    /**
     * Enters a call of the user.
     *
     * @return whether the message is exclusive; if so, no other thread touches it until {@link #leave()}
     */
    boolean enter() {
        inside.raise();
        if (reception.is(Reception.EXCLUSIVE)) {
            return true;
        }
        inside.lower();
        return false;
    }

    void leave() {
        inside.lower();
    }

    /**
     * Takes a block.
     *
     * @return whether its data was there; if not, the block has been appended and the caller has to share the message;
     *     a failure of the message then shows up there again
     */
    boolean take(int link, MemorySegment block, long offset, long bytes, boolean express) {
        try {
            if (extraction.takeWhole(link, block, offset, bytes)) {
                return true;
            }
        } catch (IllegalStateException | WrongThreadException _) { // the block's memory was freed
            ProgressEngine.afterFreedMemory();
        }
        extraction.append(link, block, offset, bytes, express);
        return takeArrived();
    }

    /** As {@link #take(int, MemorySegment, long, long, boolean)}, for a block that lies in the ranges of a layout. */
    boolean take(int link, BlockLayout block, boolean express) {
        extraction.append(link, block, express);
        return takeArrived();
    }

    /** Whether the message has ended successfully. */
    boolean isOver() {
        return extraction.ledger().isEnded()
                || takeArrived() && extraction.ledger().isEnded();
    }

    private boolean takeArrived() {
        try {
            extraction.extract();
        } catch (IllegalStateException | WrongThreadException _) {
            ProgressEngine.afterFreedMemory();
            return false;
        }
        return extraction.isDrained() && !extraction.ledger().isAborted();
    }

    /**
     * Ends the user's privilege, if the message is exclusive.
     *
     * @return false if a call of the user is still inside after the given time, perhaps because it failed
     */
    boolean revoke(long timeoutNs) {
        if (reception.is(Reception.EXCLUSIVE)) {
            reception.share();
            GlobalFence.pass();
            long startNs = System.nanoTime();
            while (inside.isUp()) { // such a call only moves data that is there, and never waits
                if (System.nanoTime() - startNs >= timeoutNs) {
                    return false;
                }
                Thread.onSpinWait();
            }
        }
        return true;
    }
}
