package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractRemoteMemoryContractTest;
import java.nio.file.Path;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Remote memory keeps the contract of the SPI over the provider shm, made as strict as hardware. */
@EnabledIfSystemProperty(
        named = "thorough",
        matches = "true",
        disabledReason = "the suite runs it over tcp;ofi_rxm; over shm only with -Pthorough")
class StrictShmRemoteMemoryTest extends AbstractRemoteMemoryContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.strictDriver("shm");
    }
}
