package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.inject.Guice;
import com.google.inject.Key;
import com.google.inject.TypeLiteral;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.handshake.HandshakeLimits;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.SocketAdapterConfig;
import io.madeleine.pmm.tls.PemFiles;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.tls.TlsIdentity;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TcpConfigTest {
    private static TcpConfig read(String... settings) {
        return TcpConfig.from(Pair.plainConfig(settings));
    }

    @Test
    void shouldHaveTheDefaultsThatTheReferenceExplains() {
        TcpConfig expected = new TcpConfig(
                true,
                "nio",
                Map.of("default", new SocketAdapterConfig("127.0.0.1", 0, "auto")),
                new TcpConfig.StreamConfig(512 * 1024, 256 * 1024),
                new TcpConfig.SocketConfig(
                        true, TcpConfig.SocketConfig.AUTO_BYTES, TcpConfig.SocketConfig.AUTO_BYTES, 1024),
                new TcpConfig.TlsConfig(false, "auto", new PemFiles("", "", "")),
                new HandshakeLimits(
                        TimeUnit.SECONDS.toNanos(10), 256, TimeUnit.SECONDS.toNanos(60), "madeleine.tm.tcp.handshake"),
                20_000,
                TimeUnit.SECONDS.toNanos(1),
                TimeUnit.SECONDS.toNanos(30));
        assertEquals(expected, read());
        assertEquals(
                "io.madeleine.tm.tcp.TcpGuiceModule", Pair.plainConfig().getString("madeleine.tm.tcp.guice-module"));
    }

    @Test
    void shouldLeaveTheKernelsBuffersToTheSystemWhereToldSo() {
        assertEquals(
                new TcpConfig.SocketConfig(true, 0, 0, 1024),
                read("madeleine.tm.tcp { send-buffer = system, receive-buffer = system }")
                        .socket());
    }

    @Test
    void shouldMapEachKey() {
        TcpConfig config = read("""
                madeleine.peer-timeout = 7s
                madeleine.tm.tcp {
                  enabled = false, io = auto
                  adapters { fast { bind = "10.0.0.1", port = 4711, advertise = node7 }, back { port = 5 } }
                  stream { buffer = 16 KiB, in-place-from = 4 KiB }
                  tls { enabled = true, certificate = c.pem, private-key = k.pem, trusted = t.pem }
                  no-delay = false, send-buffer = 1 MiB, receive-buffer = 2 MiB, backlog = 7
                  handshake { timeout = 3s, max-unauthenticated = 9, max-wait = 5s }
                  coalesce-time = 50us
                  close-linger = 20ms
                }""");
        assertEquals(false, config.enabled());
        assertEquals(50_000, config.coalesceNs());
        assertEquals(TimeUnit.SECONDS.toNanos(7), config.peerTimeoutNs());
        assertEquals("auto", config.io());
        assertEquals(
                List.of("default", "back", "fast"),
                List.copyOf(config.adapters().keySet()));
        assertEquals(
                new SocketAdapterConfig("10.0.0.1", 4711, "node7"),
                config.adapters().get("fast"));
        assertEquals(
                new SocketAdapterConfig("127.0.0.1", 5, "auto"),
                config.adapters().get("back"));
        assertEquals(new TcpConfig.StreamConfig(16_384, 4096), config.stream());
        assertEquals(new TcpConfig.SocketConfig(false, 1 << 20, 2 << 20, 7), config.socket());
        assertEquals(new TcpConfig.TlsConfig(true, "auto", new PemFiles("c.pem", "k.pem", "t.pem")), config.tls());
        assertEquals(
                new HandshakeLimits(
                        TimeUnit.SECONDS.toNanos(3), 9, TimeUnit.SECONDS.toNanos(5), "madeleine.tm.tcp.handshake"),
                config.handshake());
        assertEquals(TimeUnit.MILLISECONDS.toNanos(20), config.closeLingerNs());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "io = fast | madeleine.tm.tcp.io is fast | nio, epoll, io_uring, auto",
                "backlog = 0 | madeleine.tm.tcp.backlog is 0 | from 1 to 65535",
                "backlog = 1.5 | madeleine.tm.tcp.backlog is 1.5 | whole number",
                "close-linger = 200 | close-linger is 200 without a unit | as in \"10s\"",
                "handshake.timeout = \"3000\" | handshake.timeout is 3000 without a unit | as in \"10s\"",
                "coalesce-time = 1 | coalesce-time is 1 without a unit | as in \"20us\"",
                "no-dely = true | unknown key madeleine.tm.tcp.no-dely | did you mean no-delay?",
                "backlog = many | madeleine.tm.tcp.backlog is many | whole number",
                "enabled = perhaps | madeleine.tm.tcp.enabled is perhaps | true or false",
                "stream.buffer = 1 KiB | stream.buffer is 1 KiB | from 4096 B",
                "stream.in-place-from = 32 MiB | stream.in-place-from is 32 MiB | to 16777216 B",
                "close-linger = long | close-linger is long | as in \"10s\"",
                "send-buffer = big | send-buffer is big | as in \"64 KiB\"",
                "receive-buffer = 0 | receive-buffer is 0 | accepted is auto, system, or a size from 1 KiB to 1 GiB",
                "adapters.default.port = 70000 | adapters.default.port is 70000 | from 0 to 65535",
                "adapters.default.bind = \"\" | adapters.default.bind is an empty text | host name",
                "adapters.default.bind = \"300.1.1.1\" | adapters.default.bind is 300.1.1.1 | as 127.0.0.1 or ::1",
                "adapters.a.advertise = \"::g\" | adapters.a.advertise is ::g | or a host name",
                "no-dely = true | unknown key madeleine.tm.tcp.no-dely | known are enabled",
                "adapters.a.bnd = x | unknown key madeleine.tm.tcp.adapters.a.bnd | known are bind",
                "handshake.time = 1s | unknown key madeleine.tm.tcp.handshake.time | known are timeout",
                "tls.cert = x | unknown key madeleine.tm.tcp.tls.cert | known are enabled, engine, certificate",
                "tls.enabled = 3 | madeleine.tm.tcp.tls.enabled is 3 | true or false",
                "adapters = 5 | madeleine.tm.tcp.adapters has to be an object | object",
            })
    void shouldRefuseWrongValuesAndUnknownKeysNamingKeyPlaceAndWhatIsAccepted(
            String setting, String what, String accepted) {
        ConfigurationException refusal =
                assertThrows(ConfigurationException.class, () -> read("madeleine.tm.tcp." + setting));
        String message = refusal.getMessage();
        assertTrue(message.contains(what), message);
        assertTrue(message.contains(accepted), message);
        assertTrue(message.contains("String: 1"), () -> "the place is missing: " + message);
    }

    @ParameterizedTest
    @CsvSource({"30, 10, 5, 4", "3, 1, 1, 2", "2, 1, 1, 1", "1, 1, 1, 1", "600, 200, 100, 4", "3600000, 10922, 5461, 4"
    })
    void shouldAskForSignsOfLifeWithinTheTimeout(long timeoutS, int idleS, int intervalS, int count) {
        KeepAlive asks = KeepAlive.of(TimeUnit.SECONDS.toNanos(timeoutS));
        assertEquals(new KeepAlive(idleS, intervalS, count), asks);
    }

    @Test
    void shouldBindTheModuleUnderItsName() {
        Map<String, ProtocolModule> modules = Guice.createInjector(new TcpGuiceModule(Pair.plainConfig()))
                .getInstance(Key.get(new TypeLiteral<Map<String, ProtocolModule>>() {}));
        assertEquals(1, modules.size());
        ProtocolModule module = assertInstanceOf(TcpPmm.class, modules.get("tcp"));
        assertEquals("tcp", module.name());
        assertTrue(module.availability().on(), module.availability().reason());
        assertEquals(List.of("default"), module.adapterNames());
        assertEquals("tcp/stream", module.transmissionModules().getFirst().id());
    }

    @Test
    void shouldSayWhyItIsOffWhenSwitchedOff() {
        var availability = new TcpPmm(read("madeleine.tm.tcp.enabled = false")).availability();
        assertEquals(false, availability.on());
        assertTrue(availability.reason().contains("madeleine.tm.tcp.enabled"), availability.reason());
    }

    @Test
    void shouldFindOnExaminationThatTheFilesOfTlsCannotBeUsed() {
        for (String files : List.of("certificate = \"\"", "certificate = /nowhere/a.pem")) {
            TcpConfig config = read("madeleine.tm.tcp.tls { enabled = true, engine = jdk, " + files + " }");
            String refusal = assertThrows(ConfigurationException.class, () -> TlsIdentity.load(config.tls(), 1))
                    .getMessage();
            assertEquals(Availability.off(refusal), new TcpPmm(config).examine());
        }
        TcpConfig plain = read("madeleine.tm.tcp.tls.certificate = /nowhere/a.pem");
        assertTrue(new TcpPmm(plain).examine().on(), "without TLS the files do not matter");
    }
}
