package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Subject.Kind;
import io.madeleine.bench.measure.Subject.Variant;
import io.madeleine.bench.measure.Usage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PerfUnitsTest {
    private static Round round(double median, long samples, Double... values) {
        List<Double> all = List.of(values);
        return new Round(samples, Collections.min(all), median, Collections.max(all), all, Usage.UNKNOWN);
    }

    @Test
    void shouldTakeTheMedianOfTheRoundsMedians() {
        Figures figures = Figures.of(List.of(
                round(5, 3, 1.0, 5.0, 6.0),
                round(100, 3, 90.0, 100.0, 200.0),
                round(4, 3, 2.0, 4.0, 4.5),
                round(6, 3, 5.0, 6.0, 7.0),
                round(5.5, 3, 5.0, 5.5, 8.0)));
        assertEquals(5.5, figures.median());
        assertEquals(1, figures.min());
        assertEquals(200, figures.max());
        assertEquals(List.of(5.0, 100.0, 4.0, 6.0, 5.5), figures.rounds());
        assertEquals((100 - 4) / 5.5, figures.spread(), 1e-9);
    }

    @Test
    void shouldTakeThePercentileOverAllSamplesOfAllRounds() {
        List<Round> rounds = new ArrayList<>();
        rounds.add(round(1, 9_900, 1.0, 1.0)); // two values that stand for 9900 samples
        rounds.add(round(50, 99, 50.0));
        rounds.add(round(70, 1, 70.0));
        assertEquals(1, Figures.of(rounds).p99());
        rounds.set(1, round(50, 200, 50.0));
        assertEquals(50, Figures.of(rounds).p99());
    }

    /** A share that is hidden may be none in most rounds. */
    @Test
    void shouldHaveAFiniteSpreadIfTheMedianIsZero() {
        assertEquals(0, Figures.of(List.of(round(0, 1, 0.0), round(0, 1, 0.0))).spread());
        assertEquals(
                1,
                Figures.of(List.of(round(0, 1, 0.0), round(0, 1, 0.0), round(40, 1, 40.0)))
                        .spread());
    }

    @Test
    void shouldFindTheMedianOfAnyNumber() {
        assertEquals(2, Figures.median(3, 1, 2));
        assertEquals(2.5, Figures.median(4, 1, 2, 3));
    }

    @Test
    void shouldWriteARowAsOneJsonObject() {
        Figures figures =
                new Figures(0.0412345678, 0.05, 1234567.8, 1e9, List.of(0.05, 0.06), new Usage(0.25, 99.94, 3, 0.001));
        PerfRow row = new PerfRow(
                new PerfRow.Label(Kind.PROTOCOL, "sci", Optional.of("sci/short"), Variant.PLAIN, Optional.empty()),
                Pattern.LATENCY,
                8,
                figures,
                false);
        String plain = "{\"kind\":\"protocol\",\"name\":\"sci\",\"pattern\":\"latency\",\"sizeBytes\":8,"
                + "\"transmissionModule\":\"sci/short\",\"min\":0.041235,\"median\":0.05,\"p99\":1234600,"
                + "\"max\":1000000000,\"unit\":\"us\",\"rounds\":[0.05,0.06],\"spread\":0.2,\"noisy\":false";
        assertEquals(plain + "}", row.json(new PerfRow.Extras(false, false)));
        assertEquals(
                plain + ",\"allocatedBytesPerMessage\":0.25,\"cpuPercent\":[99.94,3],"
                        + "\"contextSwitchesPerMessage\":0.001}",
                row.json(new PerfRow.Extras(true, true)));
    }

    @Test
    void shouldNameWhatTellsAPeersRowsApart() {
        Variant variant = new Variant(Optional.of("spin"), Optional.of("channel"), Optional.of("pages"));
        PerfRow row = new PerfRow(
                new PerfRow.Label(Kind.PEER, "nio", Optional.empty(), variant, Optional.of("rotate")),
                Pattern.RATE,
                8,
                new Figures(1, 2, 3, 4, List.of(2.0), Usage.UNKNOWN),
                true);
        assertEquals("nio (pages, channel, spin)", row.title());
        assertEquals(
                "{\"kind\":\"peer\",\"name\":\"nio\",\"pattern\":\"rate\",\"sizeBytes\":8,\"min\":1,\"median\":2,"
                        + "\"p99\":3,\"max\":4,\"unit\":\"msg/s\",\"rounds\":[2],\"spread\":0,\"noisy\":true,"
                        + "\"setup\":\"pages\",\"layer\":\"channel\",\"wait\":\"spin\",\"buffers\":\"rotate\"}",
                row.json(new PerfRow.Extras(true, true)));
    }

    @Test
    void shouldQuoteWhatAJsonTextMayNotHold() {
        assertEquals(
                "{\"kind\":\"absent\",\"name\":\"x\",\"reason\":\"a \\\"b\\\" \\\\ \\u000a\"}",
                new AbsentPeer("x", "a \"b\" \\ \n").json());
    }

    @Test
    void shouldCallTheRoundsNextToABadLookNoisy() {
        Calibration.Look good = new Calibration.Look(100, 200);
        Calibration.Look slower = new Calibration.Look(110, 220);
        Calibration.Look bad = new Calibration.Look(100, 300);
        assertEquals(List.of(), Calibration.noisyRounds(List.of(good, slower, good)));
        assertEquals(List.of(1, 2), Calibration.noisyRounds(List.of(good, slower, bad, good, good)));
        assertEquals(0.1, Calibration.spread(List.of(good, slower)), 1e-9);
        assertEquals(0.5, Calibration.spread(List.of(good, bad)), 1e-9);
    }
}
