package io.madeleine.testkit;

import io.madeleine.pmm.faults.DirectionFaults;
import io.madeleine.pmm.faults.Faults;
import io.madeleine.pmm.spi.ProtocolModule;
import java.nio.file.Path;
import java.util.Map;

/** Connections that delay what arrives keep the contract, over links of every kind. */
class FaultyLoopContractTest extends LoopContractTest {
    private static final Faults DELAYS = new Faults(
            1,
            Map.of(
                    new Faults.Direction(Faults.Direction.ANY, Faults.Direction.ANY),
                    new DirectionFaults(50_000, 200_000, 0, 0, DirectionFaults.NEVER)));

    @Override
    protected ProtocolModule newDriver(Path directory) {
        return new FaultyPmm(super.newDriver(directory), DELAYS);
    }
}
