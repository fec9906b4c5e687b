package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.CopyEngine;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A second thread that copies, for a processor that has nothing else to do (Open-MX, section III.A, hands copies to a
 * DMA engine). A reader of a long piece offers the end of the piece to the helper and reads the beginning itself, which
 * is then warm in its cache. It takes back what the helper has not begun by then, for lack of a processor. No copy is
 * under way when the reader continues, so the helper never writes memory that its user has back.
 *
 * <p>Threading: thread-safe; a {@link Copy} belongs to one reading thread and is reused.
 */
final class CopyHelper implements AutoCloseable {
    private static final long SPIN_NS = 50_000;
    private static final int SPINS_PER_CLOCK = 64;
    private static final long END_MS = 2_000;
    private final Thread thread;
    private final AtomicBoolean inUse = new AtomicBoolean();
    private volatile @Nullable Copy offered;
    private volatile boolean parked;
    private volatile boolean closed;

    /** A copy for the helper. */
    static final class Copy {
        private static final int IDLE = 0;
        private static final int OFFERED = 1;
        private static final int RUNNING = 2;
        private static final int DONE = 3;

        private final CopyEngine.Reader reader;
        private final AtomicInteger state = new AtomicInteger();
        private long address;
        private MemorySegment target = MemorySegment.NULL;
        private long offset;
        private long bytes;
        private long count;

        /**
         * Creates an idle copy.
         *
         * @param reader used by the helper only
         */
        Copy(CopyEngine.Reader reader) {
            this.reader = reader;
        }

        /**
         * Copies, unless the owner has taken the copy back. Never fails: the owner copies itself what is missing, and
         * meets the fault there.
         *
         * @return whether it copied
         */
        private boolean run() {
            if (!state.compareAndSet(OFFERED, RUNNING)) {
                return false;
            }
            try {
                count = Math.max(0, reader.read(address, target, offset, bytes));
            } catch (RuntimeException | Error _) {
                count = 0; // For example, the target's memory has been freed.
            } finally {
                state.set(DONE);
            }
            return true;
        }
    }

    CopyHelper(String name) {
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::work);
        thread.start();
    }

    /**
     * Offers a copy, which the caller has to {@linkplain #finish finish}.
     *
     * @return false if the helper is busy or cannot access the target
     */
    boolean offer(Copy copy, long address, MemorySegment target, long offset, long bytes) {
        if (closed || !target.isAccessibleBy(thread) || !inUse.compareAndSet(false, true)) {
            return false;
        }
        copy.address = address;
        copy.target = target;
        copy.offset = offset;
        copy.bytes = bytes;
        copy.count = 0;
        copy.state.set(Copy.OFFERED);
        offered = copy;
        if (parked) {
            LockSupport.unpark(thread);
        }
        return true;
    }

    /**
     * Waits until the copy is over if the helper has begun it, else takes it back; returns the number of bytes copied.
     */
    long finish(Copy copy) {
        if (!copy.state.compareAndSet(Copy.OFFERED, Copy.IDLE)) {
            for (int turn = 1; copy.state.get() != Copy.DONE; turn++) { // The system call ends in any case.
                if (turn % SPINS_PER_CLOCK == 0) {
                    Thread.yield();
                } else {
                    Thread.onSpinWait();
                }
            }
            copy.state.set(Copy.IDLE);
        }
        offered = null;
        copy.target = MemorySegment.NULL;
        long count = copy.count;
        inUse.set(false);
        return count;
    }

    private void work() {
        long idleSinceNs = System.nanoTime();
        for (int turn = 1; !closed; turn++) {
            Copy copy = offered;
            if (copy != null && copy.run()) {
                idleSinceNs = System.nanoTime();
            } else if (turn % SPINS_PER_CLOCK != 0 || System.nanoTime() - idleSinceNs < SPIN_NS) {
                Thread.onSpinWait();
            } else {
                parked = true;
                if (offered == null && !closed) {
                    LockSupport.park(this);
                }
                parked = false;
                idleSinceNs = System.nanoTime();
            }
        }
    }

    /** Ends the thread. A copy that was offered and not begun stays undone until {@link #finish} takes it back. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        try {
            thread.join(END_MS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
