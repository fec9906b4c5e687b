package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The family keeps the contract of the SPI over the provider shm, made as strict as hardware. */
@EnabledIfSystemProperty(
        named = "thorough",
        matches = "true",
        disabledReason = "the suite runs it over net; over shm only with -Pthorough")
class StrictShmContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.strictDriver("shm");
    }
}
