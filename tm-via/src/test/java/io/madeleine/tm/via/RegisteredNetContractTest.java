package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The family keeps the contract of the SPI over net with via/registered between its other modules. */
@EnabledIfSystemProperty(
        named = "thorough",
        matches = "true",
        disabledReason = "the suite runs it over shm; over net only with -Pthorough")
class RegisteredNetContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.driver("net", Fabrics.REGISTERED);
    }
}
