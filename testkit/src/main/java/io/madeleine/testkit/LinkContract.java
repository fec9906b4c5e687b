package io.madeleine.testkit;

import static io.madeleine.testkit.PacketReceiver.transfer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** The contract of links: whole packets in order, partial receives, room, and freed memory. */
public interface LinkContract extends SpiFixture {
    int NOTHING_LEFT = PacketHeader.FIRST | PacketHeader.LAST;

    private static int[] sizes() {
        return new int[] {0, 1, 7, 8, 111, 112, 113, 1023, 1024, 4096, 8192, 32768, 65536, (1 << 20) + 3, 16 << 20};
    }

    private TransmissionCapabilities module(int link) {
        return left().link(link).capabilities();
    }

    private PacketSender sender(int link, PacketSeries series) {
        return new PacketSender(left().link(link), series, left().arenas.lasting()::allocate);
    }

    private PacketReceiver receiver(int link, PacketSeries series) {
        return new PacketReceiver(
                right().link(link),
                series,
                Long.MAX_VALUE,
                (_, _) -> false,
                right().arenas.lasting()::allocate);
    }

    private void transferSmall(int link, int count, long seed) {
        PacketSeries series = PacketSeries.random(module(link), count, 300, seed);
        drive(transfer(sender(link, series), receiver(link, series)));
    }

    private static MemorySegment native8(long bytes) {
        return Arena.ofAuto().allocate(bytes, 8);
    }

    @Test
    default void shouldBehaveAsItsCapabilitiesSay() {
        List<TransmissionCapabilities> offered = left().driver.transmissionModules();
        assertEquals(offered.size(), linkCount());
        assertEquals(
                offered.size(),
                offered.stream().map(TransmissionCapabilities::id).distinct().count());
        assertEquals(Long.MAX_VALUE, offered.getLast().maxBlockBytes(), "the last module must accept any block");
        for (int i = 0; i < linkCount(); i++) {
            TransmissionCapabilities found = module(i);
            assertEquals(offered.get(i).id(), found.id());
            assertTrue(found.id().startsWith(left().driver.name() + "/"), found.id());
            assertEquals(found.bufferMode() == BufferMode.STATIC, left().link(i) instanceof StaticLink, found.id());
            if (left().link(i) instanceof StaticLink fixed) {
                MemorySegment memory = fixed.memory();
                long offset = fixed.claim();
                assertTrue(offset >= 0 && offset + found.bufferBytes() <= memory.byteSize(), found.id());
                assertFalse(memory.isReadOnly(), found.id());
                fixed.abandon();
                assertSame(memory, fixed.memory(), found.id());
            }
        }
    }

    @Test
    default void shouldDeliverPacketsOfAllSizesWholeAndInOrder() {
        for (int i = 0; i < linkCount(); i++) {
            PacketSeries series = PacketSeries.of(module(i), sizes());
            drive(transfer(sender(i, series), receiver(i, series)));
        }
    }

    @Test
    default void shouldKeepTheOrderOfManyPacketsWhenTheRingWraps() {
        for (int i = 0; i < linkCount(); i++) {
            transferSmall(i, 10_000, 17);
        }
    }

    @Test
    default void shouldKeepTheLinksOfAConnectionApart() {
        List<PacketSender> senders = new ArrayList<>();
        List<PacketReceiver> receivers = new ArrayList<>();
        for (int i = 0; i < linkCount(); i++) {
            PacketSeries series = PacketSeries.random(module(i), 500, 5000, 100 + i);
            senders.add(sender(i, series));
            receivers.add(receiver(i, series));
        }
        drive(() -> {
            boolean sent = true;
            for (PacketSender sender : senders) {
                sent &= sender.step();
            }
            receivers.forEach(PacketReceiver::step);
            return sent && receivers.stream().allMatch(PacketReceiver::isDone);
        });
    }

    @Test
    default void shouldLetAPacketBeTakenInPartsAndSkippedAtEveryPosition() {
        for (int i = 0; i < linkCount(); i++) {
            if (module(i).aggregation() == AggregationMode.SYMMETRIC) {
                continue;
            }
            int bytes = 40;
            int[] sizes = new int[4 * (bytes + 1)];
            Arrays.fill(sizes, bytes);
            PacketSeries series = PacketSeries.of(module(i), sizes);
            for (int part : new int[] {1, 3, 8, 13}) {
                PacketReceiver receiver =
                        new PacketReceiver(right().link(i), series, part, (packet, position) -> switch (packet % 4) {
                            case 0 -> position >= packet / 4;
                            case 1 -> position < packet / 4;
                            case 2 -> position % 2 == 0;
                            default -> false;
                        });
                drive(transfer(sender(i, series), receiver));
            }
        }
    }

