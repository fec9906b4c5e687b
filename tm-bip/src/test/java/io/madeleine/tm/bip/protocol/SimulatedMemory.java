package io.madeleine.tm.bip.protocol;

import java.lang.foreign.MemorySegment;
import java.util.Random;

/**
 * Memory of a reader in which bytes of a stream are placed, up to a position that moves; sometimes all is taken back.
 */
final class SimulatedMemory implements Placement {
    private final MemorySegment bytes;
    private final Random random;
    private long from;
    private long to;

    /** Memory for a stream that has fewer bytes than these. */
    SimulatedMemory(Random random, int most) {
        bytes = MemorySegment.ofArray(new byte[most]);
        this.random = random;
    }

    MemorySegment bytes() {
        return bytes;
    }

    @Override
    public int place(long offset, MemorySegment source, long position, int count) {
        if (offset < from) {
            return -(int) Math.min(count, from - offset);
        }
        if (offset >= to) {
            return -count;
        }
        int here = (int) Math.min(count, to - offset);
        MemorySegment.copy(source, position, bytes, offset, here);
        return here;
    }

    void change(ReceiveStream in) {
        if (random.nextInt(16) == 0) {
            for (long start = in.placedStart(); start >= 0; start = in.placedStart()) {
                int length = (int) (in.placedEnd() - start);
                in.unplace(start, bytes, start, length);
                bytes.asSlice(start, length).fill((byte) 0);
            }
            from = 0;
            to = 0;
        } else if (random.nextInt(4) == 0) {
            long known = Math.max(to, in.takenBytes());
            from = to == 0 ? known + random.nextInt(3000) : from;
            to = Math.max(from, known) + random.nextInt(9000);
        }
    }
}
