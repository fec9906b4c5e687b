package io.madeleine.tm.bip.protocol;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Prints how long a copy and a checksum of a block take, in us: what each end of a reliable protocol needs beside its
 * system calls. The sender keeps a copy until the block is acknowledged, the receiver puts bytes at their place, and
 * both compute the checksum. Medians of 2,000, after 18,000 others.
 */
final class CopyAndCheck {
    private static final int WARM_UP = 18_000;
    private static final int MEASURED = 2_000;

    private CopyAndCheck() {}

    public static void main(String[] args) {
        for (int bytes : new int[] {32 << 10, 64 << 10, 1 << 20}) {
            measure(bytes);
        }
    }

    private static void measure(int bytes) {
        Arena arena = Arena.ofAuto();
        MemorySegment from = arena.allocate(bytes, 64);
        MemorySegment to = arena.allocate(bytes, 64);
        ByteBuffer view = to.asByteBuffer();
        CRC32C crc = new CRC32C();
        long[] copies = new long[MEASURED];
        long[] checksums = new long[MEASURED];
        for (int i = -WARM_UP; i < MEASURED; i++) {
            long beganNs = System.nanoTime();
            MemorySegment.copy(from, 0, to, 0, bytes);
            long copiedNs = System.nanoTime();
            crc.reset();
            crc.update(view.clear());
            if (i >= 0) {
                checksums[i] = System.nanoTime() - copiedNs;
                copies[i] = copiedNs - beganNs;
            }
        }
        Arrays.sort(copies);
        Arrays.sort(checksums);
        System.out.printf(
                "%d B: copy %.2f us, checksum %.2f us (%x)%n",
                bytes, copies[MEASURED / 2] / 1e3, checksums[MEASURED / 2] / 1e3, crc.getValue());
    }
}
