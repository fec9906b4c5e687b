package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;

/** The family keeps the contract of the SPI. */
class BipContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return BipSide.driver("");
    }
}
