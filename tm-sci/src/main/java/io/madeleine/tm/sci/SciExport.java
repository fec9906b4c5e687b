package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ExportedMemory;
import java.util.concurrent.locks.LockSupport;

/**
 * An export of a {@linkplain SharedBlock shared block}. A peer counts itself in before it looks at the key, and out when it is
 * done; the owner takes the key away and looks at the count then.
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

    /** Takes the key away; returns whether no operation is under way any more. */
    boolean revokeBy(long deadlineNs) {
        BlockFile file = block.file();
        try {
            takeKeyAway(file);
            for (int looks = 0; !over; looks++) {
                if (Words.volatileWord(file.end(), BlockLayout.users(file.end(), number)) == 0) {
                    CutMemory.settle();
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
            end(file); // freed meanwhile
        } catch (InternalError e) {
            if (CutMemory.isWhole(file.end())) {
                throw e;
            }
            end(file); // cut short: nobody can work on it
        }
        return true;
    }

    /** Unless another has its place by now. */
    private synchronized void takeKeyAway(BlockFile file) {
        if (!over) {
            Words.setVolatile(file.end(), BlockLayout.key(file.end(), number), 0);
        }
    }

    /** Gives its place back, which nobody may have before: whoever counts himself out would be missed there. */
    private synchronized void end(BlockFile file) {
        if (!over) {
            over = true;
            block.forget(this);
            file.giveBack(number);
        }
    }
}
