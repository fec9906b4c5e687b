package io.madeleine.tm.sci.shared;

import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.TruncatedFiles;
import java.util.concurrent.locks.LockSupport;

/**
 * An export of a {@linkplain SharedBlock shared block}. A peer first counts itself in, then checks the key, and counts
 * itself out when its operation is over. The owner first clears the key, then waits until the count is 0.
 *
 * <p>Threading: thread-safe.
 */
final class SciExport implements ExportedMemory {
    private static final int SPINS = 1000;
    private static final long PAUSE_NS = 50_000;

    private final SharedBlock block;
    private final int number;
    private final byte[] descriptor;
    private volatile boolean over;

    SciExport(SharedBlock block, int number, byte[] descriptor) {
        this.block = block;
        this.number = number;
        this.descriptor = descriptor;
    }

    @Override
    public byte[] descriptor() {
        return descriptor.clone();
    }

    @Override
    public boolean revoke(long timeoutNs) {
        return revokeBy(System.nanoTime() + timeoutNs);
    }

    @Override
    public void close() {
        boolean _ = revoke(0);
    }

    /**
     * Clears the key and waits for the operations under way until the deadline.
     *
     * @return whether no operation is under way
     */
    boolean revokeBy(long deadlineNs) {
        BlockFile file = block.file();
        try {
            takeKeyAway(file);
            for (int looks = 0; !over; looks++) {
                if (OrderedWords.volatileWord(file.end(), BlockFileLayout.users(file.end(), number)) == 0) {
                    TruncatedFiles.settle();
                    end(file);
                } else if (System.nanoTime() - deadlineNs >= 0) {
                    return false;
                } else if (looks < SPINS) {
                    Thread.onSpinWait();
                } else {
                    LockSupport.parkNanos(PAUSE_NS);
                }
            }
        } catch (IllegalStateException _) {
            end(file); // The file has been freed.
        } catch (InternalError e) {
            if (TruncatedFiles.isWhole(file.end())) {
                throw e;
            }
            end(file); // The file was cut short: no peer can work on it.
        }
        return true;
    }

    /** Clears the key, unless this export is over and another may have its place. */
    private synchronized void takeKeyAway(BlockFile file) {
        if (!over) {
            OrderedWords.setVolatile(file.end(), BlockFileLayout.key(file.end(), number), 0);
        }
    }

    /**
     * Releases the export's place. It must not be reused earlier: a peer of this export would count itself out there.
     */
    private synchronized void end(BlockFile file) {
        if (!over) {
            over = true;
            block.forget(this);
            file.giveBack(number);
        }
    }
}
