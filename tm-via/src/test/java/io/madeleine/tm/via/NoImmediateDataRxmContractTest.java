package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;

/** The family keeps the contract of the SPI over tcp;ofi_rxm, as strict as hardware without immediate data. */
class NoImmediateDataRxmContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.driver("tcp;ofi_rxm", Fabrics.REGISTERED, Fabrics.STRICT.withoutImmediateData());
    }
}
