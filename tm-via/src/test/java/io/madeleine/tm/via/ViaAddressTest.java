package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Addresses that lead nowhere, and what is said about them. */
@Timeout(60)
class ViaAddressTest {
    private static final String KEY = "madeleine.tm.via.adapters.default.address";

    private static ViaAddress address(String provider, String host, String name) {
        return new ViaAddress(provider, host, "ns", 42, 0, name);
    }

    @ParameterizedTest
    @CsvSource({
        "tcp;ofi_rxm, 0200831d7f0000010000000000000000, 127.0.0.1",
        "net, 0200831d7f0100020000000000000000, 127.1.0.2",
        "tcp;ofi_rxm, 0200831d0a0000010000000000000000,",
        "tcp;ofi_rxm, 0a00831d000000000000000000000000000000000000000100000000, 0:0:0:0:0:0:0:1",
        "tcp;ofi_rxm, 0a00831d00000000fd00000000000000000000000000000100000000,",
        "tcp;ofi_rxm, 0a00831d7f0000010000000000000000,",
        "tcp;ofi_rxm, 02,",
        "shm, 0200831d7f0000010000000000000000,",
        "verbs, 0200831d7f0000010000000000000000,"
    })
    void shouldTellLoopbackAddresses(String provider, String name, String expected) {
        assertEquals(
                Optional.ofNullable(expected), address(provider, "here", name).loopback());
    }

    @Test
    void shouldSayThatALoopbackAddressOfAnotherHostIsUnreachable() {
        try (Side side = new Side(Fabrics.driver("tcp;ofi_rxm", ""), "elsewhere-" + System.nanoTime(), 1)) {
            ViaAddress own = ViaAddress.read(side.adapter.address()).orElseThrow();
            assertTrue(side.adapter.unreachable(own.toString()).isEmpty());
            assertTrue(side.adapter
                    .unreachable(address(own.provider(), "", own.nameText()).toString())
                    .isEmpty());
            String elsewhere =
                    address(own.provider(), "elsewhere", own.nameText()).toString();
            String why = side.adapter.unreachable(elsewhere).orElseThrow();
            assertTrue(why.contains("another host, and its address 127.0.0.1 is a loopback address; set " + KEY), why);
        }
    }

    /** In another network namespace the host is the same, as far as the process can tell. */
    @Test
    void shouldSayAtTheDeadlineThatThePeersAddressIsALoopbackAddress() {
        try (Side side = new Side(Fabrics.driver("tcp;ofi_rxm", ""), "silent-" + System.nanoTime(), 1)) {
            ViaAddress own = ViaAddress.read(side.adapter.address()).orElseThrow();
            String nobody = address(
                            own.provider(),
                            own.host(),
                            "0200000b" + own.nameText().substring(8))
                    .toString();
            var calling = side.adapter
                    .openChannel("test")
                    .connect(new ConnectionRequest(
                            new ProcessIdentity(2, 0),
                            nobody,
                            true,
                            side.driver.transmissionModules(),
                            1,
                            System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(200)));
            long startNs = System.nanoTime();
            while (!calling.isDone()) {
                side.poll();
                assertFalse(System.nanoTime() - startNs > Side.PATIENCE_NS, "no deadline");
            }
            String said = assertThrows(CompletionException.class, calling::join).getMessage();
            String expected = "the deadline has come, and the peer has not answered: its address 127.0.0.1 is a"
                    + " loopback address, which reaches no other host or container; if the peer runs in another one,"
                    + " set " + KEY + " there; is the channel configured";
            assertTrue(said.contains(expected), said);
        }
    }
}
