package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.tm.via.link.ConnectionSizes;
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
        assertFalse(config.pins());
        assertEquals(Optional.empty(), config.library());
        assertEquals(1, config.adapters().size());
        ViaConfig.AdapterConfig adapter = config.adapter("default");
        assertEquals(Optional.empty(), adapter.provider());
        assertEquals(Optional.empty(), adapter.domain());
        assertEquals(Optional.empty(), adapter.address());
        ConnectionSizes sizes = adapter.sizes();
        assertEquals(8192, sizes.messageBytes());
        assertEquals(24, sizes.packetCount());
        assertFalse(sizes.registered().isOn());
        assertEquals(16_384, sizes.rdma().fromBytes());
        assertEquals(131_072, sizes.rdma().chunkBytes());
        assertEquals(131_072, sizes.rdma().firstChunkBytes());
        assertEquals(8, sizes.rdma().grants());
        assertEquals(8, sizes.rdma().headers());
        assertEquals(64 << 20, sizes.rdma().keptBytes());
        assertEquals(1024, sizes.rdma().keptCount());
    }

    @Test
    void shouldTakeTheSizesThatSuitTheProviderUnlessOthersAreGiven() {
        ViaConfig config = with("adapters { default { provider = shm }, a { provider = net }, "
                + "b { provider = \"tcp;ofi_rxm\" }, c { provider = efa } }");
        assertEquals(4 << 10, config.adapter("default").sizes().messageBytes());
        assertEquals(32 << 10, config.adapter("default").sizes().rdma().fromBytes());
        assertEquals(36 << 10, config.adapter("a").sizes().messageBytes());
        assertEquals(128 << 10, config.adapter("a").sizes().rdma().fromBytes());
        assertEquals(16 << 10, config.adapter("b").sizes().messageBytes());
        assertEquals(16 << 10, config.adapter("b").sizes().rdma().fromBytes());
        assertEquals(8 << 10, config.adapter("c").sizes().messageBytes());
        ConnectionSizes given = sizes(
                "adapters.default.provider = net\n" + ROOT + "pool.message = 8 KiB\n" + ROOT + "rdma.from = 9 KiB");
        assertEquals(8 << 10, given.messageBytes());
        assertEquals(9 << 10, given.rdma().fromBytes());
    }

    @Test
    void shouldTakeAnAddressOnlyWithAProviderThatHasSome() {
        assertEquals(
                Optional.of("10.0.0.1"),
                with("adapters.ib { provider = net, address = 10.0.0.1 }")
                        .adapter("ib")
                        .address());
        assertRefused(
                "adapters.ib { provider = shm, address = 10.0.0.1 }",
                "madeleine.tm.via.adapters.ib.address is 10.0.0.1",
                "auto: the provider shm has no addresses");
        assertRefused(
                "adapters.ib { provider = auto, address = 10.0.0.1 }",
                "madeleine.tm.via.adapters.ib.address is 10.0.0.1",
                "auto, unless provider names the provider");
    }

    private static ConnectionSizes sizes(String settings) {
        return with(settings).adapter("default").sizes();
    }

    @Test
    void shouldReadEachKey() {
        assertFalse(with("enabled = false").enabled());
        assertTrue(with("pin = mlock").pins());
        assertRefused("pin = on", "pin", "off, mlock");
        assertEquals(8192, sizes("rdma.first-chunk = 8 KiB").rdma().firstChunkBytes());
        assertRefused("rdma.first-chunk = 1 KiB", "rdma.first-chunk", "4096");
        assertEquals(
                Optional.of("/opt/libfabric.so"),
                with("library = /opt/libfabric.so").library());
        assertEquals(8192, sizes("pool.message = 8 KiB").messageBytes());
        assertEquals(7, sizes("pool.packets = 7").packetCount());
        assertEquals(100_000, sizes("rdma.from = 100000").rdma().fromBytes());
        assertFalse(sizes("rdma.from = off").rdma().isOn());
        assertEquals(65_536, sizes("rdma.chunk = 64 KiB").rdma().chunkBytes());
        assertEquals(3, sizes("rdma.grants = 3").rdma().grants());
        assertEquals(5, sizes("rdma.headers = 5").rdma().headers());
        assertEquals(4096, sizes("registered.from = 4 KiB").registered().fromBytes());
        assertFalse(sizes("registered.from = off").registered().isOn());
        assertEquals(65_536, sizes("registered.from = 4 KiB").registered().pieceBytes());
        ConnectionSizes medium = sizes("registered { from = 4 KiB, message = 8 KiB, window = 5 }");
        assertEquals(8192, medium.registered().pieceBytes());
        assertEquals(5, medium.registered().window());
        assertEquals(0, sizes("rdma.keep = off").rdma().keptBytes());
        assertEquals(1 << 20, sizes("rdma.keep = 1 MiB").rdma().keptBytes());
        assertEquals(9, sizes("rdma.keep-count = 9").rdma().keptCount());
        assertFalse(sizes("rdma.keep-count = 9").rdma().trustsNative());
        assertTrue(sizes("rdma.trust-native = on").rdma().trustsNative());
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
        assertRefused("registered.from = 16 KiB", "registered.from", "less than madeleine.tm.via.rdma.from");
        assertRefused("registered { from = 4 KiB, window = 1 }", "registered.window", "2 to 64");
        assertRefused("registered { from = 4 KiB, message = 1 KiB }", "registered.message", "4096");
        assertRefused("registered.window = 1", "registered.window", "2 to 64"); // though the module is off
        assertRefused("registered { from = off, message = 1 KiB }", "registered.message", "4096");
        assertRefused("rdma.chunk = 1", "rdma.chunk");
        assertRefused("rdma.grants = 33", "rdma.grants", "1 to 32");
    }

    @Test
    void shouldNameTheWordsThatAKeyAcceptsBesidesSizes() {
        assertRefused("rdma.from = banana", "rdma.from is banana", "accepted is auto, off, or a size from 1 B to");
        assertRefused("rdma.from = 0", "rdma.from is 0", "accepted is auto, off, or a size from 1 B to");
        assertRefused("registered.from = banana", "registered.from", "accepted is auto, off, or a size from 1 B to");
        assertRefused("registered.from = 16 KiB", "registered.from", "accepted is auto, off, or less than");
        assertRefused("pool.message = banana", "pool.message", "accepted is auto, or a size from 4096 B to 1048576 B");
        assertRefused("rdma.keep = banana", "rdma.keep", "accepted is off, or a size from 0 B to");
    }
}