    @Test
    default void shouldLetLargePacketsBeTakenInPartsAndSkipped() {
        for (int i = 0; i < linkCount(); i++) {
            PacketSeries series = PacketSeries.random(module(i), 30, 600_000, 5);
            for (int part : new int[] {1000, 4096, 65_537}) {
                PacketReceiver receiver = new PacketReceiver(
                        right().link(i),
                        series,
                        part,
                        (packet, position) -> (packet & 1) == 0 && (position / part & 1) == 0);
                drive(transfer(sender(i, series), receiver));
            }
        }
    }

    @Test
    default void shouldShowAPacketInFrontUntilItIsReleased() {
        for (int i = 0; i < linkCount(); i++) {
            PacketSeries series = PacketSeries.of(module(i), 24, 0);
            PacketSender sender = sender(i, series);
            TransmissionLink link = right().link(i);
            drive(() -> sender.step() && link.front() != 0);
            assertEquals(series.header(0), link.front());
            assertEquals(series.header(0), link.front());
            BufferGroup group = new BufferGroup();
            group.add(native8(24), 0, 24);
            drive(() -> {
                if (!group.isEmpty()) {
                    link.receive(group, group.remainingBytes());
                }
                return group.isEmpty();
            });
            assertEquals(series.header(0), link.front());
            link.release();
            drive(() -> link.front() != 0);
            assertEquals(series.header(1), link.front());
            link.release();
        }
    }

    @Test
    default void shouldBePendingWhenNobodyReceivesAndLoseNothingByIt() {
        for (int i = 0; i < linkCount(); i++) {
            int[] sizes = new int[module(i).bufferMode() == BufferMode.STATIC ? 300 : 40];
            Arrays.fill(sizes, 1 << 20);
            PacketSeries series = PacketSeries.of(module(i), sizes);
            PacketSender sender = sender(i, series);
            for (int round = 0; round < 200 && !sender.step(); round++) {
                left().poll(); // the receiver is not polled
            }
            assertTrue(sender.hasWaited(), module(i).id() + " took " + sender.sentCount() + " packets");
            assertFalse(sender.step());
            drive(transfer(sender, receiver(i, series)));
        }
    }

    @Test
    default void shouldSendNothingOfAnAbandonedBuffer() {
        for (int i = 0; i < linkCount(); i++) {
            if (left().link(i) instanceof StaticLink fixed) {
                for (int k = 0; k < 50; k++) {
                    long offset = fixed.claim();
                    assertTrue(offset >= 0);
                    fixed.memory()
                            .asSlice(offset, fixed.capabilities().bufferBytes())
                            .fill((byte) 0x55);
                    fixed.abandon();
                }
                transferSmall(i, 100, 3);
            }
        }
    }

    @Test
    default void shouldTakeAPacketInOneStepOnlyIfItIsTheOneAndMemoryIsThere() {
        boolean some = false;
        for (int i = 0; i < linkCount(); i++) {
            if (left().link(i) instanceof OneStepLink send && right().link(i) instanceof OneStepLink receive) {
                some = true;
                long header = PacketHeader.of(16, 5, 0, NOTHING_LEFT);
                assertThrows(IllegalStateException.class, () -> send.sendPacket(header, freed(16), 0));
                MemorySegment block = native8(24).fill((byte) 7);
                assertFalse(receive.receivePacket(header, block, 0), "nothing has been sent");
                assertTrue(send.sendPacket(header, native8(24).fill((byte) 9), 8));
                send.announce();
                long other = PacketHeader.of(16, 6, 0, NOTHING_LEFT);
                drive(() -> receive.front() == header);
                assertFalse(receive.receivePacket(other, block, 0));
                assertThrows(IllegalStateException.class, () -> receive.receivePacket(header, freed(16), 0));
                assertEquals(header, receive.front());
                assertTrue(receive.receivePacket(header, block, 8));
                assertEquals(0, receive.front());
                assertEquals(0x0707070707070707L, block.get(ValueLayout.JAVA_LONG, 0));
                assertEquals(0x0909090909090909L, block.get(ValueLayout.JAVA_LONG, 8));
                assertEquals(0x0909090909090909L, block.get(ValueLayout.JAVA_LONG, 16));
                transferSmall(i, 100, 4);
            }
        }
        assumeTrue(some, "no link of this network moves packets in one step");
    }

