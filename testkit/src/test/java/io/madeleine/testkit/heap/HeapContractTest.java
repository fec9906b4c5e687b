package io.madeleine.testkit.heap;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;
import java.util.Optional;

/** The smallest driver keeps the contract of the SPI. */
class HeapContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return new HeapPmm();
    }

    @Override
    protected Optional<Boolean> closingIsOrderly() {
        return Optional.of(false);
    }
}
