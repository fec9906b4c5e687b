package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

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
    void shouldGiveABlockToTheFirstModuleThatTakesItsSize() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024), LARGE));
        assertEquals(0, select(table, 0));
        assertEquals(0, select(table, 512));
        assertEquals(1, select(table, 513));
        assertEquals(1, select(table, Long.MAX_VALUE));
    }
}
