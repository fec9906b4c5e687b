package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;

/** The family keeps the contract of the SPI over shm, as strict as hardware without immediate data. */
class NoImmediateDataShmContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.driver("shm", Fabrics.REGISTERED, Fabrics.STRICT.withoutImmediateData());
    }
}
