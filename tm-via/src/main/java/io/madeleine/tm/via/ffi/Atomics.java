package io.madeleine.tm.via.ffi;

import io.madeleine.tm.via.ffi.Offsets.FiOpsAtomic;
import io.madeleine.tm.via.ffi.Offsets.FidEp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The atomic operations of an endpoint that was opened with {@link Flags#FI_ATOMIC}. Each returns as those of {@link
 * Operations}.
 *
 * <p>Threading: thread-safe, as the provider is asked for {@code FI_THREAD_SAFE}. The calls allocate nothing.
 */
public final class Atomics {
    private final long endpoint;
    private final MemorySegment fetch;
    private final MemorySegment compare;

    private Atomics(long endpoint, long table) {
        this.endpoint = endpoint;
        this.fetch = Raw.function(table, FiOpsAtomic.READWRITE);
        this.compare = Raw.function(table, FiOpsAtomic.COMPWRITE);
    }

    /** Whether the provider adds to words, and sets them if they have the expected value, of both widths. */
    static boolean has(long endpoint) {
        long table = Raw.pointer(endpoint + FidEp.ATOMIC);
        if (table == 0) {
            return false;
        }
        MemorySegment fetches = Raw.function(table, FiOpsAtomic.READWRITEVALID);
        MemorySegment compares = Raw.function(table, FiOpsAtomic.COMPWRITEVALID);
        try (Arena scratch = Arena.ofConfined()) {
            long count = scratch.allocate(Long.BYTES, Long.BYTES).address();
            boolean all = true;
            for (int type : new int[] {Flags.FI_INT32, Flags.FI_INT64}) {
                all &= Downcalls.valid(fetches, endpoint, type, Flags.FI_SUM, count) == 0 && Raw.pointer(count) > 0;
                all &= Downcalls.valid(compares, endpoint, type, Flags.FI_CSWAP, count) == 0 && Raw.pointer(count) > 0;
            }
            return all;
        }
    }

    static Atomics of(long endpoint) {
        return new Atomics(endpoint, Raw.pointer(endpoint + FidEp.ATOMIC));
    }

    private static int type(int width) {
        return width == Long.BYTES ? Flags.FI_INT64 : Flags.FI_INT32;
    }

    /** Adds the operand to a word of a peer; the result is the old value. */
    public long fetchAdd(
            int width, long operand, long result, long descriptor, long peer, long target, long key, long context) {
        return Downcalls.fetch(
                fetch, endpoint, operand, result, descriptor, peer, target, key, type(width), Flags.FI_SUM, context);
    }

    /** Sets a word of a peer if it has the compared value; the result is the old value. */
    public long compareAndSet(
            int width,
            long operand,
            long compared,
            long result,
            long descriptor,
            long peer,
            long target,
            long key,
            long context) {
        return Downcalls.compare(
                compare,
                endpoint,
                operand,
                compared,
                result,
                descriptor,
                peer,
                target,
                key,
                type(width),
                Flags.FI_CSWAP,
                context);
    }
}
