package io.madeleine.tm.sci;

import io.madeleine.pmm.SpinLock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The files of {@linkplain SharedBlocks shared blocks} of the process at the other end, mapped when they are first read. Those
 * that their owner has freed are let go of when the next is mapped that makes it worth while to look, and ten times a second.
 *
 * <p>Threading: thread-safe by a lock that is held for the length of a copy.
 */
final class PeerBlocks {
    private static final int NEWCOMERS = 8;

    private final SessionDirectory directory;
    private final FileStem peer;
    private final SpinLock lock = new SpinLock();
    private @Nullable Mapped[] mapped = new Mapped[0];
    private int newcomers;
    private volatile int count;
    private boolean closed;

    /** A block that is mapped; without memory if it was cut short: then it comes through cells, if its owner still has it. */
    private record Mapped(Arena arena, MemorySegment file, long bytes) {
        boolean isLive() {
            try {
                boolean live = BlockLayout.isLive(file);
                CutMemory.settle();
                return live;
            } catch (InternalError _) {
                return false;
            }
        }
    }

    PeerBlocks(SessionDirectory directory, FileStem peer) {
        this.directory = directory;
        this.peer = peer;
    }

    /** Reads, and answers how many bytes that were: all, or 0 if they cannot be had this way. */
    long read(long place, MemorySegment target, long offset, long bytes) {
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
            CutMemory.settle();
            return bytes;
        } catch (InternalError e) {
            if (CutMemory.isWhole(block.file)) {
                throw e; // the target's
            }
            return 0; // it comes through cells, if its owner still has it
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
            unmap(number); // another may have its number now
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
            Mapped found = new Mapped(arena, file, BlockLayout.memoryBytes(file));
            if (found.bytes > 0 && found.isLive()) {
                return found;
            }
        } catch (IOException | UnsupportedOperationException | InternalError _) {
            // it comes through cells
        }
        arena.close();
        return null;
    }

    /** Lets go of what its owner has freed, unless somebody reads just now. */
    void unmapFreedIfIdle() {
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

    void close() {
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
