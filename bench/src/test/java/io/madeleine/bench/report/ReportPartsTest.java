package io.madeleine.bench.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReportPartsTest {
    @Test
    void shouldChooseThePrefixThatSuits() {
        assertEquals("67.9 ns", Unit.of("us").text(0.06789));
        assertEquals("1.00 µs", Unit.of("us").text(0.9999));
        assertEquals("1.32 ms", Unit.of("us").text(1318));
        assertEquals("36.2 GB/s", Unit.of("MB/s").text(36_200));
        assertEquals("71.0 M/s", Unit.of("msg/s").text(71e6));
        assertEquals("910 k/s", Unit.of("msg/s").text(910e3));
        assertEquals("100 ns", Unit.of("us").tick(0.1));
        assertEquals("1.5 furlong", Unit.of("furlong").text(1.5));
    }

    @Test
    void shouldCallALongerTimeAndASmallerBandwidthSlower() {
        assertEquals(2, Unit.of("us").advantage(1, 2));
        assertEquals(0.5, Unit.of("MB/s").advantage(1, 2));
    }

    @Test
    void shouldPutEqualRatiosAtEqualDistances() {
        LogScale scale = new LogScale(1, 10_000, 0, 400);
        assertEquals(0, scale.at(1), 1e-9);
        assertEquals(100, scale.at(10), 1e-9);
        assertEquals(400, scale.at(10_000), 1e-9);
        assertEquals(List.of(1.0, 10.0, 100.0, 1000.0, 10_000.0), scale.ticks());
    }

    @Test
    void shouldEndTheAxisAtOneTwoOrFive() {
        LogScale scale = LogScale.around(0.067, 1315, 0, 1);
        assertEquals(0.05, scale.min(), 1e-9);
        assertEquals(2000, scale.max(), 1e-9);
        LogScale one = LogScale.around(3, 3, 0, 1);
        assertTrue(one.min() < one.max());
        assertTrue(one.ticks().size() >= 2, one.ticks().toString());
    }

    @Test
    void shouldKeepLabelsApartAndNearTheirPlace() {
        assertArrayEquals(new double[] {50, 10}, LabelColumn.spread(new double[] {50, 10}, 14, 0, 100));
        assertArrayEquals(new double[] {43, 57}, LabelColumn.spread(new double[] {50, 50}, 14, 0, 100));
        double[] placed = LabelColumn.spread(new double[] {95, 99, 98, 2}, 14, 0, 100);
        assertArrayEquals(new double[] {72, 100, 86, 2}, placed);
    }

    @Test
    void shouldGiveEverybodyInAFamilyALookOfItsOwn() {
        List<Subject> subjects = Subject.of(Rows.read(Samples.file()).figures());
        assertEquals(12, subjects.size());
        assertEquals("sci", subjects.getFirst().label());
        Set<String> looks = new HashSet<>();
        for (Subject subject : subjects) {
            assertTrue(looks.add(subject.family() + " " + subject.colour() + " " + subject.dash()), subject.toString());
        }
    }

    @Test
    void shouldCompareEachOfOursWithThoseThatGoTheSameWay() {
        List<Ratios> ratios = Ratios.of(new Table(Rows.read(Samples.file()).figures()));
        assertEquals(
                List.of("sci", "tcp"),
                ratios.stream().map(r -> r.ours().label()).toList());
        assertEquals(
                List.of("aeron-ipc", "openmpi", "mpich"),
                ratios.getFirst().lines().get("latency").stream()
                        .map(line -> line.peer().label())
                        .toList());
        Ratios.Cell cell = ratios.getFirst()
                .lines()
                .get("latency")
                .getFirst()
                .cells()
                .getFirst()
                .orElseThrow();
        assertEquals(0.06792 / 0.11752, cell.value(), 0.01);
        assertEquals("0.58", cell.text());
        assertEquals("faster than every peer at 5 of 8 sizes", ratios.getFirst().lead("latency"));
    }

    @Test
    void shouldNameTheLineThatIsNoRow() {
        String row = Samples.lines().get(1);
        String message = assertThrows(
                        Rows.BadRowsException.class, () -> Rows.of(List.of(row, "", "{\"kind\":\"odd\"}"), "x.jsonl"))
                .getMessage();
        assertTrue(message.startsWith("x.jsonl, line 3 is no row of mad perf: "), message);
        assertTrue(message.contains("'odd'"), message);
        assertThrows(Rows.BadRowsException.class, () -> Rows.of(List.of("nonsense"), "x.jsonl"));
        assertThrows(Rows.BadRowsException.class, () -> Rows.of(List.of(row.replace("median", "middle")), "x.jsonl"));
    }

    @Test
    void shouldWriteATableForSpreadsheets() {
        String csv = CsvReport.of(Rows.read(Samples.file()));
        List<String> lines = csv.lines().toList();
        assertEquals(Rows.read(Samples.file()).figures().size() + 1, lines.size());
        assertEquals(
                "kind,name,variant,pattern,sizeBytes,transmissionModule,unit,min,median,p99,max,spread,noisy,"
                        + "allocatedBytesPerMessage,cpuPercent",
                lines.getFirst());
        assertEquals(
                "protocol,sci,,latency,8,sci/short,us,0.10823,0.11752,0.14472,0.37386,0.04646,false,0,99 + 98",
                lines.get(1));
    }

    @Test
    void shouldWriteTheTablesAsMarkdown() {
        String text = MarkdownReport.of(Rows.read(Samples.file()));
        assertTrue(text.contains("| **sci** | 118 ns | 172 ns |"), text);
        assertTrue(text.contains("| aeron-ipc | 0.58 | 0.92 |"), text);
        assertTrue(text.contains("- Absent: fabric:shm: libfabric.so.1"), text);
    }

    @Test
    void shouldTellLayersOfOneProtocolApart() {
        String row = Samples.lines().get(1);
        Rows rows = Rows.of(List.of(row, row.replace("\"unit\"", "\"layer\":\"channel\",\"unit\"")), "x");
        assertEquals(
                List.of("sci", "sci channel"),
                Subject.of(rows.figures()).stream().map(Subject::label).toList());
    }
}
