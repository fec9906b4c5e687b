package io.madeleine.switching;

import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Step;
import org.jspecify.annotations.Nullable;

/**
 * Takes back the blocks of a message that has failed, or that its user does not want, of those links to which they were posted:
 * as long as a network may write into them the message is its user's, who waits for that. A network that does not give them
 * back within {@code madeleine.peer-timeout} loses the connection, after which they come back by means of this side.
 *
 * <p>Threading: begun under the lock of the {@link Reception}, which the leader takes for each step.
 */
final class Retraction implements Step {
    private final SwitchedConnection connection;
    private final Reception reception;
    private @Nullable MadeleineException failure;
    private long startNs;
    private boolean overdue;

    Retraction(SwitchedConnection connection, Reception reception) {
        this.connection = connection;
        this.reception = reception;
    }

    /** Begins; the message ends like that when it is through. */
    void start(@Nullable MadeleineException outcome) {
        failure = outcome;
        startNs = System.nanoTime();
        overdue = false;
        ProgressEngine engine = connection.engine();
        engine.raiseDemand();
        engine.enqueue(this);
    }

    @Override
    public boolean step() {
        if (!reception.tryLock()) {
            return false;
        }
        boolean through;
        try {
            through = reception.tryConcludeRetraction(failure);
        } finally {
            reception.settleAndUnlock();
        }
        if (through) {
            connection.engine().lowerDemand();
        } else if (!overdue && System.nanoTime() - startNs >= connection.peerTimeoutNs()) {
            overdue = true;
            connection.breakUp("its network did not give back the memory of blocks that it may write to within"
                    + " madeleine.peer-timeout");
        }
        return through;
    }
}
