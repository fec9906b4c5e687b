package io.madeleine.tm.sci.shared;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * The {@linkplain Slab slabs} of this process. One empty slab is kept for the next block; further empty ones are freed.
 *
 * <p>Threading: thread-safe.
 */
public final class Slabs {
    /**
     * From this number of blocks on, slabs serve no more blocks of messages. Each block is a mapping, and Linux allows
     * a process some 65,000 mappings by default.
     */
    public static final int MANY_BLOCKS = 1 << 14;

    private final BlockFiles files;
    private final List<Slab> slabs = new ArrayList<>();
    private int blocks;

    Slabs(BlockFiles files) {
        this.files = files;
    }

    synchronized boolean areMany() {
        return blocks >= MANY_BLOCKS;
    }

    /**
     * Takes a block out of a slab, or out of a new one.
     *
     * <p>Ownership: the memory is the arena's. After the arena is closed, the caller gives the block back.
     *
     * @param bytes at most {@link Slab#MAX_BLOCK_BYTES}
     * @throws IOException if there is no room
     */
    SharedBlock take(long bytes, Arena arena) throws IOException {
        Slab slab;
        long offset;
        synchronized (this) {
            slab = withRoom(bytes);
            offset = slab.take(bytes);
            blocks++;
        }
        try {
            return new SharedBlock(slab.file(), slab, offset, slab.map(offset, bytes, arena));
        } catch (IOException | RuntimeException | Error e) {
            giveBack(slab, offset, bytes);
            throw e;
        }
    }

    private Slab withRoom(long bytes) throws IOException {
        for (Slab slab : slabs) {
            if (slab.hasRoom(bytes)) {
                return slab;
            }
        }
        int number = files.takeNumber();
        try {
            Slab made = Slab.create(number, files.path(number));
            slabs.add(made);
            return made;
        } catch (IOException | RuntimeException | Error e) {
            files.giveBack(number);
            throw e;
        }
    }

    /** Returns the pages of a block whose memory has been freed. */
    void giveBack(Slab slab, SharedBlock block) {
        giveBack(slab, block.offset(), block.memory().byteSize());
    }

    private synchronized void giveBack(Slab slab, long offset, long bytes) {
        slab.giveBack(offset, bytes);
        blocks--;
        freeIfUnused(slab);
    }

    /** Forgets a block without reusing its pages, because a peer may still write to them. */
    synchronized void spoil(Slab slab) {
        slab.spoil();
        blocks--;
        freeIfUnused(slab);
    }

    private void freeIfUnused(Slab slab) {
        if (slab.isUnused()
                && (!slab.isEmpty() || slabs.stream().anyMatch(other -> other != slab && other.isEmpty()))) {
            free(slab);
        }
    }

    private void free(Slab slab) {
        slabs.remove(slab);
        slab.free();
        files.delete(slab.file().number());
    }

    /** Frees all slabs, even if there are blocks in them. */
    synchronized void close() {
        List.copyOf(slabs).forEach(this::free);
    }
}
