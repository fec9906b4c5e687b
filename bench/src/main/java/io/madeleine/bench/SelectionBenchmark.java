package io.madeleine.bench;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.switching.SelectionTable;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** What it costs to find the transmission module of a block: paid by each pack and each unpack. */
public class SelectionBenchmark extends AbstractBenchmark {
    private static final int SHORT_BYTES = 8 << 10;

    private final SelectionTable table = SelectionTable.of(List.of(
            new TransmissionCapabilities(
                    "bench/short",
                    BufferMode.STATIC,
                    LinkMode.BUFFER,
                    AggregationMode.ASYMMETRIC,
                    SHORT_BYTES,
                    SHORT_BYTES,
                    "small blocks"),
            new TransmissionCapabilities(
                    "bench/regular",
                    BufferMode.DYNAMIC,
                    LinkMode.BUFFER_GROUP,
                    AggregationMode.ASYMMETRIC,
                    Long.MAX_VALUE,
                    0,
                    "any block")));

    /** The size of the block. */
    @Param({"8", "65536"})
    public long bytes;

    /** One look-up. */
    @Benchmark
    public int select() {
        return table.select(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }
}
