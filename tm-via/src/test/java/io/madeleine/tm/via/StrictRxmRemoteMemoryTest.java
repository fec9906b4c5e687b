package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractRemoteMemoryContractTest;
import java.nio.file.Path;

/** Remote memory keeps the contract of the SPI over the provider tcp;ofi_rxm, made as strict as hardware. */
class StrictRxmRemoteMemoryTest extends AbstractRemoteMemoryContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.strictDriver("tcp;ofi_rxm");
    }
}
