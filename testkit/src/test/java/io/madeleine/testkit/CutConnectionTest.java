package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.faults.DirectionFaults;
import io.madeleine.pmm.faults.Faults;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.ProtocolModule;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A call that finds its connection cut by a fault gives the same reason as the loss, which is told a moment later. */
class CutConnectionTest extends AbstractSpiTest {
    private final LoopFabric fabric = new LoopFabric();
    private final Faults cut =
            new Faults(1, Map.of(new Faults.Direction(1, 2), new DirectionFaults(0, 0, 0, 0, 1_000_000)));

    @Override
    protected ProtocolModule newDriver(Path directory) {
        return new FaultyPmm(
                new LoopPmm(fabric, List.of(LoopTm.withStaticBuffers("short", AggregationMode.ASYMMETRIC, 112, 1024))),
                cut);
    }

    @Test
    void shouldNameTheKeyAsTheReason() {
        drive(() -> right.lossCount > 0);
        String reason = right.lossReason;
        assertTrue(reason.contains("madeleine.faults.links.1-to-2.cut-after"), reason);
        assertEquals(reason, right.connection().seenOfLoss());
    }
}
