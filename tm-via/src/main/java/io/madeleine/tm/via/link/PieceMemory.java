package io.madeleine.tm.via.link;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.IoVector;
import io.madeleine.tm.via.port.KeptRegistration;
import io.madeleine.tm.via.port.RegionUses;
import io.madeleine.tm.via.port.ViaPort;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one tagged message: a few ranges of the user's memory, each in use and, where the provider asks for it,
 * registered; or one range of the link.
 *
 * <p>Threading: guarded by its owner.
 */
final class PieceMemory {
    private final ViaPort port;
    private final RegionUses regions;
    private final MemorySegment[] memories;
    private final long[] offsets;
    private final long[] lengths;
    private final long[] descriptors;
    private final RegionUses.@Nullable Use[] uses;
    private final @Nullable KeptRegistration[] registrations;
    private int count;

    PieceMemory(ViaPort port, RegionUses regions) {
        int ranges = port.rangeCount();
        this.port = port;
        this.regions = regions;
        this.memories = new MemorySegment[ranges];
        this.offsets = new long[ranges];
        this.lengths = new long[ranges];
        this.descriptors = new long[ranges];
        this.uses = new RegionUses.Use[ranges];
        this.registrations = new KeptRegistration[ranges];
        Arrays.fill(memories, MemorySegment.NULL);
    }

    /** Begins to use native memory of the user where it lies; false if that cannot be: the piece is copied then. */
    boolean addUser(MemorySegment memory, long offset, long bytes) {
        long from = offset;
        for (long left = bytes; left > 0; ) {
            RegionUses.Use use = count == memories.length ? null : regions.begin(memory, from, left);
            if (use == null) {
                return false;
            }
            long address = memory.address() + from;
            long here = left;
            uses[count] = use;
            if (port.needsLocal()) {
                here = Math.min(left, use.bytesTogether(address));
                try {
                    registrations[count] = use.source(address, here);
                } catch (FabricException _) { // too much is registered, for instance
                    uses[count] = null;
                    use.end();
                    return false;
                }
            }
            KeptRegistration registration = registrations[count];
            add(memory, from, here, registration == null ? 0 : registration.descriptor());
            from += here;
            left -= here;
        }
        return true;
    }

    /** Takes memory of the link; there is none of the user. */
    void useOwn(MemorySegment memory, long bytes, long descriptor) {
        count = 0;
        add(memory, 0, bytes, descriptor);
    }

    private void add(MemorySegment memory, long offset, long bytes, long descriptor) {
        memories[count] = memory;
        offsets[count] = offset;
        lengths[count] = bytes;
        descriptors[count++] = descriptor;
    }

    /** Whether it is memory of the user. */
    boolean isUser() {
        return uses[0] != null;
    }

    /** Makes a scatter/gather list of it. */
    void list(IoVector vector) {
        vector.clear();
        for (int i = 0; i < count; i++) {
            boolean _ = vector.add(memories[i].address() + offsets[i], lengths[i], descriptors[i]);
        }
    }

    /** The range that contains the byte at this offset of the piece. */
    int rangeAt(long offset) {
        int range = 0;
        for (long left = offset; left >= lengths[range]; range++) {
            left -= lengths[range];
        }
        return range;
    }

    private long startOf(int range) {
        long start = 0;
        for (int i = 0; i < range; i++) {
            start += lengths[i];
        }
        return start;
    }

    MemorySegment memory(int range) {
        return memories[range];
    }

    /** The offset in the range's memory of the byte at an offset of the piece. */
    long offsetIn(int range, long offset) {
        return offsets[range] + offset - startOf(range);
    }

    /** How many bytes of the range lie from an offset of the piece on. */
    long bytesFrom(int range, long offset) {
        return lengths[range] - (offset - startOf(range));
    }

    /** Copies all of it out of the user's memory, and ends the use of that. */
    void keep() {
        byte[] kept = new byte[Math.toIntExact(startOf(count))];
        MemorySegment target = MemorySegment.ofArray(kept);
        for (int i = 0; i < count; i++) {
            try {
                MemorySegment.copy(memories[i], offsets[i], target, startOf(i), lengths[i]);
            } catch (IllegalStateException _) { // trusted memory was freed all the same: its message has failed
                ProgressEngine.afterFreedMemory();
            }
        }
        end();
        useOwn(target, kept.length, 0);
    }

    /** Ends the use of it; returns whether it was the user's. */
    boolean end() {
        boolean wasUser = isUser();
        for (int i = 0; i < count; i++) {
            KeptRegistration registration = registrations[i];
            RegionUses.Use use = uses[i];
            registrations[i] = null;
            uses[i] = null;
            memories[i] = MemorySegment.NULL;
            if (registration != null) {
                registration.endUse();
            }
            if (use != null) {
                use.end();
            }
        }
        count = 0;
        return wasUser;
    }
}
