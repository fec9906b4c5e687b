package io.madeleine.testkit;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.RemoteArguments;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongSupplier;

/**
 * An attachment to memory that another process, simulated in this JVM, has exported.
 *
 * <p>Threading: thread-safe.
 */
final class LoopAttachment implements AttachedMemory {
    private final LoopRemoteMemory remote;
    private final LoopRemoteMemory.Export export;
    private volatile boolean closed;

    LoopAttachment(LoopRemoteMemory remote, LoopRemoteMemory.Export export) {
        this.remote = remote;
        this.export = export;
    }

    /** An operation that a poll carries out. */
    record Operation(LoopAttachment attachment, LongSupplier work, RemoteCompletion completion) {
        void carryOut() {
            LoopRemoteMemory.Export export = attachment.export;
            long before;
            synchronized (export) {
                if (attachment.closed || export.isLost() || export.revoked) {
                    completion.failed(new RemoteMemoryException(
                            attachment.closed ? Kind.CLOSED : export.isLost() ? Kind.LOST : Kind.REVOKED,
                            "the attachment was closed, or its memory lost or revoked, before the operation ran"));
                    return;
                }
                try {
                    before = work.getAsLong();
                } catch (RuntimeException e) {
                    ProgressEngine.afterFreedMemory();
                    completion.failed(new RemoteMemoryException(
                            Kind.CLOSED, "the caller's memory was freed before the operation ran: " + e));
                    return;
                }
            }
            completion.completed(before);
        }
    }

    @Override
    public long bytes() {
        return export.memory.byteSize();
    }

    private void check(long at, long bytes, boolean writes) {
        if (closed) {
            throw new RemoteMemoryException(Kind.CLOSED, "the attachment is closed");
        }
        if (at < 0 || bytes < 0 || bytes > bytes() || at > bytes() - bytes) {
            throw new RemoteMemoryException(
                    Kind.OUT_OF_RANGE,
                    bytes + " bytes at offset " + at + "; expected a range within the " + bytes() + " exported bytes");
        }
        if (writes && export.access == RemoteMemory.Access.READ) {
            throw new RemoteMemoryException(Kind.READ_ONLY, "the memory was exported for reading only");
        }
    }

    private void begin(LongSupplier work, RemoteCompletion completion) {
        remote.begin(new Operation(this, work, completion));
    }

    @Override
    public void put(MemorySegment source, long sourceOffset, long at, long bytes, RemoteCompletion completion) {
        RemoteArguments.checkPut(source, completion);
        check(at, bytes, true);
        RemoteArguments.checkSource(source, sourceOffset, bytes, false);
        begin(
                () -> {
                    MemorySegment.copy(source, sourceOffset, export.memory, at, bytes);
                    return 0;
                },
                completion);
    }

    @Override
    public void get(long at, MemorySegment target, long targetOffset, long bytes, RemoteCompletion completion) {
        RemoteArguments.checkGet(target, completion);
        check(at, bytes, false);
        RemoteArguments.checkTarget(target, targetOffset, bytes, false);
        begin(
                () -> {
                    MemorySegment.copy(export.memory, at, target, targetOffset, bytes);
                    return 0;
                },
                completion);
    }

    @Override
    public void fetchAdd(long at, int width, long addend, RemoteCompletion completion) {
        RemoteArguments.checkWord(completion);
        checkWord(at, width);
        begin(() -> exchange(at, width, word(at, width) + addend), completion);
    }

    @Override
    public void compareAndSet(long at, int width, long expected, long value, RemoteCompletion completion) {
        RemoteArguments.checkWord(completion);
        checkWord(at, width);
        begin(() -> word(at, width) == expected ? exchange(at, width, value) : word(at, width), completion);
    }

    private void checkWord(long at, int width) {
        check(at, width, true);
        if (width != Integer.BYTES && width != Long.BYTES || (export.memory.address() + at) % width != 0) {
            throw new RemoteMemoryException(
                    Kind.OUT_OF_RANGE,
                    "a word of " + width + " bytes at offset " + at + "; expected an aligned word of 4 or 8 bytes");
        }
    }

    private long word(long at, int width) {
        return width == Long.BYTES
                ? export.memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at)
                : export.memory.get(ValueLayout.JAVA_INT_UNALIGNED, at);
    }

    private long exchange(long at, int width, long value) {
        long before = word(at, width);
        if (width == Long.BYTES) {
            export.memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
        } else {
            export.memory.set(ValueLayout.JAVA_INT_UNALIGNED, at, (int) value);
        }
        return before;
    }

    @Override
    public void close() {
        closed = true;
    }
}
