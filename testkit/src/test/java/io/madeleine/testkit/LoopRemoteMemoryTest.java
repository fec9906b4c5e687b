package io.madeleine.testkit;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProtocolModule;
import java.nio.file.Path;
import java.util.List;

/** Remote memory whose operations are carried out later keeps the contract. */
class LoopRemoteMemoryTest extends AbstractRemoteMemoryContractTest {
    private final LoopFabric fabric = new LoopFabric();

    @Override
    protected ProtocolModule newDriver(Path directory) {
        return new LoopPmm(
                fabric,
                List.of(LoopTm.withDynamicBuffers(
                        "stream", LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, Long.MAX_VALUE)));
    }
}
