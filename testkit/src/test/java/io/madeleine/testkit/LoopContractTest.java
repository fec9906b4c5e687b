package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProtocolModule;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The awkward network keeps the contract itself. */
class LoopContractTest extends AbstractProtocolModuleContractTest {
    private final LoopFabric fabric = new LoopFabric();

    @Override
    protected ProtocolModule newDriver(Path directory) {
        return new LoopPmm(
                fabric,
                List.of(
                        LoopTm.withStaticBuffers("short", AggregationMode.ASYMMETRIC, 112, 1024),
                        LoopTm.withStaticBuffers("cells", AggregationMode.SYMMETRIC, 8192, 4096)
                                .slots(3),
                        LoopTm.withDynamicBuffers("eager", LinkMode.BUFFER, AggregationMode.SYMMETRIC, 65536)
                                .delayed(3),
                        LoopTm.withDynamicBuffers("posted", LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, 1 << 18)
                                .ring(150_000)
                                .posting(7),
                        LoopTm.withDynamicBuffers("tagged", LinkMode.BUFFER_GROUP, AggregationMode.SYMMETRIC, 1 << 20)
                                .ring(200_000)
                                .posting(8),
                        LoopTm.withDynamicBuffers(
                                        "stream", LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, Long.MAX_VALUE)
                                .ring(10_007)
                                .accepting(5000)
                                .delivering(3001)));
    }

    @Override
    protected Optional<Boolean> closingIsOrderly() {
        return Optional.of(false);
    }

    @Override
    protected void afterwards() {
        assertEquals(List.of(), fabric.violations());
    }
}
