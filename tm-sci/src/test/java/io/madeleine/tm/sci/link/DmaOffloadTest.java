package io.madeleine.tm.sci.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.CopyEngine;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.Side;
import io.madeleine.tm.sci.wake.Watched;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A second thread that helps to copy. */
class DmaOffloadTest {
    private static final int BYTES = 9_000_001;

    private final MemorySegment source = Arena.ofAuto().allocate(BYTES);
    private final MemorySegment target = Arena.ofAuto().allocate(BYTES);
    private final Arena arena = Arena.ofShared();

    @BeforeEach
    void open() {
        assumeTrue(SingleCopy.availability().on(), SingleCopy.availability().reason());
        for (int i = 0; i < BYTES; i++) {
            source.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 13 + (i >> 11)));
        }
    }

    private CopyEngine.Reader reader() {
        return SingleCopy.engine().orElseThrow().open(ProcessHandle.current().pid(), arena);
    }

    /** Counts reads, and says by which thread; waits for the gate first. */
    private static final class Watched implements CopyEngine.Reader {
        private final CopyEngine.Reader reader;
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch gate;
        private final AtomicInteger reads = new AtomicInteger();

        Watched(CopyEngine.Reader reader, CountDownLatch gate) {
            this.reader = reader;
            this.gate = gate;
        }

        @Override
        public long read(long address, MemorySegment into, long offset, long bytes) {
            reads.incrementAndGet();
            begun.countDown();
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return reader.read(address, into, offset, bytes);
        }

        @Override
        public String explain(long failure) {
            return reader.explain(failure);
        }
    }

    @Test
    void shouldCopyWhatIsOfferedAndNothingBehindItsUsersBack() throws Exception {
        try (CopyHelper helper = new CopyHelper("helper")) {
            CountDownLatch gate = new CountDownLatch(1);
            Watched busy = new Watched(reader(), gate);
            CopyHelper.Copy copy = new CopyHelper.Copy(busy);
            CopyHelper.Copy other = new CopyHelper.Copy(reader());
            assertTrue(helper.offer(copy, source.address() + 100, target, 100, 5000));
            assertFalse(helper.offer(other, source.address(), target, 0, 10), "it has one in hand");
            busy.begun.await();
            gate.countDown();
            assertEquals(5000, helper.finish(copy));
            assertEquals(-1, target.asSlice(100, 5000).mismatch(source.asSlice(100, 5000)));
            int taken = 0;
            for (int round = 0; round < 20_000; round++) { // half of them are taken back before they are begun
                target.asSlice(0, 64).fill((byte) 0);
                assertTrue(helper.offer(other, source.address(), target, 0, 64));
                for (int i = 0; i < round % 200; i++) {
                    Thread.onSpinWait();
                }
                long count = helper.finish(other);
                boolean written = target.asSlice(0, 64).mismatch(source.asSlice(0, 64)) == -1;
                assertEquals(count == 64, written, "round " + round);
                taken += count == 0 ? 1 : 0;
            }
            assertTrue(taken < 20_000, "it never helps");
        }
        CopyHelper closed = new CopyHelper("helper");
        closed.close();
        assertFalse(closed.offer(new CopyHelper.Copy(reader()), source.address(), target, 0, 64));
        arena.close();
    }

    /** Two sides in one process, which read its memory as if it were another's. */
    private static final class Loans implements AutoCloseable {
        private static final long HEADER = PacketHeader.of(BYTES, 0, 0, PacketHeader.FIRST);
        private static final long TRAILER = PacketHeader.of(0, 0, 1, PacketHeader.LAST);

        private final Side left;
        private final Side right;
        private final DynamicLink sender;
        private final TransmissionLink receiver;

        Loans(Path directory) {
            String settings = Side.SINGLE_COPY + ", madeleine.tm.sci.dma.offload-from = 1 MiB";
            left = Side.open(directory, 1, settings);
            right = Side.open(directory, 2, settings);
            Side.Pair pair = Side.Pair.of(left, right, "loans");
            sender = pair.leftRegular();
            receiver = pair.rightRegular();
        }

        /** Until the receiver has it all, or fails. */
        void move(BufferGroup group, BufferGroup wanted) {
            Side.transfer(sender, receiver, HEADER, group, TRAILER, wanted);
        }

        @Override
        public void close() {
            left.close();
            right.close();
        }
    }

    private static long helperCpuNs() {
        long sum = 0;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("madeleine-copy")) {
                sum += java.lang.management.ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
            }
        }
        return sum;
    }

    @Test
    @Tag("measures")
    void shouldReadALongBlockWithTwoThreads(@TempDir Path directory) {
        try (Loans loans = new Loans(directory)) {
            long beforeNs = helperCpuNs();
            for (int round = 0; round < 20; round++) {
                target.fill((byte) 0);
                loans.move(Side.group(source), Side.group(target));
                assertEquals(-1, target.mismatch(source), "round " + round);
            }
            assertTrue(helperCpuNs() > beforeNs, "nobody helped");
            target.fill((byte) 0);
            try (Arena own = Arena.ofConfined()) { // memory that the helper may not touch
                MemorySegment confined = own.allocate(BYTES);
                loans.move(Side.group(source), Side.group(confined));
                assertEquals(-1, confined.mismatch(source));
            }
        }
        long beganNs = System.nanoTime();
        while (isAHelperLeft()) { // who closes waits for it for a while only
            assertTrue(System.nanoTime() - beganNs < 30_000_000_000L, "its thread is left");
            Thread.onSpinWait();
        }
    }

    private static boolean isAHelperLeft() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("madeleine-copy"));
    }

    @Test
    void shouldThrowAtTheReceiverWhenItsMemoryHasBeenFreed(@TempDir Path directory) {
        try (Loans loans = new Loans(directory)) {
            Arena gone = Arena.ofShared();
            BufferGroup wanted = Side.group(gone.allocate(BYTES));
            BufferGroup group = Side.group(source);
            loans.sender.send(Loans.HEADER, group, Loans.TRAILER);
            assertEquals(Loans.HEADER, loans.receiver.front());
            loans.receiver.receive(wanted, BYTES);
            gone.close();
            loans.sender.send(Loans.HEADER, group, Loans.TRAILER);
            assertThrows(IllegalStateException.class, () -> {
                while (!wanted.isEmpty()) {
                    loans.receiver.receive(wanted, BYTES);
                }
            });
        }
    }
}
