package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The contract of links that post memory: data lands in the expected blocks or not at all, and nothing accesses the
 * blocks afterwards.
 */
public interface PostingContract extends SpiFixture {
    int SERIES = 12;
    long SOON_NS = 10_000_000_000L; // see SpiEnd.LONG_SLEEP_NS
    byte UNTOUCHED = (byte) 0x5A;

    private void forEachPostingLink(PostingTest test) {
        int found = 0;
        for (int i = 0; i < linkCount(); i++) {
            if (left().link(i) instanceof PostingLink send && right().link(i) instanceof PostingLink receive) {
                test.run(i, send, receive);
                found++;
            }
        }
        assumeTrue(found > 0, "no module that posts memory");
    }

    private static MemorySegment heap(long bytes) {
        return MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
    }

    private static BufferGroup group(MemorySegment block) {
        BufferGroup group = new BufferGroup();
        group.add(block, 0, block.byteSize());
        return group;
    }

    private void pollSome(Random random) {
        for (int i = random.nextInt(30); i > 0; i--) {
            left().poll();
            right().poll();
        }
    }

    /** Takes arrived packets of the series from number {@code next} on; returns the number of the next packet. */
    private static int take(TransmissionLink link, PacketSeries series, int next, BufferGroup wanted) {
        int number = next;
        while (number < series.count() && link.front() > 0) {
            assertEquals(series.header(number), link.front());
            long rest = packetLeft(series, number, wanted);
            if (rest > 0 && link.receive(wanted, rest) == 0 || packetLeft(series, number, wanted) > 0) {
                break;
            }
            link.release();
            number++;
        }
        return number;
    }

    /** How many bytes of a packet the group still lacks; the group expects the whole series. */
    private static long packetLeft(PacketSeries series, int number, BufferGroup wanted) {
        long behind = 0;
        for (int i = number + 1; i < series.count(); i++) {
            behind += series.bytes(i);
        }
        return wanted.remainingBytes() - behind;
    }

    private static long total(PacketSeries series) {
        long bytes = 0;
        for (int i = 0; i < series.count(); i++) {
            bytes += series.bytes(i);
        }
        return bytes;
    }

    private static void check(PacketSeries series, MemorySegment found) {
        long position = 0;
        for (int i = 0; i < series.count(); i++) {
            Pattern.check(i, found.asSlice(position, series.bytes(i)));
            position += series.bytes(i);
        }
    }

    private static boolean isDone(PacketSeries series, int next) {
        return next == series.count();
    }

    @Test
    default void shouldDeliverTheSameWhetherExpectedOrNot() {
        forEachPostingLink((i, _, receive) -> {
            for (long seed = 1; seed <= SERIES; seed++) {
                Random random = new Random(seed);
                PacketSeries series = PacketSeries.random(right().link(i).capabilities(), 20, 40_000, seed);
                MemorySegment found = heap(total(series));
                BufferGroup wanted = group(found);
                PacketSender sender = new PacketSender(left().link(i), series);
                if (random.nextBoolean()) {
                    sender.step();
                }
                long[] expected = {0};
                int[] next = {0};
                drive(() -> {
                    boolean sent = sender.step();
                    if (expected[0] < found.byteSize() && random.nextInt(3) == 0) {
                        expected[0] = Math.max(expected[0], found.byteSize() - wanted.remainingBytes());
                        long bytes = random.nextLong(found.byteSize() - expected[0] + 1);
                        BufferGroup more = new BufferGroup();
                        more.add(found, expected[0], bytes);
                        receive.expect(more);
                        expected[0] += bytes;
                    }
                    next[0] = take(right().link(i), series, next[0], wanted);
                    return sent && isDone(series, next[0]);
                });
                check(series, found);
                retract(receive);
            }
        });
    }

    private void retract(PostingLink link) {
        right().whenReadable = () -> 0;
        drive(() -> link.retract() == LinkStatus.COMPLETE);
        right().whenReadable = right()::lookAtLinks;
    }