    @Test
    default void shouldSendAnEmptyGroupAsAHeaderAlone() {
        forEachDynamicLink((send, receive) -> {
            long header = PacketHeader.of(0, 1, 0, NOTHING_LEFT);
            complete(send, header, new BufferGroup(), 0);
            expect(receive, header);
        });
    }

    @Test
    default void shouldSendATrailerRightBehindThePacket() {
        forEachDynamicLink((send, receive) -> {
            for (int bytes : new int[] {0, 1, 100, 70_000}) {
                long header = PacketHeader.of(bytes, 1, 0, PacketHeader.FIRST);
                long trailer = PacketHeader.of(0, 1, 1, PacketHeader.LAST);
                BufferGroup group = new BufferGroup();
                group.add(native8(Math.max(1, bytes)), 0, bytes);
                long[] left = {bytes};
                boolean[] sent = new boolean[1];
                drive(() -> {
                    sent[0] = sent[0] || send.send(header, group, trailer) == LinkStatus.COMPLETE;
                    if (left[0] > 0 && receive.front() == header) {
                        left[0] -= receive.skip(left[0]);
                    }
                    return sent[0] && left[0] == 0 && receive.front() == header;
                });
                receive.release();
                expect(receive, trailer);
            }
        });
    }

    @Test
    default void shouldLetMemoryAndTrailerBeExchangedWhileAPacketIsPending() {
        forEachDynamicLink((send, receive) -> {
            long bytes = 24 << 20;
            MemorySegment ones = native8(bytes).fill((byte) 1);
            BufferGroup group = new BufferGroup();
            group.add(ones, 0, bytes);
            long header = PacketHeader.of((int) bytes, 7, 0, PacketHeader.FIRST);
            long trailer = PacketHeader.of(0, 7, 1, PacketHeader.LAST);
            assertEquals(LinkStatus.PENDING, send.send(header, group, trailer));
            long sentBytes = bytes - group.remainingBytes();
            assertTrue(sentBytes < bytes);
            group.replaceMemory(native8(4096).fill((byte) 2));
            long aborted = PacketHeader.aborted(trailer);
            MemorySegment found = native8(bytes);
            BufferGroup wanted = new BufferGroup();
            wanted.add(found, 0, bytes);
            boolean[] sent = new boolean[1];
            drive(() -> {
                sent[0] = sent[0] || send.send(header, group, aborted) == LinkStatus.COMPLETE;
                if (receive.front() == header && !wanted.isEmpty()) {
                    receive.receive(wanted, wanted.remainingBytes());
                }
                return sent[0] && wanted.isEmpty();
            });
            receive.release();
            assertEquals(-1, found.asSlice(0, sentBytes).mismatch(ones.asSlice(0, sentBytes)));
            assertEquals(
                    -1,
                    found.asSlice(sentBytes).mismatch(ones.asSlice(sentBytes).fill((byte) 2)));
            expect(receive, aborted);
        });
    }

    @Test
    default void shouldStayUsableWhenMemoryToBeSentHasBeenFreed() {
        forEachDynamicLink((send, receive) -> {
            for (int bytes : new int[] {64, 100_000}) {
                BufferGroup group = new BufferGroup();
                group.add(native8(16).fill((byte) 3), 0, 16);
                group.add(freed(bytes), 0, bytes);
                long header = PacketHeader.of(16 + bytes, 1, 0, NOTHING_LEFT);
                assertThrows(IllegalStateException.class, () -> {
                    while (send.send(header, group, 0) == LinkStatus.PENDING) {
                        left().poll();
                    }
                });
                assertFalse(group.isEmpty());
                group.replaceMemory(native8(64));
                BufferGroup wanted = new BufferGroup();
                wanted.add(native8(16 + bytes), 0, 16 + bytes);
                boolean[] sent = new boolean[1];
                drive(() -> {
                    sent[0] = sent[0] || send.send(header, group, 0) == LinkStatus.COMPLETE;
                    if (receive.front() == header && !wanted.isEmpty()) {
                        receive.receive(wanted, wanted.remainingBytes());
                    }
                    return sent[0] && wanted.isEmpty();
                });
                receive.release();
            }
        });
        for (int i = 0; i < linkCount(); i++) {
            transferSmall(i, 50, 8);
        }
    }

