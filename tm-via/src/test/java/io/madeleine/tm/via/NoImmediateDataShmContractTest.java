package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The family keeps the contract of the SPI over shm, as strict as hardware without immediate data. */
@EnabledIfSystemProperty(
        named = "thorough",
        matches = "true",
        disabledReason = "the suite runs it over tcp;ofi_rxm; over shm only with -Pthorough")
class NoImmediateDataShmContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.driver("shm", Fabrics.REGISTERED, Fabrics.STRICT.withoutImmediateData());
    }
}
