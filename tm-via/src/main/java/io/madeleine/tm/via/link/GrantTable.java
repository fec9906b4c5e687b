package io.madeleine.tm.via.link;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.tm.via.port.KeptRegistration;
import io.madeleine.tm.via.port.RegionUses;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The outstanding grants of a receiver, oldest first. A grant is memory for a stretch of the payload stream, either a
 * block of the user or a chunk of the link. The parts of its pieces land one by one, in any order.
 *
 * <p>Threading: guarded by the receiver's lock.
 */
final class GrantTable {
    static final int NO_CHUNK = -1;
    static final int NOT_LANDED = -1;
    private static final int MASK = GrantFlyweight.GRANTS - 1;
    private static final int WORDS = GrantFlyweight.PARTS / Long.SIZE;

    private final long[] positions = new long[GrantFlyweight.GRANTS];
    private final int[] lengths = new int[GrantFlyweight.GRANTS];
    private final MemorySegment[] memories = new MemorySegment[GrantFlyweight.GRANTS];
    private final long[] offsets = new long[GrantFlyweight.GRANTS];
    private final int[] chunks = new int[GrantFlyweight.GRANTS];
    private final @Nullable KeptRegistration[] registrations = new KeptRegistration[GrantFlyweight.GRANTS];
    private final RegionUses.@Nullable Use[] uses = new RegionUses.Use[GrantFlyweight.GRANTS];

    /** For each grant, one bit per part: whether the part has landed and was not taken. */
    private final long[] landed = new long[GrantFlyweight.GRANTS * WORDS];

    /** As {@link #landed}: whether more parts of its piece follow. */
    private final long[] moreFollow = new long[GrantFlyweight.GRANTS * WORDS];

    private int first;
    private int end;
    private int userCount;

    GrantTable() {
        Arrays.fill(memories, MemorySegment.NULL);
    }

    /** The number of the oldest grant. */
    int first() {
        return first;
    }

    /** The number after the newest grant. */
    int end() {
        return end;
    }

    int count() {
        return end - first;
    }

    /** How many grants are memory of the user. */
    int userCount() {
        return userCount;
    }

    /** Adds a chunk of the link. */
    void addChunk(long position, int bytes, MemorySegment memory, int chunk) {
        add(position, bytes, memory, 0, chunk);
    }

    /** Adds memory of the user. */
    void addUser(
            long position,
            int bytes,
            MemorySegment memory,
            long offset,
            KeptRegistration registration,
            RegionUses.Use use) {
        registrations[end & MASK] = registration;
        uses[end & MASK] = use;
        userCount++;
        add(position, bytes, memory, offset, NO_CHUNK);
    }

    private void add(long position, int bytes, MemorySegment memory, long offset, int chunk) {
        int at = end & MASK;
        positions[at] = position;
        lengths[at] = bytes;
        memories[at] = memory;
        offsets[at] = offset;
        chunks[at] = chunk;
        Arrays.fill(landed, at * WORDS, (at + 1) * WORDS, 0);
        Arrays.fill(moreFollow, at * WORDS, (at + 1) * WORDS, 0);
        end++;
    }

    long position(int grant) {
        return positions[grant & MASK];
    }

    long endOf(int grant) {
        return positions[grant & MASK] + lengths[grant & MASK];
    }

    int bytes(int grant) {
        return lengths[grant & MASK];
    }

    MemorySegment memory(int grant) {
        return memories[grant & MASK];
    }

    /** The offset in the memory of the byte at a position of the stream. */
    long offsetOf(int grant, long position) {
        return offsets[grant & MASK] + (position - positions[grant & MASK]);
    }

    boolean isUser(int grant) {
        return registrations[grant & MASK] != null;
    }

    /** The key of the user's memory. */
    long key(int grant) {
        KeptRegistration registration = registrations[grant & MASK];
        return registration == null ? 0 : registration.key();
    }

    /** The address at which the registration of the user's memory begins. */
    long base(int grant) {
        KeptRegistration registration = registrations[grant & MASK];
        return registration == null ? 0 : registration.base();
    }

    int chunk(int grant) {
        return chunks[grant & MASK];
    }

    /** A part has landed; false if there is no such grant. The number is modulo {@link GrantFlyweight#GRANTS}. */
    boolean land(int grant, int part, boolean more) {
        int number = first + (grant - first & MASK);
        if (number - end >= 0) {
            return false;
        }
        landed[word(number, part)] |= bit(part);
        if (more) {
            moreFollow[word(number, part)] |= bit(part);
        }
        return true;
    }

    private static int word(int grant, int part) {
        return (grant & MASK) * WORDS + part % GrantFlyweight.PARTS / Long.SIZE;
    }

    private static long bit(int part) {
        return 1L << part % Long.SIZE;
    }

    /** The number of the part behind a piece that begins with this part; {@link #NOT_LANDED} if it has not landed. */
    int endOfPiece(int grant, int part) {
        for (int next = part; next < part + GrantFlyweight.PARTS; next++) {
            if ((landed[word(grant, next)] & bit(next)) == 0) {
                return NOT_LANDED;
            }
            if ((moreFollow[word(grant, next)] & bit(next)) == 0) {
                return next + 1;
            }
        }
        return NOT_LANDED;
    }

    /** The piece with the parts up to this end has been taken: their numbers may come again. */
    void take(int grant, int part, int endPart) {
        for (int next = part; next < endPart; next++) {
            landed[word(grant, next)] &= ~bit(next);
            moreFollow[word(grant, next)] &= ~bit(next);
        }
    }

    /** Ends a grant's use of the user's memory. */
    void endUser(int grant) {
        int at = grant & MASK;
        KeptRegistration registration = registrations[at];
        RegionUses.Use use = uses[at];
        if (registration != null) {
            registrations[at] = null;
            userCount--;
            registration.endUse();
        }
        if (use != null) {
            uses[at] = null;
            use.end();
        }
        memories[at] = MemorySegment.NULL;
    }

    /** Copies what has landed, from a position on, out of the user's memory, and ends the use of that memory. */
    void keep(int grant, long from, long to) {
        long start = Math.max(from, position(grant));
        long bytes = Math.max(0, Math.min(to, endOf(grant)) - start);
        MemorySegment kept = MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
        try {
            MemorySegment.copy(memory(grant), offsetOf(grant, start), kept, 0, bytes);
        } catch (IllegalStateException _) { // trusted memory was freed all the same: its message has failed
            ProgressEngine.afterFreedMemory();
        }
        endUser(grant);
        memories[grant & MASK] = kept;
        offsets[grant & MASK] = position(grant) - start;
    }

    /** Shortens a grant to the position at which it ends. */
    void trim(int grant, long to) {
        lengths[grant & MASK] = (int) (to - position(grant));
    }

    /** Removes the oldest grant; the caller has ended its use. */
    void removeFirst() {
        memories[first & MASK] = MemorySegment.NULL;
        first++;
    }

    /** Removes the newest grant; the caller has ended its use. */
    void removeLast() {
        end--;
        memories[end & MASK] = MemorySegment.NULL;
    }
}
