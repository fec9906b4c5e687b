package io.madeleine.tm.via.remote;

import io.madeleine.pmm.RemoteArguments;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import java.lang.foreign.MemorySegment;

/**
 * Attached memory: its operations are one-sided operations of the provider.
 *
 * <p>A completed put is visible to the owner where the provider can tell ({@code FI_DELIVERY_COMPLETE}), as shm,
 * tcp;ofi_rxm and net can; with others, the owner's side has acknowledged it. Operations take effect in any order.
 *
 * <p>Threading: thread-safe. Memory that is not the session's is also accessed by the thread that polls.
 */
final class ViaAttachment implements AttachedMemory {
    private final ViaRemoteMemory all;
    private final Transfers transfers;
    final Target target;
    final RemoteMessage owner;
    private volatile boolean closed;

    /** When the owner's adapter is gone, whether or not operations are under way; 0 if it is not closing. */
    volatile long ownerEndsNs;

    ViaAttachment(ViaRemoteMemory all, Transfers transfers, Target target, RemoteMessage owner) {
        this.all = all;
        this.transfers = transfers;
        this.target = target;
        this.owner = owner;
    }

    @Override
    public long bytes() {
        return owner.place().bytes();
    }

    @Override
    public void put(MemorySegment source, long sourceOffset, long at, long bytes, RemoteCompletion completion) {
        RemoteArguments.checkPut(source, completion);
        check(at, bytes, true);
        RemoteArguments.checkSource(source, sourceOffset, bytes, false);
        transfers.begin(target, Transfer.PUT, source, sourceOffset, at, bytes, 0, 0, completion);
    }

    @Override
    public void get(long at, MemorySegment into, long targetOffset, long bytes, RemoteCompletion completion) {
        RemoteArguments.checkGet(into, completion);
        check(at, bytes, false);
        RemoteArguments.checkTarget(into, targetOffset, bytes, false);
        transfers.begin(target, Transfer.GET, into, targetOffset, at, bytes, 0, 0, completion);
    }

    @Override
    public void fetchAdd(long at, int width, long addend, RemoteCompletion completion) {
        RemoteArguments.checkWord(completion);
        checkWord(at, width);
        transfers.begin(target, Transfer.ADD, MemorySegment.NULL, 0, at, width, addend, 0, completion);
    }

    @Override
    public void compareAndSet(long at, int width, long expected, long value, RemoteCompletion completion) {
        RemoteArguments.checkWord(completion);
        checkWord(at, width);
        transfers.begin(target, Transfer.SET, MemorySegment.NULL, 0, at, width, expected, value, completion);
    }

    private void checkWord(long at, int width) {
        check(at, width, true);
        if (width != Integer.BYTES && width != Long.BYTES || !owner.place().isAligned(at, width)) {
            throw new RemoteMemoryException(
                    Kind.OUT_OF_RANGE,
                    "a word of " + width + " bytes at offset " + at
                            + ": expected 4 or 8 bytes, naturally aligned in its owner's memory");
        }
        if (!all.capabilities().atomics()) {
            throw new RemoteMemoryException(
                    Kind.UNSUPPORTED,
                    "the provider of this adapter has no atomic operations on words of 4 and 8 bytes; shm and"
                            + " tcp;ofi_rxm have them (madeleine.tm.via.adapters)");
        }
    }

    private void check(long at, long bytes, boolean writes) {
        if (at < 0 || bytes < 0 || bytes > bytes() || at > bytes() - bytes) {
            throw new RemoteMemoryException(
                    Kind.OUT_OF_RANGE,
                    bytes + " bytes at offset " + at + ": expected a range within the " + bytes() + " bytes attached");
        }
        if (writes && !owner.place().isWritable()) {
            throw new RemoteMemoryException(Kind.READ_ONLY, "the owner has exported this memory read-only");
        }
        if (closed) {
            throw new RemoteMemoryException(Kind.CLOSED, "the attachment is closed");
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            all.leave(
                    this,
                    new RemoteMemoryException(Kind.CLOSED, "the attachment was closed before the operation began"));
        }
    }
}
