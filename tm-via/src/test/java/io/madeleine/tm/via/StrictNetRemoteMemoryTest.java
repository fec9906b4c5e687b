package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractRemoteMemoryContractTest;
import java.nio.file.Path;

/** Remote memory keeps the contract of the SPI over the provider net, as strict as hardware, with virtual addresses. */
class StrictNetRemoteMemoryTest extends AbstractRemoteMemoryContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.driver("net", Fabrics.REGISTERED, Fabrics.STRICT.withVirtualAddresses());
    }
}
