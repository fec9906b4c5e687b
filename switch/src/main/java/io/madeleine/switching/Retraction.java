package io.madeleine.switching;

import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Step;
import org.jspecify.annotations.Nullable;

/**
 * Takes back the posted blocks of a message that has failed or was discarded. While a network may still write into
 * them, the message stays open and its user waits. If a network does not return them within
 * {@code madeleine.peer-timeout}, the connection is given up and closed, and no network accesses them any more.
 *
 * <p>Threading: {@link #start} runs under the lock of the {@link Reception}; the leader takes that lock for each step.
 */
final class Retraction implements Step {
    private final ConnectionContext connection;
    private final Reception reception;
    private @Nullable MadeleineException failure;
    private long startNs;
    private boolean takenBack;

    Retraction(ConnectionContext connection, Reception reception) {
        this.connection = connection;
        this.reception = reception;
    }

    /** Begins; when the blocks are back, the message ends with this outcome. */
    void start(@Nullable MadeleineException outcome) {
        failure = outcome;
        startNs = System.nanoTime();
        takenBack = false;
        ProgressEngine engine = connection.engine();
        engine.raiseDemand();
        engine.enqueue(this);
    }

    @Override
    public String toString() {
        return "the retraction of blocks " + connection.toHere();
    }

    @Override
    public boolean step() {
        if (!takenBack && System.nanoTime() - startNs >= connection.peerTimeoutNs()) {
            takenBack = connection.takeMemoryBack("its network did not return the memory of blocks that it may write to"
                    + " within madeleine.peer-timeout");
        }
        if (!reception.tryLock()) {
            return false;
        }
        boolean through;
        try {
            through = reception.tryConcludeRetraction(failure, takenBack);
        } finally {
            reception.settleAndUnlock();
        }
        if (through) {
            connection.engine().lowerDemand();
        }
        return through;
    }
}
