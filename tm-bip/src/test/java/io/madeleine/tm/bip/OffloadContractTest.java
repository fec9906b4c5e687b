package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;

/**
 * The family keeps the contract of the SPI where many datagrams of the size of an Ethernet frame travel by one call.
 */
class OffloadContractTest extends AbstractProtocolModuleContractTest {
    static final String SETTINGS = "madeleine.tm.bip { offload = on, max-datagram = 1432 B }";

    @BeforeAll
    static void check() {
        OffloadTest.assumeGranted();
    }

    @Override
    protected ProtocolModule newDriver(Path directory) {
        return BipSide.driver(SETTINGS);
    }
}
