package io.madeleine.tm.via.ffi;

import io.madeleine.tm.via.ffi.Offsets.FiCqDataEntry;
import io.madeleine.tm.via.ffi.Offsets.FiCqErrEntry;
import io.madeleine.tm.via.ffi.Offsets.FiOpsCq;
import io.madeleine.tm.via.ffi.Offsets.FidCq;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The queue of all completions of an endpoint, read in batches.
 *
 * <p>Threading: one thread at a time. The calls allocate nothing.
 */
public final class CompletionQueue {
    /** The number of completions of one batch. */
    public static final int BATCH = 32;

    private static final int ENTRY_BYTES = 40;

    /** The size of an error entry in the newest release, and room for it to grow. */
    private static final int ERROR_BYTES = 256;

    private static final int TEXT_BYTES = 256;

    private final FabricLibrary library;
    private final long queue;
    private final MemorySegment read;
    private final MemorySegment readError;
    private final MemorySegment errorText;
    private final MemorySegment entries;
    private final MemorySegment error;
    private final MemorySegment text;
    private final MemorySegment fids;
    private final long fabric;
    private final MemorySegment trywait;
    private final int descriptor;

    CompletionQueue(
            FabricLibrary library, long queue, Arena arena, long fabric, MemorySegment trywait, int descriptor) {
        this.library = library;
        this.queue = queue;
        long ops = Raw.pointer(queue + FidCq.OPS);
        this.read = Raw.function(ops, FiOpsCq.READ);
        this.readError = Raw.function(ops, FiOpsCq.READERR);
        this.errorText = Raw.function(ops, FiOpsCq.STRERROR);
        this.entries = arena.allocate((long) BATCH * ENTRY_BYTES, 64);
        this.error = arena.allocate(ERROR_BYTES, 64);
        this.text = arena.allocate(TEXT_BYTES);
        this.fids = arena.allocate(Long.BYTES, Long.BYTES);
        fids.set(ValueLayout.JAVA_LONG, 0, queue);
        this.fabric = fabric;
        this.trywait = trywait;
        this.descriptor = descriptor;
    }

    long fid() {
        return queue;
    }

    /** The file descriptor to wait on; negative if there is none. */
    public int descriptor() {
        return descriptor;
    }

    /** Whether a thread may now wait on the descriptor; if not, there may be completions. */
    public boolean mayWait() {
        return Downcalls.trywait(trywait, fabric, fids.address(), 1) == 0;
    }

    /**
     * Reads a batch of completions.
     *
     * @return how many, 0 if there is none, or a negative error number: after {@link Flags#FI_EAVAIL}, call {@link
     *     #readError}
     */
    public int read() {
        long count = Downcalls.longOf3(read, queue, entries.address(), BATCH);
        return count == -Flags.FI_EAGAIN ? 0 : (int) count;
    }

    private long field(int entry, int offset) {
        return entries.get(ValueLayout.JAVA_LONG, (long) entry * ENTRY_BYTES + offset);
    }

    /** The context of the operation that completed. */
    public long context(int entry) {
        return field(entry, FiCqDataEntry.OP_CONTEXT);
    }

    /** What completed. */
    public long flags(int entry) {
        return field(entry, FiCqDataEntry.FLAGS);
    }

    /** The length of a received message in bytes. */
    public long bytes(int entry) {
        return field(entry, FiCqDataEntry.LEN);
    }

    /** The immediate data. */
    public long data(int entry) {
        return field(entry, FiCqDataEntry.DATA);
    }

    /** Reads the failed operation in front; returns whether there is one. */
    public boolean readError() {
        error.fill((byte) 0);
        return Downcalls.longOf3(readError, queue, error.address(), 0) == 1;
    }

    /** The context of the failed operation. */
    public long errorContext() {
        return error.get(ValueLayout.JAVA_LONG, FiCqErrEntry.OP_CONTEXT);
    }

    /** What failed. */
    public long errorFlags() {
        return error.get(ValueLayout.JAVA_LONG, FiCqErrEntry.FLAGS);
    }

    /** libfabric's positive error number of the failed operation. */
    public int errorCode() {
        return error.get(ValueLayout.JAVA_INT, FiCqErrEntry.ERR);
    }

    /** Describes the failure, with the provider's own text. */
    public String errorText() {
        int provider = error.get(ValueLayout.JAVA_INT, FiCqErrEntry.PROV_ERRNO);
        String general = library.errorText(errorCode());
        String own = Raw.text(Downcalls.strerror(
                errorText,
                queue,
                provider,
                error.get(ValueLayout.JAVA_LONG, FiCqErrEntry.ERR_DATA),
                text.address(),
                TEXT_BYTES));
        return own.isEmpty() || own.equals(general) ? general : general + " (the provider says: " + own + ")";
    }
}
