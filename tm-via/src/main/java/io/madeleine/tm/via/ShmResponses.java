package io.madeleine.tm.via;

import io.madeleine.tm.via.ffi.Raw;
import io.madeleine.tm.via.port.WaitingOperations;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.function.ToLongFunction;

/**
 * Fails operations that wait for dead processes over the provider shm.
 *
 * <p>In libfabric 1.17 the memory of each endpoint has a queue of responses, one for each of its own operations that a
 * peer has to carry out. The peer writes its status there, and libfabric completes the operations in their order. If
 * the peer is killed before that, its response stays busy for ever and blocks all later ones, even of living peers. So
 * this class writes for the dead peer that the operation has failed.
 *
 * <p>It writes only if the layout is that of libfabric 1.17 in each detail, and if the oldest response is busy and
 * belongs to the operation that the caller names.
 *
 * <p>Threading: no other thread polls the endpoint.
 */
final class ShmResponses implements WaitingOperations {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.tm.via");

    // ---- the queue, and an entry of it

    private static final int SIZE = 0;
    private static final int MASK = 8;
    private static final int READ = 16;
    private static final int WRITTEN = 24;
    private static final int ENTRIES = 32;
    private static final int ENTRY_BYTES = 16;
    private static final int OPERATION = 0;
    private static final int STATUS = 8;
    private static final long BUSY = 16; // EBUSY
    private static final long FAILED = 5; // EIO

    /** Where the memory of an operation holds the caller's context: behind the command and the peer's number. */
    private static final int CONTEXT = 264;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final ViaAddress own;

    ShmResponses(ViaAddress own) {
        this.own = own;
    }

    @Override
    public long oldest() {
        return ask(ShmResponses::contextOfOldest);
    }

    @Override
    public boolean fail(long context) {
        MemorySegment head = ShmMemory.headOf(own);
        boolean hasFailed = head != null && ask(queue -> fail(queue, context) ? 1 : 0) == 1;
        if (hasFailed) {
            INT.setVolatile(head, (long) ShmMemory.SIGNAL, 1); // the next poll looks at the queue
        }
        return hasFailed;
    }

    /** Applies a function to the queue; {@link #UNKNOWN} if its layout is not known. */
    private long ask(ToLongFunction<MemorySegment> function) {
        MemorySegment head = ShmMemory.headOf(own);
        if (head == null) {
            return UNKNOWN;
        }
        long begin = get(head, ShmMemory.RESPONSES);
        long bytes = get(head, ShmMemory.BEHIND_RESPONSES) - begin;
        if (begin < ShmMemory.HEAD_BYTES || begin % Long.BYTES != 0 || bytes <= ENTRIES) {
            return UNKNOWN;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment queue = ShmMemory.map(own, begin, bytes, arena);
            return isKnown(queue) ? function.applyAsLong(queue) : UNKNOWN;
        } catch (IOException e) {
            LOGGER.log(Level.DEBUG, "cannot fail an operation to a process that has ended", e);
            return UNKNOWN;
        }
    }

    private static boolean isKnown(MemorySegment queue) {
        long size = get(queue, SIZE);
        long waiting = get(queue, WRITTEN) - get(queue, READ);
        return ENTRIES + size * ENTRY_BYTES == queue.byteSize()
                && get(queue, MASK) == size - 1
                && waiting >= 0
                && waiting <= size;
    }

    private static long placeOfOldest(MemorySegment queue) {
        return ENTRIES + (get(queue, READ) & get(queue, MASK)) * ENTRY_BYTES;
    }

    private static long contextOfOldest(MemorySegment queue) {
        return get(queue, WRITTEN) == get(queue, READ)
                ? NONE
                : Raw.pointer(get(queue, placeOfOldest(queue) + OPERATION) + CONTEXT);
    }

    private static boolean fail(MemorySegment queue, long context) {
        if (contextOfOldest(queue) != context || get(queue, placeOfOldest(queue) + STATUS) != BUSY) {
            return false;
        }
        LONG.setVolatile(queue, placeOfOldest(queue) + STATUS, FAILED);
        return true;
    }

    private static long get(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_LONG, offset);
    }
}
