package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import java.nio.file.Path;

/** The family keeps the contract of the SPI with {@code sci/dma}, whether or not native access is granted. */
class DmaContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        return new SciPmm(SciConfig.from(Side.config(directory, Side.SINGLE_COPY)));
    }
}
