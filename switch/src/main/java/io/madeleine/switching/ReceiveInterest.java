package io.madeleine.switching;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.spi.ProtocolConnection;

/**
 * What a receiving half requests from others: readable events from its connection, and progress when no thread waits.
 *
 * <p>Threading: guarded by the connection's receive lock, except {@link #isInterested}.
 */
final class ReceiveInterest {
    private final ProgressEngine engine;
    private final ProtocolConnection protocol;
    private volatile boolean interested = true;
    private boolean raisedDemand;
    private boolean closed;

    ReceiveInterest(ProgressEngine engine, ProtocolConnection protocol) {
        this.engine = engine;
        this.protocol = protocol;
    }

    boolean isInterested() {
        return interested;
    }

    void setInterest(boolean wanted) {
        if (interested != wanted) {
            interested = wanted;
            if (closed) {
                return; // the connection's memory may be freed
            }
            try {
                protocol.receiveInterest(wanted);
            } catch (Throwable e) { // out of memory, for instance: undo, so that the next call tries again
                interested = !wanted;
                throw e;
            }
            if (wanted) {
                engine.lookAgain();
            }
        }
    }

    /** The connection is closed: it gets no further calls. */
    void close() {
        closed = true;
    }

    void raiseDemand() {
        if (!raisedDemand) {
            raisedDemand = true;
            engine.raiseDemand();
        }
    }

    void lowerDemand() {
        if (raisedDemand) {
            raisedDemand = false;
            engine.lowerDemand();
        }
    }
}
