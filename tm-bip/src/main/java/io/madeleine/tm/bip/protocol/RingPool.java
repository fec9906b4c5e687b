package io.madeleine.tm.bip.protocol;

import io.madeleine.pmm.SpinLock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

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

    /** After a failure the JVM is asked again after this time: it takes half a second to find that it has no memory. */
    static final long PAUSE_NS = 5_000_000_000L;

    private final LongSupplier clock;
    private final IntFunction<MemorySegment> memory;
    private final SpinLock lock = new SpinLock();
    private final Map<Integer, ArrayDeque<RingMemory>> free = new HashMap<>();
    private long takenBytes;
    private long keptBytes;
    private boolean exhausted;
    private long failedNs;

    /** A pool without rings; the clock is in nanoseconds. Each ring has an arena: the collector can free it alone. */
    public RingPool(LongSupplier clock) {
        this(clock, bytes -> Arena.ofAuto().allocate(bytes, 64));
    }

    /** With memory from elsewhere. */
    RingPool(LongSupplier clock, IntFunction<MemorySegment> memory) {
        this.clock = clock;
        this.memory = memory;
    }

    /**
     * Takes a ring.
     *
     * @throws OutOfMemoryError if the system has no memory left, or had none a moment ago and no ring has come back
     */
    RingMemory take(int bytes) {
        RingMemory kept = takeKept(bytes);
        if (kept != null) {
            return kept;
        }
        try {
            return allocated(bytes);
        } catch (OutOfMemoryError e) {
            if (!hasDroppedKept()) {
                throw e;
            }
        }
        return allocated(bytes);
    }

    private @Nullable RingMemory takeKept(int bytes) {
        lock.lock();
        try {
            ArrayDeque<RingMemory> same = free.get(bytes);
            RingMemory ring = same == null ? null : same.poll();
            if (ring != null) {
                keptBytes -= bytes;
                takenBytes += bytes;
            } else if (exhausted && clock.getAsLong() - failedNs < PAUSE_NS) {
                throw new OutOfMemoryError("direct memory was exhausted a moment ago");
            }
            return ring;
        } finally {
            lock.unlock();
        }
    }

    /** Asks for new memory, outside the lock: that may take long. */
    private RingMemory allocated(int bytes) {
        RingMemory ring = new RingMemory(memory.apply(RingMemory.HEADROOM_BYTES + bytes));
        lock.lock();
        takenBytes += bytes;
        exhausted = false;
        lock.unlock();
        return ring;
    }

    /** The JVM had no memory: drops the rings of other sizes. Returns whether there were any. */
    private boolean hasDroppedKept() {
        lock.lock();
        try {
            boolean any = keptBytes > 0;
            free.clear();
            keptBytes = 0;
            exhausted = true;
            failedNs = clock.getAsLong();
            return any;
        } finally {
            lock.unlock();
        }
    }

    void giveBack(RingMemory ring) {
        lock.lock();
        try {
            int bytes = (int) ring.ring().byteSize();
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
