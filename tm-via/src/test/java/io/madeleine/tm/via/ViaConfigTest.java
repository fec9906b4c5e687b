package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The settings of libfabric networks: defaults, mappings, refusals. */
class ViaConfigTest {
    private static final String ROOT = "madeleine.tm.via.";

    private static ViaConfig with(String setting) {
        return ViaConfig.from(Fabrics.config(ROOT + setting));
    }

    private static void assertRefused(String setting, String... expected) {
        String said = String.valueOf(
                assertThrows(ConfigurationException.class, () -> with(setting)).getMessage());
        for (String part : expected) {
            assertTrue(said.contains(part), said);
        }
    }

    @Test
    void shouldHaveTheseDefaults() {
        ViaConfig config = ViaConfig.from(Fabrics.config(""));
        assertTrue(config.enabled());
        assertEquals(Optional.empty(), config.library());
        assertEquals(
                List.of(new ViaConfig.AdapterConfig("default", Optional.empty(), Optional.empty(), Optional.empty())),
                config.adapters());
        assertEquals(4096, config.sizes().messageBytes());
        assertEquals(24, config.sizes().packetCount());
        assertEquals(16_384, config.sizes().rdma().fromBytes());
        assertEquals(131_072, config.sizes().rdma().chunkBytes());
        assertEquals(8, config.sizes().rdma().grants());
        assertEquals(8, config.sizes().rdma().headers());
        assertEquals(64 << 20, config.sizes().rdma().keptBytes());
        assertEquals(1024, config.sizes().rdma().keptCount());
    }

    @Test
    void shouldReadEachKey() {
        assertFalse(with("enabled = false").enabled());
        assertEquals(
                Optional.of("/opt/libfabric.so"),
                with("library = /opt/libfabric.so").library());
        assertEquals(8192, with("pool.message = 8 KiB").sizes().messageBytes());
        assertEquals(7, with("pool.packets = 7").sizes().packetCount());
        assertEquals(100_000, with("rdma.from = 100000").sizes().rdma().fromBytes());
        assertFalse(with("rdma.from = off").sizes().rdma().isOn());
        assertEquals(65_536, with("rdma.chunk = 64 KiB").sizes().rdma().chunkBytes());
        assertEquals(3, with("rdma.grants = 3").sizes().rdma().grants());
        assertEquals(5, with("rdma.headers = 5").sizes().rdma().headers());
        assertEquals(0, with("rdma.keep = off").sizes().rdma().keptBytes());
        assertEquals(1 << 20, with("rdma.keep = 1 MiB").sizes().rdma().keptBytes());
        assertEquals(9, with("rdma.keep-count = 9").sizes().rdma().keptCount());
        ViaConfig.AdapterConfig adapter = with("adapters.ib { provider = verbs, domain = mlx5_0, address = 10.0.0.1 }")
                .adapter("ib");
        assertEquals(Optional.of("verbs"), adapter.provider());
        assertEquals(Optional.of("mlx5_0"), adapter.domain());
        assertEquals(Optional.of("10.0.0.1"), adapter.address());
    }

    @Test
    void shouldRefuseWhatItDoesNotKnow() {
        assertRefused("pol.packets = 7", "unknown key madeleine.tm.via.pol", "did you mean pool?");
        assertRefused("pool.packet = 7", "pool.packet", "did you mean packets?");
        assertRefused("adapters.default.providr = shm", "adapters.default.providr", "did you mean provider?");
        assertRefused("pool.packets = 1", "pool.packets", "2 to 1024");
        assertRefused("pool.message = 1 KiB", "pool.message", "4096");
        assertRefused("rdma.chunk = 1", "rdma.chunk");
        assertRefused("rdma.grants = 33", "rdma.grants", "1 to 32");
    }
}
