package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;

/** The family keeps the contract of the SPI over net with via/registered between its other modules. */
class RegisteredNetContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.driver("net", Fabrics.REGISTERED);
    }
}
