package io.madeleine.tm.via;

import io.madeleine.pmm.spi.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Locale;

/**
 * Measures what it costs to register memory and to end the registration, beside a copy of as many bytes (ARMCI over GM,
 * figure 4). For each size it prints the median of 11 series, in microseconds: with pages locked in memory as hardware
 * does ({@code pin = mlock}), without, and a copy.
 *
 * <p>Arguments: the provider.
 */
final class RegistrationFigures {
    private static final int SERIES = 11;
    private static final long SERIES_NS = 40_000_000L;
    private static final long SMALLEST = 1 << 10;
    private static final long LARGEST = 1 << 24;

    private RegistrationFigures() {}

    public static void main(String[] arguments) {
        String provider = arguments[0];
        try (Side pinning = side(provider, "mlock");
                Side free = side(provider, "off")) {
            MemorySegment pinned = pinning.arenas.lasting().allocateShared(LARGEST);
            MemorySegment plain = free.arenas.lasting().allocateShared(LARGEST);
            pinned.fill((byte) 1);
            plain.fill((byte) 1);
            System.out.printf("%10s %12s %12s %12s%n", "bytes", "pinned", "registered", "copied");
            for (long bytes = SMALLEST; bytes <= LARGEST; bytes *= 2) {
                long size = bytes;
                System.out.printf(
                        Locale.ROOT,
                        "%10d %12.2f %12.2f %12.2f%n",
                        bytes,
                        medianUs(() -> register(pinning, pinned.asSlice(0, size))),
                        medianUs(() -> register(free, plain.asSlice(0, size))),
                        medianUs(() -> MemorySegment.copy(pinned, 0, plain, 0, size)));
            }
        }
    }

    private static Side side(String provider, String pin) {
        String settings = "madeleine.tm.via.pin = " + pin;
        return new Side(Fabrics.driver(provider, settings), "figures-" + System.nanoTime(), 1);
    }

    private static void register(Side side, MemorySegment memory) {
        side.adapter
                .remoteMemory()
                .orElseThrow()
                .export(memory, RemoteMemory.Access.READ_WRITE)
                .revoke(1_000_000_000);
    }

    private static double medianUs(Runnable operation) {
        run(operation, 4 * SERIES_NS); // until it is compiled
        double[] us = new double[SERIES];
        Arrays.setAll(us, series -> run(operation, SERIES_NS));
        Arrays.sort(us);
        return us[SERIES / 2];
    }

    private static double run(Runnable operation, long atLeastNs) {
        long beganNs = System.nanoTime();
        long count = 0;
        long nowNs;
        do {
            operation.run();
            count++;
            nowNs = System.nanoTime();
        } while (nowNs - beganNs < atLeastNs);
        return (nowNs - beganNs) / 1e3 / count;
    }
}
