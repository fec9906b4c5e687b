package io.madeleine.tm.bip.protocol;

import io.madeleine.pmm.SpinLock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * The memory of all rings of an adapter. A connection has rings while bytes are on their way, and gives them back when
 * it has been quiet: so an idle peer costs no buffer.
 *
 * <p>Threading: thread-safe.
 */
public final class RingPool {
    private final Arena arena;
    private final SpinLock lock = new SpinLock();
    private final Map<Integer, ArrayDeque<MemorySegment>> free = new HashMap<>();
    private long takenBytes;

    /** A pool that takes its memory from a shared arena, which its owner closes. */
    public RingPool(Arena arena) {
        this.arena = arena;
    }

    /**
     * Takes a ring.
     *
     * @throws OutOfMemoryError if the system has no memory left
     */
    MemorySegment take(int bytes) {
        lock.lock();
        try {
            ArrayDeque<MemorySegment> same = free.get(bytes);
            MemorySegment ring = same == null ? null : same.poll();
            if (ring == null) {
                ring = arena.allocate(bytes, 64);
            }
            takenBytes += bytes;
            return ring;
        } finally {
            lock.unlock();
        }
    }

    void giveBack(MemorySegment ring) {
        lock.lock();
        try {
            int bytes = (int) ring.byteSize();
            free.computeIfAbsent(bytes, _ -> new ArrayDeque<>()).push(ring);
            takenBytes -= bytes;
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