    @Test
    default void shouldWriteNothingToBlocksThatWereTakenBack() {
        forEachPostingLink((i, _, receive) -> {
            for (long seed = 1; seed <= SERIES; seed++) {
                Random random = new Random(seed);
                PacketSeries series = PacketSeries.random(right().link(i).capabilities(), 12, 40_000, seed);
                MemorySegment found = heap(total(series));
                BufferGroup wanted = group(found);
                MemorySegment posted = found;
                receive.expect(group(posted));
                PacketSender sender = new PacketSender(left().link(i), series);
                int next = 0;
                for (int rounds = random.nextInt(4); rounds > 0; rounds--) {
                    sender.step();
                    pollSome(random);
                    next = take(right().link(i), series, next, wanted);
                }
                right().whenReadable = () -> 0; // no thread may look at the link meanwhile
                drive(() -> {
                    sender.step();
                    return receive.retract() == LinkStatus.COMPLETE;
                });
                right().whenReadable = right()::lookAtLinks;
                long got = found.byteSize() - wanted.remainingBytes();
                MemorySegment whole = heap(found.byteSize());
                MemorySegment.copy(found, 0, whole, 0, got);
                posted.fill(UNTOUCHED);
                BufferGroup rest = new BufferGroup();
                rest.add(whole, got, whole.byteSize() - got);
                int[] number = {next};
                drive(() -> {
                    boolean sent = sender.step();
                    number[0] = take(right().link(i), series, number[0], rest);
                    return sent && isDone(series, number[0]);
                });
                settleOnce();
                check(series, whole);
                assertEquals(-1, posted.mismatch(heap(posted.byteSize()).fill(UNTOUCHED)), "written after retract");
            }
        });
    }

    private void settleOnce() {
        for (int i = 0; i < 50; i++) {
            left().poll();
            right().poll();
        }
    }

    @Test
    default void shouldReadMemoryNoLongerThanItSays() {
        forEachPostingLink((i, send, _) -> {
            for (int number = 0; number < 30; number++) {
                int bytes = 1 + 3001 * number;
                MemorySegment source = Pattern.fill(number, heap(bytes));
                BufferGroup group = group(source);
                long header = PacketHeader.of(bytes, number, 0, PacketHeader.FIRST | PacketHeader.LAST);
                MemorySegment found = heap(bytes);
                BufferGroup wanted = group(found);
                boolean[] sent = {false};
                DynamicLink dynamic = (DynamicLink) send;
                drive(() -> {
                    sent[0] = sent[0] || dynamic.send(header, group, 0) == LinkStatus.COMPLETE;
                    if (sent[0] && !send.holdsMemory()) {
                        source.fill(UNTOUCHED);
                    }
                    if (right().link(i).front() == header && !wanted.isEmpty()) {
                        right().link(i).receive(wanted, wanted.remainingBytes());
                    }
                    return sent[0] && wanted.isEmpty() && !send.holdsMemory();
                });
                right().link(i).release();
                Pattern.check(number, found);
            }
        });
    }

    @Test
    default void shouldGiveMemoryBackThoughNobodyWaits() {
        forEachPostingLink((i, send, _) -> {
            for (int number = 0; number < 10; number++) {
                PacketSeries series = PacketSeries.of(left().link(i).capabilities(), 5000);
                PacketReceiver receiver = new PacketReceiver(right().link(i), series);
                drive(new PacketSender(left().link(i), series)::step);
                long startNs = System.nanoTime();
                while (send.holdsMemory()) {
                    assertTrue(left().pollByDemand(), "the link holds memory, but no demand keeps the adapter polled");
                }
                assertTrue(System.nanoTime() - startNs < SOON_NS, "a sleep lasted beyond the release of the memory");
                drive(() -> {
                    receiver.step();
                    return receiver.isDone();
                });
            }
        });
    }

    @Test
    default void shouldHaveAllMemoryBackOfAConnectionThatWasGivenUp() {
        forEachPostingLink((i, send, receive) -> {
            MemorySegment block = heap(100_000);
            BufferGroup group = group(heap(100_000).fill(UNTOUCHED));
            long header = PacketHeader.of(100_000, 1, 0, PacketHeader.FIRST);
            receive.expect(group(block));
            ((DynamicLink) send).send(header, group, 0);
        });
        right().connection().giveUp(); // while the other side makes no progress
        for (int i = 0; i < linkCount(); i++) {
            if (right().link(i) instanceof PostingLink receive) {
                int[] rounds = {0};
                while (receive.retract() == LinkStatus.PENDING) {
                    right().poll();
                    assertFalse(rounds[0]++ > 1_000_000, "posted blocks did not come back");
                }
            }
        }
        left().connection().giveUp();
        for (int i = 0; i < linkCount(); i++) {
            if (left().link(i) instanceof PostingLink send) {
                int[] rounds = {0};
                while (send.holdsMemory()) {
                    left().poll();
                    assertFalse(rounds[0]++ > 1_000_000, "the link did not release memory");
                }
            }
        }
    }
}
