package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.Random;

/**
 * A series of packets, the same at both ends, whose contents identify the packet and position of each byte. A packet
 * that does not fit into a static buffer of the module is cut to the buffer's size.
 *
 * <p>Threading: immutable.
 */
final class PacketSeries {
    private final int[] sizes;

    private PacketSeries(int[] sizes) {
        this.sizes = sizes;
    }

    /** Packets of these sizes, cut to the module's static buffer. */
    static PacketSeries of(TransmissionCapabilities module, int... sizes) {
        int[] cut = sizes.clone();
        if (module.bufferMode() == BufferMode.STATIC) {
            for (int i = 0; i < cut.length; i++) {
                cut[i] = Math.min(cut[i], module.bufferBytes());
            }
        }
        return new PacketSeries(cut);
    }

    /** {@code count} packets of random sizes up to {@code maxBytes}. */
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
