package io.madeleine.tm.bip.protocol;

import io.madeleine.pmm.SpinLock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * The memory of all rings of an adapter. A connection has rings while bytes are on their way, and gives them back when
 * it has been quiet: so an idle peer costs no buffer. The pool keeps some for the next connections that need them; the
 * garbage collector frees the others.
 *
 * <p>Threading: thread-safe.
 */
public final class RingPool {
    /** How many bytes of rings that no connection has are kept. */
    static final long MOST_KEPT_BYTES = 8 << 20;

    private final SpinLock lock = new SpinLock();
    private final Map<Integer, ArrayDeque<MemorySegment>> free = new HashMap<>();
    private long takenBytes;
    private long keptBytes;
    private boolean exhausted;

    /** A pool without rings. */
    public RingPool() {}

    /**
     * Takes a ring.
     *
     * @throws OutOfMemoryError if the system has no memory left. The JVM takes half a second to find that out, so the
     *     pool does not ask it again before a ring comes back or the owner {@linkplain #askAgain wants} it
     */
    MemorySegment take(int bytes) {
        lock.lock();
        try {
            ArrayDeque<MemorySegment> same = free.get(bytes);
            MemorySegment ring = same == null ? null : same.poll();
            if (ring == null) {
                ring = allocate(bytes);
            } else {
                keptBytes -= bytes;
            }
            takenBytes += bytes;
            return ring;
        } finally {
            lock.unlock();
        }
    }

    /** Each ring has an arena of its own, so that the collector can free it alone. */
    private MemorySegment allocate(int bytes) {
        if (exhausted) {
            throw new OutOfMemoryError("direct memory was exhausted a moment ago");
        }
        exhausted = keptBytes == 0;
        try {
            MemorySegment made = Arena.ofAuto().allocate(bytes, 64);
            exhausted = false;
            return made;
        } catch (OutOfMemoryError e) {
            if (exhausted) {
                throw e;
            }
        }
        free.clear(); // rings of other sizes
        keptBytes = 0;
        return allocate(bytes);
    }

    /** Perhaps there is memory again. */
    public void askAgain() {
        lock.lock();
        exhausted = false;
        lock.unlock();
    }

    void giveBack(MemorySegment ring) {
        lock.lock();
        try {
            int bytes = (int) ring.byteSize();
            takenBytes -= bytes;
            exhausted = false;
            if (keptBytes + bytes <= MOST_KEPT_BYTES) {
                free.computeIfAbsent(bytes, _ -> new ArrayDeque<>()).push(ring);
                keptBytes += bytes;
            }
        } finally {
            lock.unlock();
        }
    }

    /** How many bytes of rings no connection has. */
    long keptBytes() {
        lock.lock();
        try {
            return keptBytes;
        } finally {
            lock.unlock();
        }
    }

    /** How many bytes connections have taken. */
    public long takenBytes() {
        lock.lock();
        try {
            return takenBytes;
        } finally {
            lock.unlock();
        }
    }
}
