package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.Random;

/**
 * A series of packets with contents that tell number and place of each byte, the same at both ends. Packets that a
 * module with static buffers cannot carry are cut to its buffer.
 *
 * <p>Threading: immutable.
 */
final class PacketSeries {
    private final int[] sizes;

    private PacketSeries(int[] sizes) {
        this.sizes = sizes;
    }

    /** Packets of these sizes, as far as the module carries them in one. */
    static PacketSeries of(TransmissionCapabilities module, int... sizes) {
        int[] cut = sizes.clone();
        if (module.bufferMode() == BufferMode.STATIC) {
            for (int i = 0; i < cut.length; i++) {
                cut[i] = Math.min(cut[i], module.bufferBytes());
            }
        }
        return new PacketSeries(cut);
    }

    /** So many packets of up to so many bytes. */
    static PacketSeries random(TransmissionCapabilities module, int count, int maxBytes, long seed) {
        Random random = new Random(seed);
        int[] sizes = new int[count];
        for (int i = 0; i < count; i++) {
            sizes[i] = random.nextInt(maxBytes + 1);
        }
        return of(module, sizes);
    }

    int count() {
        return sizes.length;
    }

    int bytes(int number) {
        return sizes[number];
    }

    long header(int number) {
        int flags = (number % 3 == 0 ? PacketHeader.FIRST : 0) | (number % 5 == 0 ? PacketHeader.LAST : 0);
        return PacketHeader.of(sizes[number], number, number / 3, flags);
    }
}
