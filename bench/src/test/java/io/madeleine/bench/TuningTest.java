package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Usage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class TuningTest {
    private static Map<Long, Double> times(Mechanism mechanism, double latencyUs, double bytesPerUs) {
        Map<Long, Double> times = new LinkedHashMap<>();
        Mechanism.sizes().stream()
                .filter(mechanism::has)
                .forEach(bytes -> times.put(bytes, latencyUs + bytes / bytesPerUs));
        return times;
    }

    private static Tuning tuning(double dmaLatencyUs, double dmaBytesPerUs) {
        return new Tuning(
                "here",
                Pattern.LATENCY,
                Map.of(
                        Mechanism.SHORT, times(Mechanism.SHORT, 0.1, 5_000),
                        Mechanism.REGULAR, times(Mechanism.REGULAR, 0.5, 20_000),
                        Mechanism.DMA, times(Mechanism.DMA, dmaLatencyUs, dmaBytesPerUs)),
                false);
    }

    @Test
    void shouldFindLatencyAndBandwidthOfAMechanismThatHasThem() {
        CostModel model = CostModel.fit(times(Mechanism.REGULAR, 0.5, 20_000));
        assertEquals(0.5, model.latencyUs(), 1e-6);
        assertEquals(20_000, model.bytesPerUs(), 1);
        assertEquals(0.5 + 1e6 / 20_000, model.predictedUs(1e6), 1e-3);
    }

    @Test
    void shouldNotPredictNegativeTimes() {
        CostModel model = CostModel.fit(Map.of(1000L, 0.1, 2000L, 0.4, 4000L, 1.2));
        assertEquals(0, model.latencyUs());
        assertTrue(model.bytesPerUs() > 0);
    }

    @Test
    void shouldPredictWhereOneOvertakesTheOther() {
        CostModel slow = new CostModel(0.1, 5_000);
        CostModel fast = new CostModel(0.5, 20_000);
        assertEquals(0.4 / (1 / 5_000.0 - 1 / 20_000.0), fast.fasterFromBytes(slow), 1e-6);
        assertEquals(Double.POSITIVE_INFINITY, slow.fasterFromBytes(fast));
        assertEquals(0, new CostModel(0.1, 20_000).fasterFromBytes(new CostModel(0.2, 10_000)));
    }

    @Test
    void shouldGiveBlocksToTheRingUpToWhereTheCellsStayFaster() {
        assertEquals(2048, tuning(2, 60_000).shortMaxBlockBytes()); // at 4 KiB cells are faster by more than 5 %
    }

    @Test
    void shouldGiveBlocksToSingleCopyFromWhereItStaysFaster() {
        assertEquals(
                Optional.of(new SizeRange(1 << 16, Long.MAX_VALUE)),
                tuning(2, 60_000).singleCopy());
        assertEquals(Optional.empty(), tuning(2, 15_000).singleCopy());
    }

    @Test
    void shouldNotBeMisledByOneSizeAtWhichTheChallengerIsFaster() {
        Map<Long, Double> challenger = Map.of(1L, 0.5, 2L, 2.0, 4L, 0.5);
        Map<Long, Double> incumbent = Map.of(1L, 1.0, 2L, 1.0, 4L, 1.0, 8L, 0.1);
        assertEquals(OptionalLong.of(4), Crossover.fasterFrom(challenger, incumbent));
    }

    @Test
    void shouldGiveBlocksToSingleCopyWithinTheLongestRangeOfSizesAtWhichItIsFaster() {
        Map<Long, Double> cells = Map.of(1L, 1.0, 2L, 1.0, 4L, 1.0, 8L, 1.0, 16L, 1.0, 32L, 1.0);
        Map<Long, Double> single = Map.of(1L, 0.9, 2L, 1.1, 4L, 0.5, 8L, 0.8, 16L, 0.99, 32L, 0.9);
        assertEquals(Optional.of(new SizeRange(4, 8)), Crossover.fasterWithin(single, cells));
    }

    @Test
    void shouldTellStreamsByTheTimeOfAMessage() {
        PerfRow.Label label = new PerfRow.Label(
                Subject.Kind.PROTOCOL,
                "sci",
                Optional.empty(),
                new Subject.Variant(Optional.empty(), Optional.of(Mechanism.REGULAR.id()), Optional.empty()),
                Optional.empty());
        List<PerfRow> rows = List.of(
                new PerfRow(label, Pattern.LATENCY, 4096, figures(0.7), false),
                new PerfRow(label, Pattern.BANDWIDTH, 4096, figures(20_480), true));
        Tuning streams = Tuning.of("here", Pattern.BANDWIDTH, rows);
        assertEquals(Map.of(4096L, 0.2), streams.of(Mechanism.REGULAR));
        assertTrue(streams.noisy());
        assertFalse(streams.despiteNoise().noisy());
        assertEquals(
                Map.of(4096L, 0.7), Tuning.of("here", Pattern.LATENCY, rows).of(Mechanism.REGULAR));
    }

    private static Figures figures(double median) {
        return new Figures(median, median, median, median, List.of(median), Usage.UNKNOWN);
    }

    @Test
    void shouldTakeTheThresholdsThatServeAllPairsOfProcessors() {
        Thresholds both = Thresholds.of(List.of(tuning(2, 60_000), tuning(10, 60_000)));
        assertEquals(tuning(10, 60_000).singleCopy(), both.singleCopy());
        assertEquals(
                List.of(
                        "madeleine.tm.sci.short.max-block = 2048",
                        "madeleine.tm.sci.dma.single-copy = on",
                        "madeleine.tm.sci.dma.from = "
                                + both.singleCopy().orElseThrow().fromBytes(),
                        "madeleine.tm.sci.dma.to = unlimited"),
                both.settings());
        Thresholds none = Thresholds.of(List.of(tuning(2, 60_000), tuning(2, 15_000)));
        assertEquals("madeleine.tm.sci.dma.to = none", none.settings().getLast());
    }
}
