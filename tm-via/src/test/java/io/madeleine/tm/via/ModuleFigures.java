package io.madeleine.tm.via;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Locale;

/**
 * Measures how long a block takes through each transmission module, for docs/performance/tm-via.md: one process with
 * two adapters, both polled by one thread, so that no switch of threads counts. A program to run, not a test.
 */
final class ModuleFigures {
    private static final int[] SIZES = {4096, 8192, 16384, 32768, 65536, 131072, 262144, 1 << 20};
    private static final int SERIES = 60;
    private static final long SERIES_NS = 5_000_000;
    private static final String SETTINGS = "madeleine.tm.via { registered.from = 1, rdma.from = 2 }";

    private final Side left;
    private final Side right;
    private final MemorySegment source;
    private final MemorySegment target;
    private final BufferGroup out = new BufferGroup();
    private final BufferGroup in = new BufferGroup();

    private ModuleFigures(Side left, Side right) {
        this.left = left;
        this.right = right;
        this.source = left.arenas.lasting().allocate(SIZES[SIZES.length - 1], 4096);
        this.target = right.arenas.lasting().allocate(SIZES[SIZES.length - 1], 4096);
    }

    public static void main(String[] providers) {
        for (String provider : providers) {
            String session = "figures-" + System.nanoTime();
            try (Side left = new Side(Fabrics.driver(provider, SETTINGS), session, 1);
                    Side right = new Side(Fabrics.driver(provider, SETTINGS), session, 2)) {
                Side.connect(left, right);
                new ModuleFigures(left, right).measure(provider);
            }
        }
    }

    private void measure(String provider) {
        for (int size : SIZES) {
            StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%-12s %8d B", provider, size));
            for (int link = 0; link < left.connection().links().size(); link++) {
                double[] series = new double[SERIES];
                for (int i = 0; i < SERIES; i++) {
                    series[i] = oneSeries(link, size);
                }
                Arrays.sort(series);
                row.append(String.format(
                        Locale.ROOT,
                        "  %s %.2f %.2f",
                        left.connection().links().get(link).capabilities().id(),
                        series[0],
                        series[SERIES / 4]));
            }
            System.out.println(row);
        }
    }

    private double oneSeries(int link, int size) {
        long startNs = System.nanoTime();
        int count = 0;
        while (System.nanoTime() - startNs < SERIES_NS) {
            if (left.connection().links().get(link) instanceof StaticLink pool) {
                copy(pool, right.connection().links().get(link), size);
            } else {
                transfer(link, size);
            }
            count++;
        }
        return (System.nanoTime() - startNs) / 1e3 / count;
    }

    private void copy(StaticLink pool, TransmissionLink receiving, int size) {
        in.add(target, 0, size);
        int sent = 0;
        while (!in.isEmpty()) {
            int here = Math.min(size - sent, pool.capabilities().bufferBytes());
            long at = here == 0 ? LinkStatus.PENDING : pool.claim();
            if (at >= 0) {
                MemorySegment.copy(source, sent, pool.memory(), at, here);
                pool.commit(PacketHeader.of(here, 1, 0, PacketHeader.FIRST));
                sent += here;
            }
            left.poll();
            right.poll();
            while (receiving.front() > 0) {
                int bytes = PacketHeader.payloadBytes(receiving.front());
                for (long left = bytes; left > 0; ) {
                    left -= receiving.receive(in, left);
                }
                receiving.release();
            }
        }
    }

    private void transfer(int link, int size) {
        DynamicLink sending = (DynamicLink) left.connection().links().get(link);
        TransmissionLink receiving = right.connection().links().get(link);
        long header = PacketHeader.of(size, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);
        in.add(target, 0, size);
        ((PostingLink) receiving).expect(in);
        in.clear();
        in.add(target, 0, size);
        out.add(source, 0, size);
        boolean sent = false;
        while (!sent || !in.isEmpty()) {
            sent = sent || sending.send(header, out, 0) == LinkStatus.COMPLETE;
            left.poll();
            right.poll();
            if (receiving.front() == header) {
                long _ = receiving.receive(in, in.remainingBytes());
            }
        }
        receiving.release();
        while (((PostingLink) sending).holdsMemory()) {
            left.poll();
        }
    }
}
