package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.testkit.AbstractProtocolModuleContractTest;
import io.madeleine.tm.tcp.config.TcpConfig;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** The family keeps the contract of the SPI also where the session sleeps in a reactor that is not tcp's. */
@DisabledIfSystemProperty(
        named = "madeleine.test.tcp.io",
        matches = "epoll",
        disabledReason = "Netty's epoll handles what it waits for")
class GuestContractTest extends AbstractProtocolModuleContractTest {
    /** Offers no reactor. */
    record Guest(TcpPmm tcp) implements ProtocolModule {
        static Guest newGuest() {
            Pair.assumeIo();
            return new Guest(new TcpPmm(TcpConfig.from(Pair.config("madeleine.tm.tcp.close-linger = 30ms"))));
        }

        @Override
        public String name() {
            return tcp.name();
        }

        @Override
        public Availability availability() {
            return tcp.availability();
        }

        @Override
        public List<TransmissionCapabilities> transmissionModules() {
            return tcp.transmissionModules();
        }

        @Override
        public List<String> adapterNames() {
            return tcp.adapterNames();
        }

        @Override
        public Adapter openAdapter(String name, ProcessContext context) {
            return tcp.openAdapter(name, context);
        }
    }

    @Override
    protected ProtocolModule newDriver(Path directory) {
        return Guest.newGuest();
    }
}
