package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import io.madeleine.testkit.Certificates;
import java.nio.file.Path;

/** The family keeps the contract of the SPI with encryption. */
class EncryptedContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return BipSide.driver(Certificates.settingsOfThisRun(BipSide.ENCRYPTION));
    }
}
