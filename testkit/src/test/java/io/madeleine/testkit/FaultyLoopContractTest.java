package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.faults.DirectionFaults;
import io.madeleine.pmm.faults.Faults;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.StaticLink;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

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

    @Test
    void shouldHandOnNothingOnceAConnectionIsGivenUp() {
        StaticLink out = (StaticLink) left.link(0);
        assertTrue(out.claim() >= 0);
        out.commit(PacketHeader.of(0, 0, 0, PacketHeader.FIRST | PacketHeader.LAST));
        out.announce();
        drive(() -> right.link(0).front() > 0);
        right.connection().giveUp();
        assertEquals(LinkStatus.CLOSED, right.link(0).front());
    }
}
