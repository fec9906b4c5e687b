package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import java.lang.foreign.MemorySegment;

/**
 * An incoming message of which no block waits for its data: it is its user's alone, who takes blocks out of what has
 * arrived without a lock. Most small messages are begun, taken and ended like that. Once a block has to wait, the message
 * is shared with whoever polls, and everything goes under the receive lock.
 *
 * <p>Threading: the user's, between {@link #enter()} and {@link #leave()}; {@link #revoke} under the receive lock.
 */
final class HeldMessage {
    private final Reception reception;
    private final Extraction extraction;
    private final Flag inside = new Flag();

    /** The message is held while the reception says so. */
    HeldMessage(Reception reception, Extraction extraction) {
        this.reception = reception;
        this.extraction = extraction;
    }

    /** Whether the message is held; if so nobody else touches it until {@link #leave()}. */
    boolean enter() {
        inside.raise();
        if (reception.is(Reception.HELD)) {
            return true;
        }
        inside.lower();
        return false;
    }

    void leave() {
        inside.lower();
    }

    /**
     * Takes a block; returns whether all of it was there. If not, it has been appended, and the message has to be shared:
     * what has gone wrong, if anything has, shows there once more.
     */
    boolean take(int link, MemorySegment block, long offset, long bytes, boolean express) {
        try {
            if (extraction.takeWhole(link, block, offset, bytes)) {
                return true;
            }
        } catch (IllegalStateException | WrongThreadException _) {
            // the block's memory is gone
        }
        extraction.append(link, block, offset, bytes, express);
        return takeArrived();
    }

    /** As {@link #take(int, MemorySegment, long, long, boolean)}, for a block that lies in the ranges of a layout. */
    boolean take(int link, BlockLayout block, boolean express) {
        extraction.append(link, block, express);
        return takeArrived();
    }

    /** Whether the message has come to its end, well. */
    boolean isOver() {
        return extraction.ledger().isEnded()
                || takeArrived() && extraction.ledger().isEnded();
    }

    private boolean takeArrived() {
        try {
            extraction.extract();
        } catch (IllegalStateException | WrongThreadException _) {
            return false;
        }
        return extraction.isDrained() && !extraction.ledger().isAborted();
    }

    /** Ends the user's privilege if there is one; false if the user's call does not return in time, having failed perhaps. */
    boolean revoke(long timeoutNs) {
        if (reception.is(Reception.HELD)) {
            reception.share();
            GlobalFence.pass();
            long startNs = System.nanoTime();
            while (inside.isUp()) { // a call that moves what is there, and waits for nothing
                if (System.nanoTime() - startNs >= timeoutNs) {
                    return false;
                }
                Thread.onSpinWait();
            }
        }
        return true;
    }
}