    @Test
    default void shouldStayUsableWhenMemoryToReceiveIntoHasBeenFreed() {
        for (int i = 0; i < linkCount(); i++) {
            for (int bytes : new int[] {64, 100_000}) {
                PacketSeries series = PacketSeries.of(module(i), bytes);
                int whole = series.bytes(0);
                PacketSender sender = sender(i, series);
                TransmissionLink link = right().link(i);
                drive(() -> {
                    sender.step();
                    return link.front() != 0;
                });
                settle();
                BufferGroup group = new BufferGroup();
                group.add(native8(whole / 2), 0, whole / 2);
                group.add(freed(whole - whole / 2), 0, whole - whole / 2);
                assertThrows(
                        IllegalStateException.class,
                        () -> drive(() -> {
                            sender.step();
                            link.receive(group, group.remainingBytes());
                            return group.isEmpty();
                        }));
                long[] left = {group.remainingBytes()};
                assertTrue(left[0] > 0);
                drive(() -> {
                    sender.step();
                    left[0] -= left[0] > 0 ? link.skip(left[0]) : 0;
                    return left[0] == 0;
                });
                link.release();
                drive(sender::step);
                transferSmall(i, 50, 9);
            }
        }
    }

    @Test
    default void shouldCarryBothDirectionsAtOnceFromTwoThreads() throws InterruptedException {
        for (int i = 0; i < linkCount(); i++) {
            int link = i;
            PacketSeries series = PacketSeries.random(module(link), 100, 50_000, 11);
            Throwable[] failure = new Throwable[1];
            Thread other = Thread.ofPlatform().start(() -> {
                try {
                    exchange(right(), link, series);
                } catch (RuntimeException | Error e) {
                    failure[0] = e;
                }
            });
            exchange(left(), link, series);
            other.join();
            assertEquals(null, failure[0]);
        }
    }

    private static void exchange(SpiEnd end, int link, PacketSeries series) {
        PacketSender sender = new PacketSender(end.link(link), series);
        PacketReceiver receiver = new PacketReceiver(end.link(link), series);
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        boolean sent = false;
        while (!sent || !receiver.isDone() || end.demands.isHeld()) { // until the network has delivered what was sent
            sent = sent || sender.step();
            receiver.step();
            end.poll();
            assertTrue(System.nanoTime() - deadlineNs < 0, "both directions at once stopped moving");
        }
    }

    @Test
    default void shouldSendAndReceiveOnOneEndInTwoThreads() throws InterruptedException {
        for (int i = 0; i < linkCount(); i++) {
            PacketSeries series = PacketSeries.random(module(i), 100, 50_000, 12);
            left().whenReadable = () -> 0; // the other thread polls the link
            PacketSender there = new PacketSender(right().link(i), series);
            PacketReceiver back = new PacketReceiver(left().link(i), series);
            Throwable[] failure = new Throwable[1];
            Thread other = Thread.ofPlatform().start(() -> {
                try {
                    long deadlineNs = System.nanoTime() + PATIENCE_NS;
                    while (!there.step() || !back.isDone()) {
                        back.step();
                        assertTrue(System.nanoTime() - deadlineNs < 0, "the way back stopped moving");
                    }
                } catch (RuntimeException | Error e) {
                    failure[0] = e;
                }
            });
            drive(transfer(sender(i, series), receiver(i, series)));
            while (other.isAlive()) {
                left().poll();
                right().poll();
            }
            other.join();
            assertEquals(null, failure[0]);
        }
    }

    // ---- helpers

    /** Runs a test on the two ends of each link with dynamic buffers. */
    private void forEachDynamicLink(BiConsumer<DynamicLink, TransmissionLink> test) {
        int found = 0;
        for (int i = 0; i < linkCount(); i++) {
            if (left().link(i) instanceof DynamicLink dynamic) {
                test.accept(dynamic, right().link(i));
                found++;
            }
        }
        assumeTrue(found > 0, "no module with dynamic buffers");
    }

    private void complete(DynamicLink link, long header, BufferGroup group, long trailer) {
        drive(() -> link.send(header, group, trailer) == LinkStatus.COMPLETE);
    }

    /** Waits for a packet with this header and drops it. */
    private void expect(TransmissionLink link, long header) {
        drive(() -> link.front() != 0);
        assertEquals(PacketHeader.describe(header), PacketHeader.describe(link.front()));
        long[] left = {PacketHeader.payloadBytes(header)};
        drive(() -> {
            left[0] -= left[0] > 0 ? link.skip(left[0]) : 0;
            return left[0] == 0;
        });
        link.release();
    }

    private static MemorySegment freed(long bytes) {
        try (Arena arena = Arena.ofShared()) {
            return arena.allocate(bytes, 8);
        }
    }
}
