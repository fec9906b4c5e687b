package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;

/** The family keeps the contract of the SPI over the provider net, as strict as hardware, with virtual addresses. */
class StrictNetContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.driver("net", Fabrics.REGISTERED, Fabrics.STRICT.withVirtualAddresses());
    }
}
