package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import io.madeleine.tm.tcp.config.TcpConfig;
import java.nio.file.Path;

/** The family keeps the contract of the SPI, whichever way sockets are driven. */
class TcpContractTest extends AbstractProtocolModuleContractTest {
    @Override
    protected ProtocolModule newDriver(Path directory) {
        Pair.assumeIo();
        return new TcpPmm(TcpConfig.from(Pair.config(Pair.HARDLY_ANY_LINGER)));
    }
}
