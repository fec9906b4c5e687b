package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractRemoteMemoryContractTest;
import java.nio.file.Path;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Remote memory keeps the contract of the SPI over the provider net. */
@EnabledIfSystemProperty(
        named = "thorough",
        matches = "true",
        disabledReason = "over net the suite runs it as strict as hardware; otherwise only with -Pthorough")
class NetRemoteMemoryTest extends AbstractRemoteMemoryContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Fabrics.driver("net", "");
    }
}
