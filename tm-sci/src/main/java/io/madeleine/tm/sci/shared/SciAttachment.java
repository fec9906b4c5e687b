package io.madeleine.tm.sci.shared;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.RemoteArguments;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.TruncatedFiles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A peer's memory, mapped. Each operation is counted twice: in the file, where the owner sees it and can wait for it
 * when it revokes the export; and in this process, so that {@link #close} does not unmap the memory during an
 * operation.
 *
 * <p>Threading: thread-safe.
 */
final class SciAttachment implements AttachedMemory {
    /** The bytes to copy between two checks whether the export has been revoked. */
    private static final long PIECE_BYTES = 1 << 20;

    private final SciRemoteMemory adapter;
    private final Mapping mapping;
    private final FileStem owner;
    private final @Nullable BooleanSupplier gone;
    private final boolean writable;
    private final long key;
    private final long keyWord;
    private final long usersWord;
    private final AtomicInteger inside = new AtomicInteger();
    private volatile boolean closed;
    private volatile boolean cut;

    /** A mapped file, and the part of it that was exported. */
    record Mapping(Arena arena, MemorySegment file, long offset, long bytes) {}

    SciAttachment(
            SciRemoteMemory adapter,
            Mapping mapping,
            FileStem owner,
            @Nullable BooleanSupplier gone,
            boolean writable,
            long key,
            int export) {
        this.adapter = adapter;
        this.mapping = mapping;
        this.owner = owner;
        this.gone = gone;
        this.writable = writable;
        this.key = key;
        this.keyWord = BlockFileLayout.key(mapping.file, export);
        this.usersWord = BlockFileLayout.users(mapping.file, export);
    }

    static RemoteMemoryException lost(FileStem owner, String why) {
        return new RemoteMemoryException(
                Kind.LOST, "memory of process " + owner.identity() + " is out of reach: " + why);
    }

    static RemoteMemoryException revoked(FileStem owner) {
        return new RemoteMemoryException(
                Kind.REVOKED, "process " + owner.identity() + " has revoked this export, or freed the memory");
    }

    void throwIfRevoked() {
        if (isRevoked()) {
            throw revoked(owner);
        }
    }

    private boolean isRevoked() {
        return OrderedWords.volatileWord(mapping.file, keyWord) != key || !BlockFileLayout.isLive(mapping.file);
    }

    @Override
    public long bytes() {
        return mapping.bytes;
    }

    @Override
    public void put(MemorySegment source, long sourceOffset, long at, long bytes, RemoteCompletion completion) {
        RemoteArguments.checkPut(source, completion);
        check(at, bytes, true);
        RemoteArguments.checkSource(source, sourceOffset, bytes, true);
        RemoteMemoryException failure = enter();
        if (failure == null) {
            failure = copy(source, sourceOffset, mapping.file, mapping.offset + at, bytes);
        }
        tell(completion, failure, 0);
    }

    @Override
    public void get(long at, MemorySegment target, long targetOffset, long bytes, RemoteCompletion completion) {
        RemoteArguments.checkGet(target, completion);
        check(at, bytes, false);
        RemoteArguments.checkTarget(target, targetOffset, bytes, true);
        RemoteMemoryException failure = enter();
        if (failure == null) {
            failure = copy(mapping.file, mapping.offset + at, target, targetOffset, bytes);
        }
        tell(completion, failure, 0);
    }

    private @Nullable RemoteMemoryException copy(
            MemorySegment source, long from, MemorySegment target, long to, long bytes) {
        boolean whole = true;
        try {
            for (long done = 0; done < bytes; ) {
                if (done > 0 && isRevoked()) {
                    return revoked(owner);
                }
                long here = Math.min(PIECE_BYTES, bytes - done);
                MemorySegment.copy(source, from + done, target, to + done, here);
                done += here;
            }
            TruncatedFiles.settle();
            return null;
        } catch (IllegalStateException e) { // another thread has freed the caller's memory
            ProgressEngine.afterFreedMemory();
            throw e;
        } catch (InternalError e) {
            whole = TruncatedFiles.isWhole(mapping.file);
            if (whole) {
                throw e; // The fault is the caller's memory.
            }
            return cutShort();
        } finally {
            leave(whole);
        }
    }

    @Override
    public void fetchAdd(long at, int width, long addend, RemoteCompletion completion) {
        word(at, width, true, addend, 0, completion);
    }

    @Override
    public void compareAndSet(long at, int width, long expected, long value, RemoteCompletion completion) {
        word(at, width, false, expected, value, completion);
    }

    private void word(long at, int width, boolean adds, long first, long second, RemoteCompletion completion) {
        RemoteArguments.checkWord(completion);
        long place = mapping.offset + at;
        check(at, width, true);
        if (width != Integer.BYTES && width != Long.BYTES || place % width != 0) {
            throw new RemoteMemoryException(
                    Kind.OUT_OF_RANGE,
                    "a word of " + width + " bytes at offset " + at + ", which is offset " + place
                            + " in its owner's memory: expected 4 or 8 bytes, naturally aligned there");
        }
        RemoteMemoryException failure = enter();
        long before = 0;
        boolean whole = true;
        if (failure == null) {
            try {
                before = width == Long.BYTES
                        ? adds
                                ? OrderedWords.getAndAdd(mapping.file, place, first)
                                : OrderedWords.compareAndExchange(mapping.file, place, first, second)
                        : adds
                                ? OrderedWords.getAndAddInt(mapping.file, place, (int) first)
                                : OrderedWords.compareAndExchangeInt(mapping.file, place, (int) first, (int) second);
                TruncatedFiles.settle();
            } catch (InternalError _) {
                whole = false;
                failure = cutShort();
            } finally {
                leave(whole);
            }
        }
        tell(completion, failure, before);
    }

    private void check(long at, long bytes, boolean writes) {
        if (at < 0 || bytes < 0 || bytes > mapping.bytes || at > mapping.bytes - bytes) {
            throw new RemoteMemoryException(
                    Kind.OUT_OF_RANGE,
                    bytes + " bytes at offset " + at + ": expected a range within the " + mapping.bytes
                            + " bytes attached");
        }
        if (writes && !writable) {
            throw new RemoteMemoryException(
                    Kind.READ_ONLY, "process " + owner.identity() + " has exported this memory read-only");
        }
    }

    /** Counts an operation in; returns null if it may proceed, else its failure. */
    private @Nullable RemoteMemoryException enter() {
        inside.incrementAndGet();
        if (closed) {
            inside.decrementAndGet();
            throw new RemoteMemoryException(Kind.CLOSED, "the attachment is closed");
        }
        if (cut || gone != null && gone.getAsBoolean()) {
            inside.decrementAndGet();
            return cut ? cutShort() : lost(owner, "its process has ended");
        }
        boolean whole = true;
        try {
            OrderedWords.getAndAdd(mapping.file, usersWord, 1);
            boolean revoked = isRevoked();
            TruncatedFiles.settle();
            if (!revoked) {
                return null;
            }
        } catch (InternalError _) {
            whole = false;
        }
        leave(whole);
        return whole ? revoked(owner) : cutShort();
    }

    private void leave(boolean whole) {
        try {
            if (whole) {
                OrderedWords.getAndAdd(mapping.file, usersWord, -1);
                TruncatedFiles.settle();
            }
        } catch (InternalError _) {
            cut = true;
        } finally {
            inside.decrementAndGet();
        }
    }

    private RemoteMemoryException cutShort() {
        cut = true;
        return lost(owner, "the file of its memory was cut short by somebody");
    }

    private static void tell(RemoteCompletion completion, @Nullable RemoteMemoryException failure, long before) {
        if (failure == null) {
            completion.completed(before);
        } else {
            completion.failed(failure);
        }
    }

    @Override
    public void close() {
        synchronized (inside) {
            if (!closed) {
                closed = true;
                adapter.forget(this);
                while (inside.get() != 0) {
                    Thread.onSpinWait(); // An operation takes as long as its copy at most.
                }
                mapping.arena.close();
            }
        }
    }
}
