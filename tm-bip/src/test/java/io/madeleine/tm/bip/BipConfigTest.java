package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.SocketAdapterConfig;
import io.madeleine.pmm.tls.PemFiles;
import io.madeleine.tm.bip.io.Faults;
import io.madeleine.tm.bip.protocol.GrantScheduler;
import io.madeleine.tm.bip.tls.TlsIdentity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BipConfigTest {
    private static BipConfig with(String text) {
        return BipConfig.from(BipSide.config(text));
    }

    @Test
    void shouldHaveTheDefaultsOfTheReferenceConfiguration() {
        BipConfig config = with("");
        assertTrue(config.enabled());
        assertEquals(Map.of("default", new SocketAdapterConfig("127.0.0.1", 0, "auto")), config.adapters());
        assertEquals(1024, config.shortMaxBlockBytes());
        assertEquals(8192, config.shortBufferBytes());
        assertEquals(65_536, config.endpoint().shortWindowBytes());
        assertEquals(524_288, config.endpoint().longWindowBytes());
        assertEquals(65_464, config.endpoint().maxDatagramBytes());
        assertEquals(1_000_000, config.endpoint().ackDelayNs());
        assertEquals(30_000_000_000L, config.endpoint().peerTimeoutNs());
        assertEquals(10_000_000_000L, config.endpoint().lingerNs());
        assertEquals(GrantScheduler.Order.SHORTEST, config.grants());
        assertEquals(0, config.sendBufferBytes());
        assertEquals(4 << 20, config.receiveBufferBytes());
        assertEquals(Offload.AUTO, config.offload());
        assertFalse(config.rebinding());
        assertFalse(config.endpoint().encrypts());
        assertFalse(config.faults().any());
    }

    @ParameterizedTest
    @ValueSource(strings = {"nohost", "10.0.0.2", "10.0.0.2:99999", "10.0.0.2:0", "node7:4711", ":4711", "1"})
    void shouldRefuseFaultsOfAPeerThatNoAddressMatches(String name) {
        ConfigurationException refused = assertThrows(
                ConfigurationException.class,
                () -> with("madeleine.tm.bip.faults.peers.\"" + name + "\".send.loss = 0.1"));
        assertTrue(refused.getMessage().contains("the address and port of the peer's socket"), refused.getMessage());
        assertTrue(refused.getMessage().contains("madeleine.tm.bip.faults.peers"), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"fd77::1:4711", "[fd77::1]:4711", "fd77:0:0:0:0:0:0:1:4711"})
    void shouldKnowAPeerByAnyFormOfItsAddress(String name) {
        Faults faults = with("madeleine.tm.bip.faults.peers.\"" + name + "\".send.loss = 0.1")
                .faults();
        assertEquals(
                List.of("fd77:0:0:0:0:0:0:1:4711"), List.copyOf(faults.peers().keySet()));
    }

    @Test
    void shouldRefuseACutThatDoesNotSayHowLongItLasts() {
        ConfigurationException refused =
                assertThrows(ConfigurationException.class, () -> with("madeleine.tm.bip.faults.send.cut-after = 5s"));
        assertTrue(refused.getMessage().contains("cut-for"), refused.getMessage());
    }

    @Test
    void shouldLeaveProvidersToTools() {
        assertTrue(
                with("madeleine.tm.bip.providers.patient.coalesce-time = 5ms").enabled());
    }

    @Test
    void shouldReadEachKey() {
        BipConfig config = with("""
                madeleine.peer-timeout = 7s
                madeleine.tm.bip {
                  adapters { a { bind = "0.0.0.0", port = 4711, advertise = "10.0.0.1" } }
                  short { max-block = 2 KiB, buffer = 4 KiB, window = 32 KiB }
                  long { window = 1 MiB, grants = fair }
                  max-datagram = 1400 B
                  ack-delay = 2ms
                  send-buffer = 1 MiB
                  receive-buffer = system
                  close-linger = 2s
                  offload = off
                  rebinding = true
                  encryption = aes-gcm
                  tls { certificate = c.pem, private-key = k.pem, trusted = t.pem }
                  faults { seed = 3, send.loss = 0.25, receive { cut-after = 1s, cut-for = 5s }
                    peers."10.0.0.2:4711".send { reordering = 0.5, reorder-by = 64, delay = 1ms, jitter = 2ms } }
                }
                """);
        assertEquals(
                new SocketAdapterConfig("0.0.0.0", 4711, "10.0.0.1"),
                config.adapters().get("a"));
        assertEquals(Offload.OFF, config.offload());
        assertEquals(List.of("default", "a"), List.copyOf(config.adapters().keySet()));
        assertEquals(2048, config.shortMaxBlockBytes());
        assertEquals(4096, config.shortBufferBytes());
        assertEquals(32_768, config.endpoint().shortWindowBytes());
        assertEquals(1 << 20, config.endpoint().longWindowBytes());
        assertEquals(GrantScheduler.Order.FAIR, config.grants());
        assertEquals(1400, config.endpoint().maxDatagramBytes());
        assertEquals(2_000_000, config.endpoint().ackDelayNs());
        assertEquals(7_000_000_000L, config.endpoint().peerTimeoutNs());
        assertEquals(2_000_000_000L, config.endpoint().lingerNs());
        assertEquals(1 << 20, config.sendBufferBytes());
        assertEquals(0, config.receiveBufferBytes());
        assertTrue(config.rebinding());
        assertTrue(config.endpoint().encrypts());
        assertEquals(new PemFiles("c.pem", "k.pem", "t.pem"), config.tls());
        Faults faults = config.faults();
        assertTrue(faults.any());
        assertEquals(3, faults.seed());
        assertEquals(0.25, faults.send().loss());
        assertEquals(1_000_000_000L, faults.receive().cutAfterNs());
        assertEquals(5_000_000_000L, faults.receive().cutForNs());
        Faults.Direction own = faults.peers().get("10.0.0.2:4711").send();
        assertEquals(0.5, own.reordering());
        assertEquals(64, own.reorderBy());
        assertEquals(1_000_000, own.delayNs());
        assertEquals(2_000_000, own.jitterNs());
    }

    @Test
    void shouldNameTheKeyAndWhatItAccepts() {
        Map.of(
                        "short.max-block = 16 KiB", "short.max-block",
                        "short.window = 20 KiB", "power of two",
                        "short { max-block = 2 KiB, buffer = 1 KiB }", "at most short.buffer",
                        "max-datagram = 500 B", "max-datagram",
                        "long.grants = random", "long.grants",
                        "ack-delay = 1s", "ack-delay",
                        "encryption = on", "encryption",
                        "faults.send.loss = 2", "a share from 0 to 1",
                        "faults.send.los = 0.1", "did you mean",
                        "adapters.default.port = 99999", "port")
                .forEach((text, expected) -> {
                    String found = assertThrows(
                                    ConfigurationException.class, () -> with("madeleine.tm.bip { " + text + " }"))
                            .getMessage();
                    assertTrue(found.contains(expected), found);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"send-buffer", "receive-buffer"})
    void shouldNameAllThatABufferAccepts(String key) {
        String found = assertThrows(ConfigurationException.class, () -> with("madeleine.tm.bip." + key + " = 1 B"))
                .getMessage();
        assertTrue(found.contains(key + " is 1 B"), found);
        assertTrue(found.contains("accepted is system, or a size from 4 KiB to 1 GiB"), found);
    }

    @Test
    void shouldSayThatAnAddressIsNotOfThisHost() {
        String elsewhere = new BipPmm(with("madeleine.tm.bip.adapters.default.bind = 203.0.113.1"))
                .availability()
                .details()
                .getFirst();
        assertTrue(elsewhere.contains("203.0.113.1, which is no address of this host"), elsewhere);
        for (String here : List.of("127.0.0.1", "0.0.0.0", "\"::1\"", "localhost", "no-such-name.invalid")) {
            String text = new BipPmm(with("madeleine.tm.bip.adapters.default.bind = " + here))
                    .availability()
                    .details()
                    .getFirst();
            assertFalse(text.contains("no address"), text);
        }
    }

    @Test
    void shouldFindOnExaminationThatTheFilesOfTlsCannotBeUsed() {
        for (String files : List.of("certificate = \"\"", "certificate = /nowhere/a.pem")) {
            BipConfig config = with("madeleine.tm.bip { encryption = aes-gcm, tls { " + files + " } }");
            String refusal = assertThrows(
                            ConfigurationException.class,
                            () -> TlsIdentity.load(BipConfig.TLS_KEYS, BipConfig.ENCRYPTION_ON, config.tls()))
                    .getMessage();
            assertEquals(Availability.off(refusal), new BipPmm(config).examine());
        }
        assertTrue(new BipPmm(with("")).examine().on(), "without encryption there are no files");
    }
}
