package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ExportedMemory;
import java.util.concurrent.locks.LockSupport;

/**
 * An export of a {@linkplain SharedBlocks shared block}. A peer counts itself in before it looks at the key, and out when it is
 * done; the owner takes the key away and looks at the count then.
 *
 * <p>Threading: thread-safe.
 */
final class SciExport implements ExportedMemory {
    private static final int SPINS = 1000;
    private static final long PAUSE_NS = 50_000;

    private final SharedBlocks.Block block;
    private final int number;
    private final byte[] descriptor;
    private boolean over;

    SciExport(SharedBlocks.Block block, int number, byte[] descriptor) {
        this.block = block;
        this.number = number;
        this.descriptor = descriptor;
    }

    @Override
    public byte[] descriptor() {
        return descriptor.clone();
    }

    @Override
    public synchronized boolean revoke(long timeoutNs) {
        if (!over && revoke(block, number, System.nanoTime() + timeoutNs)) {
            over = true;
            block.giveBack(number); // else nobody may have its place: whoever counts himself out would be missed there
        }
        return over;
    }

    @Override
    public void close() {
        boolean _ = revoke(0);
    }

    /** Takes an export's key away; returns whether no operation is under way any more. */
    static boolean revoke(SharedBlocks.Block block, int number, long deadlineNs) {
        try {
            Words.setVolatile(block.file(), BlockLayout.key(block.file(), number), 0);
            for (int looks = 0; ; looks++) {
                if (Words.volatileWord(block.file(), BlockLayout.users(block.file(), number)) == 0) {
                    CutMemory.settle();
                    return true;
                }
                if (System.nanoTime() - deadlineNs >= 0) {
                    return false;
                }
                if (looks < SPINS) {
                    Thread.onSpinWait();
                } else {
                    LockSupport.parkNanos(PAUSE_NS);
                }
            }
        } catch (IllegalStateException _) {
            return true; // freed meanwhile
        } catch (InternalError e) {
            if (CutMemory.isWhole(block.file())) {
                throw e;
            }
            return true; // cut short: nobody can work on it
        }
    }
}
