package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import io.madeleine.api.SendMode;
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
    private static final List<Mechanism> SCI = Mechanism.of("sci").stream()
            .filter(mechanism -> mechanism.sendMode() == SendMode.CHEAPER)
            .toList();
    private static final Mechanism SHORT = SCI.get(0);
    private static final Mechanism REGULAR = SCI.get(1);
    private static final Mechanism DMA = SCI.get(2);

    private static Map<Long, Double> times(Mechanism mechanism, double latencyUs, double bytesPerUs) {
        Map<Long, Double> times = new LinkedHashMap<>();
        Mechanism.sizes(SCI).stream()
                .filter(mechanism::has)
                .forEach(bytes -> times.put(bytes, latencyUs + bytes / bytesPerUs));
        return times;
    }

    private static Tuning tuning(double dmaLatencyUs, double dmaBytesPerUs) {
        return new Tuning(
                "here",
                Pattern.LATENCY,
                Map.of(
                        SHORT, times(SHORT, 0.1, 5_000),
                        REGULAR, times(REGULAR, 0.5, 20_000),
                        DMA, times(DMA, dmaLatencyUs, dmaBytesPerUs)),
                false);
    }

    @Test
    void shouldFindLatencyAndBandwidthOfAMechanismThatHasThem() {
        CostModel model = CostModel.fit(times(REGULAR, 0.5, 20_000));
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
        assertEquals(
                2048, tuning(2, 60_000).longestBefore(REGULAR, SHORT)); // at 4 KiB cells are faster by more than 5 %
    }

    @Test
    void shouldGiveBlocksToSingleCopyFromWhereItStaysFaster() {
        assertEquals(
                Optional.of(new SizeRange(1 << 16, Long.MAX_VALUE)),
                tuning(2, 60_000).range(DMA, REGULAR));
        assertEquals(Optional.empty(), tuning(2, 15_000).range(DMA, REGULAR));
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
                new Subject.Variant(Optional.empty(), Optional.of(REGULAR.id()), Optional.empty()),
                Optional.empty());
        List<PerfRow> rows = List.of(
                new PerfRow(label, Pattern.LATENCY, 4096, figures(0.7), false),
                new PerfRow(label, Pattern.BANDWIDTH, 4096, figures(20_480), true));
        Tuning streams = Tuning.of("here", Pattern.BANDWIDTH, SCI, rows);
        assertEquals(Map.of(4096L, 0.2), streams.of(REGULAR));
        assertTrue(streams.noisy());
        assertFalse(streams.despiteNoise().noisy());
        assertEquals(
                Map.of(4096L, 0.7),
                Tuning.of("here", Pattern.LATENCY, SCI, rows).of(REGULAR));
    }

    private static Figures figures(double median) {
        return new Figures(median, median, median, median, List.of(median), Usage.UNKNOWN);
    }

    @Test
    void shouldTakeTheThresholdsThatServeAllPairsOfProcessors() {
        List<Tuning> both = List.of(tuning(2, 60_000), tuning(10, 60_000));
        SizeRange common = tuning(10, 60_000).range(DMA, REGULAR).orElseThrow();
        assertEquals(
                List.of(
                        "madeleine.tm.sci.short.max-block = 2048",
                        "madeleine.tm.sci.dma.single-copy = on",
                        "madeleine.tm.sci.dma.from = " + common.fromBytes(),
                        "madeleine.tm.sci.dma.to = unlimited"),
                Thresholds.settings(SCI, both));
        assertEquals(
                "madeleine.tm.sci.dma.to = none",
                Thresholds.settings(SCI, List.of(tuning(2, 60_000), tuning(2, 15_000)))
                        .getLast());
    }

    @Test
    void shouldFindTheThresholdForSaferBlocks() {
        List<Mechanism> safer = Mechanism.of("sci").stream()
                .filter(mechanism -> mechanism.sendMode() == SendMode.SAFER)
                .toList();
        Tuning measured = new Tuning(
                "here",
                Pattern.LATENCY,
                Map.of(
                        safer.getFirst(), Map.of(8192L, 1.0, 65_536L, 8.0, 1_048_576L, 200.0),
                        safer.getLast(), Map.of(8192L, 4.0, 65_536L, 9.0, 1_048_576L, 100.0)),
                false);
        assertEquals(
                List.of("madeleine.tm.sci.short.max-safer-block = 65536"),
                Thresholds.settings(safer, List.of(measured)));
    }

    @Test
    void shouldTuneTheModulesThatAnyDriverDescribes() {
        List<Mechanism> loop = Mechanism.of("loop", ConfigFactory.parseString("""
                madeleine.tm.loop.tuning = [
                  { module = loop/a, alone { small = 1 MiB }, sizes { from = 1 KiB, to = 4 KiB } }
                  { module = loop/b, alone { small = 0 }, sizes { from = 1 KiB, to = 64 KiB }, before-key = small }
                ]
                """));
        assertEquals(List.of("tm.loop.small=1 MiB"), loop.getFirst().settings());
        Tuning measured = new Tuning(
                "here",
                Pattern.LATENCY,
                Map.of(
                        loop.getFirst(), Map.of(1024L, 1.0, 2048L, 2.0, 4096L, 4.0),
                        loop.getLast(), Map.of(1024L, 1.5, 2048L, 1.5, 4096L, 1.5)),
                false);
        assertEquals(List.of("madeleine.tm.loop.small = 1024"), Thresholds.settings(loop, List.of(measured)));
        assertEquals(List.of(), Mechanism.of("tcp"));
    }
}
