package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
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
import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages allocate nothing in steady state, nor do polls. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@Tag("measures")
class AllocationTest {
    private static final int ROUNDS = 8;
    private static final int BYTES = 20_000;
    private static final int FIRST_BLOCK_BYTES = 8_000;
    private static final int MESSAGES = 10_000;
    private static final long MOST_BYTES = 32 * 1024; // the checks of peers' processes, twice a second

    private static long allocated() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }

    private static void assertAllocatesNothing(Runnable message, String what) {
        long least = Long.MAX_VALUE; // before everything is compiled, objects exist that compiled code never makes
        for (int round = 0; round < ROUNDS && least >= MOST_BYTES; round++) {
            long before = allocated();
            for (int i = 0; i < MESSAGES; i++) {
                message.run();
            }
            least = Math.min(least, allocated() - before);
        }
        assertTrue(least < MOST_BYTES, what + ": " + least + " bytes for " + MESSAGES + " messages");
    }

    private static void with(String provider, java.util.function.BiConsumer<Side, Side> test) {
        with(provider, "", test);
    }

    private static void with(String provider, String settings, java.util.function.BiConsumer<Side, Side> test) {
        String session = "allocation-" + System.nanoTime();
        Side left = new Side(Fabrics.driver(provider, settings), session, 1);
        Side right = new Side(Fabrics.driver(provider, settings), session, 2);
        try (left;
                right) {
            Side.connect(left, right);
            test.accept(left, right);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldAllocateNothingForSmallMessages(String provider) {
        with(provider, (left, right) -> {
            OneStepLink send = (OneStepLink) left.connection().links().getFirst();
            OneStepLink receive = (OneStepLink) right.connection().links().getFirst();
            MemorySegment block = MemorySegment.ofArray(new byte[8]);
            long header = PacketHeader.of(8, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);
            assertAllocatesNothing(
                    () -> {
                        while (!send.sendPacket(header, block, 0)) {
                            left.poll();
                        }
                        while (!receive.receivePacket(header, block, 0)) {
                            left.poll();
                            right.poll();
                        }
                    },
                    "small");
        });
    }

    /** Messages of two blocks, through the last module, into an expected block. */
    private static void assertAllocatesNothing(
            Side left, Side right, MemorySegment source, MemorySegment target, String what) {
        DynamicLink send = (DynamicLink) left.connection().links().getLast();
        TransmissionLink receive = right.connection().links().getLast();
        BufferGroup out = new BufferGroup();
        BufferGroup in = new BufferGroup();
        long header = PacketHeader.of(BYTES, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);
        assertAllocatesNothing(
                () -> {
                    out.add(source, 0, FIRST_BLOCK_BYTES);
                    out.add(source, FIRST_BLOCK_BYTES, BYTES - FIRST_BLOCK_BYTES);
                    in.add(target, 0, BYTES);
                    ((PostingLink) receive).expect(in);
                    in.clear();
                    in.add(target, 0, BYTES);
                    boolean sent = false;
                    while (!sent || !in.isEmpty()) {
                        sent = sent || send.send(header, out, 0) == LinkStatus.COMPLETE;
                        if (receive.front() == header) {
                            long _ = receive.receive(in, in.remainingBytes());
                        }
                        left.poll();
                        right.poll();
                    }
                    receive.release();
                },
                what);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldAllocateNothingForMessagesThroughChunks(String provider) {
        with(provider, (left, right) -> {
            MemorySegment block = MemorySegment.ofArray(new byte[BYTES]);
            assertAllocatesNothing(left, right, block, block, "through chunks");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldAllocateNothingForMessagesFromRegisteredMemory(String provider) {
        with(provider, Fabrics.REGISTERED_LAST, (left, right) -> {
            MemorySegment source = left.arenas.lasting().allocate(BYTES, 8);
            MemorySegment target = right.arenas.lasting().allocate(BYTES, 8);
            assertAllocatesNothing(left, right, source, target, "from registered memory");
        });
    }

    /** Counts the operations that have completed. */
    private static final class Count implements RemoteCompletion {
        private int completed;

        @Override
        public void completed(long value) {
            completed++;
        }

        @Override
        public void failed(RemoteMemoryException failure) {
            throw failure;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldAllocateNothingForOperationsOnRemoteMemory(String provider) {
        with(provider, (left, right) -> {
            RemoteMemory remote = left.adapter.remoteMemory().orElseThrow();
            MemorySegment there = right.arenas.lasting().allocateShared(4096);
            byte[] descriptor = right.adapter
                    .remoteMemory()
                    .orElseThrow()
                    .export(there, RemoteMemory.Access.READ_WRITE)
                    .descriptor();
            CompletableFuture<AttachedMemory> attaching =
                    CompletableFuture.supplyAsync(() -> remote.attach(descriptor));
            Side.drive(left, right, attaching::isDone);
            AttachedMemory attached = attaching.join();
            MemorySegment own = left.arenas.lasting().allocate(4096, 8);
            MemorySegment other = MemorySegment.ofArray(new byte[4096]);
            boolean updates = remote.capabilities().atomics();
            Count count = new Count();
            assertAllocatesNothing(
                    () -> {
                        int wanted = count.completed + (updates ? 4 : 3);
                        attached.put(own, 0, 0, 4096, count);
                        attached.put(other, 0, 0, 8, count);
                        attached.get(0, other, 0, 4096, count);
                        if (updates) {
                            attached.fetchAdd(0, 8, 1, count);
                        }
                        while (count.completed < wanted) {
                            left.poll();
                            right.poll();
                        }
                    },
                    "remote memory");
        });
    }
}
