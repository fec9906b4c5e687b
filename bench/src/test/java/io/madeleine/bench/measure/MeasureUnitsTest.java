package io.madeleine.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MeasureUnitsTest {
    private static Histogram durations(long... ns) {
        Histogram histogram = new Histogram(1_000_000_000_000L, 4);
        for (long duration : ns) {
            histogram.recordValue(duration);
        }
        return histogram;
    }

    private static Round round(Pattern pattern, long bytes, long messages, long... ns) {
        return Round.of(pattern, bytes, durations(ns), messages, Usage.UNKNOWN);
    }

    @Test
    void shouldHalveRoundTripsIntoMicroseconds() {
        Round round = round(Pattern.LATENCY, 8, 10, 10_000, 20_000, 40_000);
        assertEquals(3, round.samples());
        assertEquals(1, round.min(), 1e-3);
        assertEquals(2, round.median(), 1e-3);
        assertEquals(4, round.max(), 1e-3);
        assertEquals(List.of(1.0, 2.0, 4.0), rounded(round.values()));
    }

    @Test
    void shouldTakeTheLongestTimeForTheSmallestBandwidthAndRate() {
        Round bandwidth = round(Pattern.BANDWIDTH, 1_000_000, 4, 1_000_000, 2_000_000, 4_000_000);
        assertEquals(1_000, bandwidth.min(), 1);
        assertEquals(2_000, bandwidth.median(), 1);
        assertEquals(4_000, bandwidth.max(), 1);
        assertEquals(List.of(1000.0, 2000.0, 4000.0), rounded(bandwidth.values()));
        Round rate = round(Pattern.RATE, 8, 4_000, 1_000_000, 2_000_000, 4_000_000);
        assertEquals(1e6, rate.min(), 1e3);
        assertEquals(2e6, rate.median(), 1e3);
        assertEquals(4e6, rate.max(), 1e3);
    }

    @Test
    void shouldTellPatternsOfMessagesFromThoseThatAProcessMeasuresAlone() {
        assertEquals("us", Pattern.REGISTER.unit());
        assertTrue(Pattern.REGISTER.isDuration() && Pattern.REGISTER.isLocal());
        assertFalse(Pattern.REGISTER.isOfMessages() || Pattern.REGISTER.isOfProgram() || Pattern.REGISTER.isCall());
        assertEquals(2.5, Pattern.REGISTER.measure().value(10_000, 4, 8));
        for (Pattern pattern : Pattern.OF_MESSAGES) {
            assertFalse(pattern.isLocal(), pattern.word());
            assertEquals(!pattern.isCall(), pattern.isOfMessages(), pattern.word());
        }
    }

    private static List<Double> rounded(List<Double> values) {
        return values.stream()
                .map(value -> value < 100 ? Math.rint(100 * value) / 100 : 10 * Math.rint(value / 10))
                .toList();
    }

    @Test
    void shouldTellManySamplesByFew() {
        long[] many = new long[100_000];
        for (int i = 0; i < many.length; i++) {
            many[i] = 2_000L * (i + 1);
        }
        Round round = round(Pattern.LATENCY, 8, 2, many);
        assertEquals(many.length, round.samples());
        assertEquals(Round.MOST_VALUES, round.values().size());
        assertEquals(round.values().stream().sorted().toList(), round.values());
        assertEquals(50_000, round.median(), 50);
    }

    @Test
    void shouldPassARoundThroughALine() {
        Round round = new Round(7, 0.041, 0.5, 1.5e10, List.of(0.041, 0.5, 1e7), new Usage(0, 99.5, 12, 0.25));
        assertEquals(round, Round.parse(round.line()));
        Round unknown = new Round(1, 1, 1, 1, List.of(1.0), Usage.UNKNOWN);
        assertEquals(unknown, Round.parse(unknown.line()));
        assertThrows(IllegalArgumentException.class, () -> Round.parse("something a library prints"));
    }

    @Test
    void shouldPassAnOrderThroughALine() {
        Order order = new Order(Pattern.RATE, 1L << 24, 250_000_000, 1_000, 2_000, Buffers.ROTATE, true);
        assertEquals(order, Order.of(order.line(), Pattern::of));
        assertThrows(IllegalArgumentException.class, () -> Order.of("round 1", Pattern::of));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 8, 4096, 65_536, 48L << 20})
    void shouldRotateOverMoreThanCachesHold(long bytes) {
        MemorySegment region = Arena.ofAuto().allocate(Buffers.ROTATE.memoryBytes(bytes), 64);
        BlockRing ring = new BlockRing(Buffers.ROTATE, bytes, region);
        Set<Long> addresses = new HashSet<>();
        while (addresses.add(ring.next().memory().address())) {
            assertEquals(bytes, ring.last().memory().byteSize());
        }
        long span = addresses.stream().mapToLong(Long::longValue).max().orElseThrow()
                - addresses.stream().mapToLong(Long::longValue).min().orElseThrow()
                + bytes;
        assertEquals(Math.max(64L << 20, 2 * bytes), span, Math.max(8192, bytes * 1.1));
    }

    @Test
    void shouldTakeNewMemoryForEachMessageOrNever() {
        MemorySegment region = Arena.ofAuto().allocate(100, 64);
        BlockRing fresh = new BlockRing(Buffers.FRESH, 100, region);
        Block first = fresh.next();
        Block second = fresh.next();
        assertFalse(first.memory().isNative());
        assertNotSame(
                first.memory().heapBase().orElseThrow(),
                second.memory().heapBase().orElseThrow());
        BlockRing same = new BlockRing(Buffers.SAME, 100, region);
        Block block = same.next();
        assertSame(block, same.next());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 7, 8, 9, 64, 1021})
    void shouldNoticeAnyByteThatIsNotWhatWasSent(long bytes) {
        MemorySegment block = Arena.ofAuto().allocate(bytes);
        Contents.fill(block, bytes, 5);
        Contents.check(block, bytes, 5);
        assertThrows(IllegalStateException.class, () -> Contents.check(block, bytes, 6));
        for (long at = 0; at < bytes; at++) {
            byte right = block.get(ValueLayout.JAVA_BYTE, at);
            block.set(ValueLayout.JAVA_BYTE, at, (byte) (right ^ 1));
            assertThrows(IllegalStateException.class, () -> Contents.check(block, bytes, 5));
            block.set(ValueLayout.JAVA_BYTE, at, right);
        }
    }

    @Test
    void shouldReadListsOfProcessors() {
        assertEquals(List.of(0, 1, 2, 3, 8, 10, 11), Pinning.parse("0-3,8,10-11"));
        assertEquals(List.of(5), Pinning.parse("5"));
    }
}
