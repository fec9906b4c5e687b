package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.List;
import org.junit.jupiter.api.Test;

class SelectionTableTest {
    private static final TransmissionCapabilities LARGE = new TransmissionCapabilities(
            "x/large", BufferMode.DYNAMIC, LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, Long.MAX_VALUE, 0, "all");

    private static TransmissionCapabilities small(long maxBlockBytes, int bufferBytes) {
        return new TransmissionCapabilities(
                "x/small",
                BufferMode.STATIC,
                LinkMode.BUFFER,
                AggregationMode.ASYMMETRIC,
                maxBlockBytes,
                bufferBytes,
                "small ones");
    }

    private static int select(SelectionTable table, long bytes) {
        return table.select(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }

    @Test
    void shouldTakeTheThresholdOfTheLowerRankAndTheSmallerBufferOfBoth() {
        List<TransmissionCapabilities> one = List.of(small(512, 1024), LARGE);
        List<TransmissionCapabilities> other = List.of(small(2048, 256), LARGE);
        SelectionTable table = SelectionTable.agree("main", one, other);
        assertEquals(512, table.modules().getFirst().maxBlockBytes());
        assertEquals(256, table.modules().getFirst().bufferBytes());
        SelectionTable turned = SelectionTable.agree("main", other, one);
        assertEquals(2048, turned.modules().getFirst().maxBlockBytes());
        assertEquals(256, turned.modules().getFirst().bufferBytes());
        assertNotEquals(table.digest(), turned.digest());
    }

    @Test
    void shouldGiveSaferBlocksToStaticBuffersFurtherUp() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024).withMaxSaferBlockBytes(4096), LARGE));
        assertEquals(0, table.select(4096, SendMode.SAFER, ReceiveMode.CHEAPER));
        assertEquals(1, table.select(4097, SendMode.SAFER, ReceiveMode.EXPRESS));
        assertEquals(1, table.select(4096, SendMode.CHEAPER, ReceiveMode.CHEAPER));
        assertEquals(1, table.select(4096, SendMode.LATER, ReceiveMode.CHEAPER));
        assertEquals(1, table.select(Long.MAX_VALUE, SendMode.SAFER, ReceiveMode.CHEAPER));
    }

    @Test
    void shouldAgreeOnTheThresholdForSaferBlocksOfTheLowerRank() {
        List<TransmissionCapabilities> one = List.of(small(512, 1024).withMaxSaferBlockBytes(4096), LARGE);
        List<TransmissionCapabilities> other = List.of(small(512, 1024), LARGE);
        SelectionTable table = SelectionTable.agree("main", one, other);
        SelectionTable turned = SelectionTable.agree("main", other, one);
        assertEquals(0, table.select(4096, SendMode.SAFER, ReceiveMode.CHEAPER));
        assertEquals(1, turned.select(4096, SendMode.SAFER, ReceiveMode.CHEAPER));
        assertNotEquals(table.digest(), turned.digest());
    }

    @Test
    void shouldTakeSaferBlocksOfAnySizeByTheLastModule() {
        List<TransmissionCapabilities> alone = List.of(small(512, 1024).withMaxSaferBlockBytes(4096));
        assertEquals(0, SelectionTable.of(alone).select(4097, SendMode.SAFER, ReceiveMode.CHEAPER));
    }

    @Test
    void shouldListTheSizesOfEachModeWhereItMakesADifference() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024).withMaxSaferBlockBytes(4096), LARGE));
        assertEquals(
                List.of(
                        "0 to 4096 SAFER: x/small",
                        "0 to 512 LATER, CHEAPER: x/small",
                        "513 to " + Long.MAX_VALUE + " LATER, CHEAPER: x/large",
                        "4097 to " + Long.MAX_VALUE + " SAFER: x/large"),
                lines(table));
        assertEquals(
                List.of("0 to 512 any modes: x/small", "513 to " + Long.MAX_VALUE + " any modes: x/large"),
                lines(SelectionTable.of(List.of(small(512, 1024), LARGE))));
    }

    private static List<String> lines(SelectionTable table) {
        return table.rows().stream()
                .map(row -> row.fromBytes() + " to " + row.toBytes() + " " + row.modes() + ": " + row.moduleId())
                .toList();
    }

    @Test
    void shouldExplainASaferBlockByItsOwnThreshold() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024).withMaxSaferBlockBytes(4096), LARGE));
        String large = table.explain(5000, SendMode.SAFER, ReceiveMode.CHEAPER);
        assertTrue(large.contains("not x/small, which takes SAFER blocks of up to 4096 bytes"), large);
        assertTrue(large.contains("it is copied first"), large);
        String small = table.explain(4000, SendMode.SAFER, ReceiveMode.CHEAPER);
        assertTrue(small.contains("copied into those buffers at once"), small);
    }

    @Test
    void shouldGiveABlockToTheFirstModuleThatTakesItsSize() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024), LARGE));
        assertEquals(0, select(table, 0));
        assertEquals(0, select(table, 512));
        assertEquals(1, select(table, 513));
        assertEquals(1, select(table, Long.MAX_VALUE));
    }
}
