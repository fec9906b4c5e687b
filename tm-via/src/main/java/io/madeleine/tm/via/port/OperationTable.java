package io.madeleine.tm.via.port;

import io.madeleine.tm.via.ffi.FabricException;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The operations that may be outstanding, each with its owner and the context by which the provider names it. The
 * context is a number, or the address of 64 bytes where the provider needs memory for it. The table knows which
 * operations are under way, and in which order they began.
 *
 * <p>Threading: {@link #allocate} and {@link #free} are guarded; the rest is for any thread that owns the operation or
 * polls.
 */
final class OperationTable {
    private static final int CONTEXT_BYTES = 64;
    private static final int CHUNK = 1024;
    private static final int MAX_OPERATIONS = 1 << 20;

    /** The most polls until the provider reports the failure of an operation. */
    private static final int MOST_POLLS = 100;

    private final Arena arena;
    private final boolean needsMemory;
    private volatile @Nullable Completion[] owners = new Completion[CHUNK];
    private volatile int[] tags = new int[CHUNK];
    private volatile long[] chunks = new long[0];

    /** When each operation began: above 0 for those that send, below 0 for posted receives, else 0. Never copied. */
    private volatile AtomicLongArray[] orders = {};

    private final AtomicLong begun = new AtomicLong();
    private int end;

    OperationTable(Arena arena, boolean needsMemory) {
        this.arena = arena;
        this.needsMemory = needsMemory;
    }

    /** Makes operations with the tags 0 to {@code count - 1}; returns the number of the first. */
    synchronized int allocate(Completion owner, int count) {
        int from = firstFree(count);
        if (from + count > MAX_OPERATIONS) {
            throw new FabricException(0, "an endpoint has at most " + MAX_OPERATIONS + " operations");
        }
        @Nullable Completion[] now = owners;
        int[] nowTags = tags;
        if (from + count > now.length) {
            int length = Math.max(2 * now.length, (from + count + CHUNK - 1) / CHUNK * CHUNK);
            now = Arrays.copyOf(now, length);
            nowTags = Arrays.copyOf(nowTags, length);
        }
        for (int i = 0; i < count; i++) {
            now[from + i] = owner;
            nowTags[from + i] = i;
        }
        if (needsMemory) {
            addChunks(from + count);
        }
        addOrders(from + count);
        tags = nowTags;
        owners = now;
        end = Math.max(end, from + count);
        return from;
    }

    /** The first of this many free operations in a row. */
    private int firstFree(int count) {
        @Nullable Completion[] now = owners;
        int free = 0;
        for (int i = 0; i < end; i++) {
            free = now[i] == null ? free + 1 : 0;
            if (free == count) {
                return i + 1 - count;
            }
        }
        return end - free;
    }

    private void addChunks(int count) {
        long[] now = chunks;
        int wanted = (count + CHUNK - 1) / CHUNK;
        if (wanted > now.length) {
            long[] more = Arrays.copyOf(now, wanted);
            for (int i = now.length; i < wanted; i++) {
                more[i] = arena.allocate((long) CHUNK * CONTEXT_BYTES, CONTEXT_BYTES)
                        .address();
            }
            chunks = more;
        }
    }

    private void addOrders(int count) {
        AtomicLongArray[] now = orders;
        int wanted = (count + CHUNK - 1) / CHUNK;
        if (wanted > now.length) {
            AtomicLongArray[] more = Arrays.copyOf(now, wanted);
            for (int i = now.length; i < wanted; i++) {
                more[i] = new AtomicLongArray(CHUNK);
            }
            orders = more;
        }
    }

    private void order(int operation, long order) {
        orders[operation / CHUNK].setRelease(operation % CHUNK, order);
    }

    private long order(int operation) {
        return orders[operation / CHUNK].getAcquire(operation % CHUNK);
    }

    /** An operation that sends, reads or writes is about to begin. */
    void begin(int operation) {
        order(operation, begun.incrementAndGet());
    }

    /** A receive of its owner's memory is about to be posted. */
    void beginReceive(int operation) {
        order(operation, -begun.incrementAndGet());
    }

    /** An operation that was about to begin has not begun. */
    void notBegun(int operation) {
        order(operation, 0);
    }

    /** The oldest operation that sends, reads or writes and whose process has ended; negative if there is none. */
    int oldestToTheDead() {
        int oldest = -1;
        @Nullable Completion[] now = owners;
        for (int i = 0; i < Math.min(now.length, CHUNK * orders.length); i++) {
            Completion owner = now[i];
            if (owner != null && order(i) > 0 && (oldest < 0 || order(i) < order(oldest)) && owner.isPeerDead()) {
                oldest = i;
            }
        }
        return oldest;
    }

    /**
     * Fails operations to processes that have ended, until none is left or the provider waits for a living process.
     *
     * @param poll handles completions; false if the endpoint is closed
     * @return false if an operation may block the provider for ever
     */
    boolean failToTheDead(WaitingOperations waiting, BooleanSupplier poll) {
        long before = 0;
        for (int polls = 0; polls < MOST_POLLS; polls++) {
            boolean isOpen = poll.getAsBoolean(); // perhaps the completion is there already
            long context = isOpen && oldestToTheDead() >= 0 ? waiting.oldest() : WaitingOperations.NONE;
            int operation = context == WaitingOperations.UNKNOWN ? -1 : operation(context);
            Completion owner = operation < 0 ? null : owners[operation];
            if (context == WaitingOperations.NONE || owner != null && !owner.isPeerDead()) {
                return true;
            }
            boolean _ = owner != null && waiting.fail(context);
            polls = context == before ? polls : 0;
            before = context;
        }
        return false;
    }

    /** The position of an operation in the order in which they began, never given twice; 0 if it is not under way. */
    long orderOf(int operation) {
        return order(operation);
    }

    /** Tells the owners of all operations under way that they have failed; returns how many, without receives. */
    int failAll(String reason) {
        int failed = 0;
        for (int i = 0; i < Math.min(owners.length, CHUNK * orders.length); i++) {
            if (order(i) != 0) {
                failed += order(i) > 0 ? 1 : 0;
                fail(i, 0, reason);
            }
        }
        return failed;
    }

    /** Frees operations of which none is outstanding. */
    synchronized void free(int from, int count) {
        Arrays.fill(owners, from, from + count, null);
    }

    /** The context for the provider. */
    long context(int operation) {
        return needsMemory ? chunks[operation / CHUNK] + (long) (operation % CHUNK) * CONTEXT_BYTES : operation + 1L;
    }

    /** The operation of a context; negative if there is none. */
    private int operation(long context) {
        if (!needsMemory) {
            return context > 0 && context <= owners.length ? (int) context - 1 : -1;
        }
        long[] now = chunks;
        for (int i = 0; i < now.length; i++) {
            long offset = context - now[i];
            if (offset >= 0 && offset < (long) CHUNK * CONTEXT_BYTES) {
                return i * CHUNK + (int) (offset / CONTEXT_BYTES);
            }
        }
        return -1;
    }

    void completed(long context, long bytes) {
        int operation = operation(context);
        Completion owner = operation < 0 ? null : owners[operation];
        if (owner != null) {
            order(operation, 0);
            owner.completed(tags[operation], bytes);
        }
    }

    void failed(long context, int code, String reason) {
        int operation = operation(context);
        if (operation >= 0) {
            fail(operation, code, reason);
        }
    }

    private void fail(int operation, int code, String reason) {
        Completion owner = owners[operation];
        if (owner != null) {
            order(operation, 0);
            owner.failed(tags[operation], code, reason);
        }
    }
}
