package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The providers are opened with what remote memory needs beyond messages, as docs/rdma.md says. */
class ExtrasTest {
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldBeAskedFor(String provider) {
        try (Side side = new Side(Fabrics.driver(provider, ""), "extras-" + System.nanoTime(), 1)) {
            assertTrue(((ViaAdapter) side.adapter).port().putsVisibly());
            assertEquals(
                    !provider.equals("net"),
                    side.adapter.remoteMemory().orElseThrow().capabilities().atomics());
        }
    }
}
