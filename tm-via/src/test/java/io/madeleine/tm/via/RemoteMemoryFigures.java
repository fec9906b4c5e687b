package io.madeleine.tm.via;

import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/**
 * Measures operations on remote memory beside messages, between two adapters that one thread polls. For each it prints
 * the best, the median and the worst of 12 series, in microseconds.
 *
 * <p>Arguments: the providers.
 */
final class RemoteMemoryFigures {
    private static final int SERIES = 12;
    private static final int LARGE = 1 << 20;
    private static final long SERIES_NS = 150_000_000L;

    private final Side left;
    private final Side right;
    private int number;
    private int completed;

    private RemoteMemoryFigures(Side left, Side right) {
        this.left = left;
        this.right = right;
    }

    public static void main(String[] providers) {
        for (String provider : providers) {
            String session = "figures-" + System.nanoTime();
            try (Side left = new Side(Fabrics.driver(provider, ""), session, 1);
                    Side right = new Side(Fabrics.driver(provider, ""), session, 2)) {
                Side.connect(left, right);
                new RemoteMemoryFigures(left, right).measure(provider);
            }
        }
    }

    private void measure(String provider) {
        RemoteMemory remote = left.adapter.remoteMemory().orElseThrow();
        MemorySegment there = right.arenas.lasting().allocateShared(LARGE);
        byte[] descriptor = right.adapter
                .remoteMemory()
                .orElseThrow()
                .export(there, RemoteMemory.Access.READ_WRITE)
                .descriptor();
        CompletableFuture<AttachedMemory> attaching = CompletableFuture.supplyAsync(() -> remote.attach(descriptor));
        Side.drive(left, right, attaching::isDone);
        AttachedMemory attached = attaching.join();
        MemorySegment own = left.arenas.lasting().allocate(LARGE, 64);
        MemorySegment block = right.arenas.lasting().allocate(LARGE, 64);
        RemoteCompletion count = new RemoteCompletion() {
            @Override
            public void completed(long value) {
                completed++;
            }

            @Override
            public void failed(RemoteMemoryException failure) {
                throw failure;
            }
        };
        for (int bytes : new int[] {8, LARGE}) {
            print(provider, "put", bytes, () -> {
                attached.put(own, 0, 0, bytes, count);
                awaitOne();
            });
            print(provider, "get", bytes, () -> {
                attached.get(0, own, 0, bytes, count);
                awaitOne();
            });
            print(provider, "message", bytes, bytes == LARGE ? () -> large(own, block) : () -> small(own, block));
        }
    }

    private void awaitOne() {
        int wanted = completed + 1;
        while (completed < wanted) {
            poll();
        }
    }

    private void poll() {
        left.poll();
        right.poll();
    }

    private void small(MemorySegment own, MemorySegment block) {
        OneStepLink send = (OneStepLink) left.connection().links().getFirst();
        OneStepLink receive = (OneStepLink) right.connection().links().getFirst();
        long header = PacketHeader.of(8, number++, 0, PacketHeader.FIRST | PacketHeader.LAST);
        while (!send.sendPacket(header, own.asSlice(0, 8), 0)) {
            poll();
        }
        while (!receive.receivePacket(header, block.asSlice(0, 8), 0)) {
            poll();
        }
    }

    private void large(MemorySegment own, MemorySegment block) {
        DynamicLink send = (DynamicLink) left.connection().links().getLast();
        TransmissionLink receive = right.connection().links().getLast();
        long header = PacketHeader.of(LARGE, number++, 0, PacketHeader.FIRST | PacketHeader.LAST);
        BufferGroup expected = new BufferGroup();
        expected.add(block, 0, LARGE);
        ((PostingLink) receive).expect(expected);
        BufferGroup out = new BufferGroup();
        out.add(own, 0, LARGE);
        BufferGroup in = new BufferGroup();
        in.add(block, 0, LARGE);
        boolean sent = false;
        while (!sent || !in.isEmpty()) {
            sent = sent || send.send(header, out, 0) == LinkStatus.COMPLETE;
            if (receive.front() == header) {
                long _ = receive.receive(in, in.remainingBytes());
            }
            poll();
        }
        receive.release();
    }

    private static void print(String provider, String what, int bytes, Runnable operation) {
        run(operation, 2 * SERIES_NS); // until it is compiled
        double[] us = new double[SERIES];
        for (int i = 0; i < SERIES; i++) {
            us[i] = run(operation, SERIES_NS);
        }
        Arrays.sort(us);
        System.out.printf(
                Locale.ROOT,
                "%-12s %-8s %8d  %8.2f %8.2f %8.2f%n",
                provider,
                what,
                bytes,
                us[0],
                us[SERIES / 2],
                us[SERIES - 1]);
    }

    private static double run(Runnable operation, long forNs) {
        long startNs = System.nanoTime();
        long nowNs = startNs;
        int count = 0;
        while (nowNs - startNs < forNs) {
            operation.run();
            count++;
            nowNs = System.nanoTime();
        }
        return (nowNs - startNs) / 1_000.0 / count;
    }
}
