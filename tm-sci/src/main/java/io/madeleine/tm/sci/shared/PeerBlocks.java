package io.madeleine.tm.sci.shared;

import io.madeleine.pmm.SpinLock;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.memory.SegmentFile;
import io.madeleine.tm.sci.memory.TruncatedFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The files of a peer's {@linkplain SharedBlocks shared blocks}, mapped when they are first read. Files that the owner
 * has freed are unmapped ten times a second, in an idle process once in three seconds, and when many new ones have been
 * mapped since the last look.
 *
 * <p>Threading: thread-safe by a spin lock, which is held for the length of a copy.
 */
public final class PeerBlocks {
    private static final int NEWCOMERS = 8;

    private final SessionDirectory directory;
    private final FileStem peer;
    private final SpinLock lock = new SpinLock();
    private @Nullable Mapped[] mapped = new Mapped[0];
    private int newcomers;
    private volatile int count;
    private boolean closed;

    /** A mapped file. */
    private record Mapped(Arena arena, MemorySegment file, long bytes) {
        boolean isLive() {
            try {
                boolean live = BlockFileLayout.isLive(file);
                TruncatedFiles.settle();
                return live;
            } catch (InternalError _) {
                return false;
            }
        }
    }

    public PeerBlocks(SessionDirectory directory, FileStem peer) {
        this.directory = directory;
        this.peer = peer;
    }

    /**
     * Reads from a shared block.
     *
     * @return the number of bytes read: all, or 0 if they cannot be read this way
     */
    public long read(long place, MemorySegment target, long offset, long bytes) {
        lock.lock();
        try {
            Mapped block = block(SharedBlocks.number(place));
            long from = SharedBlocks.offset(place);
            return block == null || from + bytes > block.bytes ? 0 : copy(block, from, target, offset, bytes);
        } finally {
            lock.unlock();
        }
    }

    private static long copy(Mapped block, long from, MemorySegment target, long offset, long bytes) {
        try {
            MemorySegment.copy(block.file, from, target, offset, bytes);
            TruncatedFiles.settle();
            return bytes;
        } catch (InternalError e) {
            if (TruncatedFiles.isWhole(block.file)) {
                throw e; // The fault is the target's memory.
            }
            return 0; // The block then comes through cells, if its owner still has it.
        }
    }

    private @Nullable Mapped block(int number) {
        if (number >= BlockFiles.MAX_FILES || closed) {
            return null;
        }
        if (number >= mapped.length) {
            mapped = Arrays.copyOf(mapped, Math.max(number + 1, 2 * mapped.length));
        }
        Mapped known = mapped[number];
        if (known != null && known.isLive()) {
            return known;
        }
        if (known != null) {
            unmap(number); // Another file may have this number now.
        }
        if (++newcomers > Math.max(NEWCOMERS, count)) {
            unmapFreed();
        }
        Mapped found = map(number);
        if (found != null) {
            mapped[number] = found;
            count++;
        }
        return found;
    }

    private @Nullable Mapped map(int number) {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment file = SegmentFile.openToRead(directory.blockFile(peer, number), arena);
            Mapped found = new Mapped(arena, file, BlockFileLayout.memoryBytes(file));
            if (found.bytes > 0 && found.isLive()) {
                return found;
            }
        } catch (IOException | UnsupportedOperationException | InternalError _) {
            // The block then comes through cells.
        }
        arena.close();
        return null;
    }

    /** Unmaps files that their owner has freed, unless another thread is reading. */
    public void unmapFreedIfIdle() {
        if (count > 0 && lock.tryLock()) {
            try {
                unmapFreed();
            } finally {
                lock.unlock();
            }
        }
    }

    private void unmapFreed() {
        newcomers = 0;
        for (int number = 0; number < mapped.length; number++) {
            Mapped block = mapped[number];
            if (block != null && !block.isLive()) {
                unmap(number);
            }
        }
    }

    private void unmap(int number) {
        Mapped block = mapped[number];
        if (block != null) {
            mapped[number] = null;
            count--;
            block.arena.close();
        }
    }

    public void close() {
        lock.lock();
        try {
            closed = true;
            for (int number = 0; number < mapped.length; number++) {
                unmap(number);
            }
        } finally {
            lock.unlock();
        }
    }
}
