package io.madeleine.switching;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.spi.ProtocolConnection;

/**
 * What a receiving half wants done for it: to be told of arriving bytes, and to progress though no thread waits.
 *
 * <p>Threading: guarded by the connection's receive lock, but for {@link #isInterested}.
 */
final class Attention {
    private final ProgressEngine engine;
    private final ProtocolConnection protocol;
    private volatile boolean interested = true;
    private boolean raisedDemand;
    private boolean closed;

    Attention(ProgressEngine engine, ProtocolConnection protocol) {
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
                return; // what the connection would tell of it may be freed
            }
            try {
                protocol.receiveInterest(wanted);
            } catch (Throwable e) { // no memory, for instance: it does not know, and is told next time
                interested = !wanted;
                throw e;
            }
            if (wanted) {
                engine.lookAgain();
            }
        }
    }

    /** The connection is closed: nothing will be told any more. */
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
