package io.madeleine.tm.bip;

import com.typesafe.config.Config;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.handshake.HandshakeLimits;
import io.madeleine.pmm.spi.ConfigReader;
import io.madeleine.pmm.spi.SocketAdapterConfig;
import io.madeleine.pmm.tls.PemFiles;
import io.madeleine.pmm.tls.TlsFailures;
import io.madeleine.tm.bip.io.Faults;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import io.madeleine.tm.bip.protocol.EndpointSettings;
import io.madeleine.tm.bip.protocol.GrantScheduler;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The configuration of the BIP protocol module, {@code madeleine.tm.bip}. The module's {@code reference.conf} describes
 * each key.
 *
 * <p>Threading: immutable.
 *
 * @param enabled whether the protocol is offered
 * @param adapters the sockets by name, the default one first
 * @param shortMaxBlockBytes the largest block that bip/short takes
 * @param shortBufferBytes the size of a static buffer of bip/short
 * @param sendBufferBytes the socket's send buffer, 0 for that of the system
 * @param receiveBufferBytes the socket's receive buffer, 0 for that of the system
 * @param offload whether many datagrams travel by one system call
 * @param coalesceNs how long a small message of a dense stream may be held back, 0 for not at all
 * @param rebinding whether a peer may change its address
 * @param endpoint the bounds and times of a connection
 * @param grants which sender of a long message is granted more first
 * @param tls the files of the certificates, with encryption
 * @param handshake limits of the handshake
 * @param faults the faults to inject, for tests
 */
@SuppressWarnings("exports") // a program on the module path has BipGuiceModule make it
public record BipConfig(
        boolean enabled,
        Map<String, SocketAdapterConfig> adapters,
        int shortMaxBlockBytes,
        int shortBufferBytes,
        int sendBufferBytes,
        int receiveBufferBytes,
        Offload offload,
        long coalesceNs,
        boolean rebinding,
        EndpointSettings endpoint,
        GrantScheduler.Order grants,
        PemFiles tls,
        HandshakeLimits handshake,
        Faults faults) {
    static final String PATH = "madeleine.tm.bip";
    static final String ENCRYPTION = PATH + ".encryption";
    static final String ENCRYPTION_ON = ENCRYPTION + " = aes-gcm";
    static final String TLS_KEYS = PATH + ".tls.";
    static final TlsFailures TLS_FAILURES = new TlsFailures(TLS_KEYS);
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final int GIB = 1024 * MIB;
    private static final int MOST_SHORT_BYTES = 8 * KIB;

    /** Copies the map and keeps its order. */
    public BipConfig {
        adapters = Collections.unmodifiableMap(new LinkedHashMap<>(adapters));
    }

    /**
     * Reads {@code madeleine.tm.bip} from a root configuration that includes the reference configuration.
     *
     * @throws ConfigurationException if a key is unknown or a value is invalid
     */
    public static BipConfig from(Config root) {
        ConfigReader bip = new ConfigReader(root, PATH);
        bip.onlyKeys(
                "enabled",
                "guice-module",
                "providers",
                "adapters",
                "short",
                "long",
                "max-datagram",
                "ack-delay",
                "coalesce-time",
                "send-buffer",
                "receive-buffer",
                "offload",
                "rebinding",
                "encryption",
                "tls",
                "handshake",
                "close-linger",
                "faults");
        ConfigReader small = bip.at("short");
        small.onlyKeys("max-block", "buffer", "window");
        ConfigReader large = bip.at("long");
        large.onlyKeys("window", "grants");
        ConfigReader tls = bip.at("tls");
        tls.onlyKeys("certificate", "private-key", "trusted");
        ConfigReader handshake = bip.at("handshake");
        handshake.onlyKeys("timeout", "max-unauthenticated", "max-wait");
        int bufferBytes = small.bytes("buffer", 256, MOST_SHORT_BYTES);
        int maxBlockBytes = small.bytes("max-block", 0, MOST_SHORT_BYTES);
        small.require("max-block", maxBlockBytes <= bufferBytes, "at most short.buffer, " + bufferBytes + " B");
        return new BipConfig(
                bip.bool("enabled"),
                SocketAdapterConfig.readAll(bip.at("adapters")),
                maxBlockBytes,
                bufferBytes,
                bytesOrSystem(bip, "send-buffer"),
                bytesOrSystem(bip, "receive-buffer"),
                Offload.valueOf(
                        bip.oneOf("offload", List.of("auto", "on", "off")).toUpperCase(Locale.ROOT)),
                bip.durationNs(
                        "coalesce-time",
                        0,
                        TimeUnit.MILLISECONDS.toNanos(10),
                        "a duration up to 10ms, as in \"20us\", or 0s"),
                bip.bool("rebinding"),
                new EndpointSettings(
                        window(small, 16 * KIB),
                        window(large, 64 * KIB),
                        bip.bytes(
                                "max-datagram", DatagramLayout.SAFE_DATAGRAM_BYTES, DatagramLayout.MAX_DATAGRAM_BYTES),
                        bip.durationNs(
                                "ack-delay", 0, TimeUnit.MILLISECONDS.toNanos(100), "a duration up to 100ms, or 0s"),
                        bip.peerTimeoutNs(),
                        durationNs(bip, "close-linger"),
                        bip.oneOf("encryption", List.of("off", "aes-gcm")).equals("aes-gcm")),
                GrantScheduler.Order.valueOf(
                        large.oneOf("grants", List.of("shortest", "fair")).toUpperCase(Locale.ROOT)),
                new PemFiles(tls.text("certificate"), tls.text("private-key"), tls.text("trusted")),
                new HandshakeLimits(
                        durationNs(handshake, "timeout"),
                        handshake.integer("max-unauthenticated", 1, 65_535),
                        durationNs(handshake, "max-wait"),
                        PATH + ".handshake"),
                FaultsConfig.from(bip.at("faults")));
    }

    /** The reason why two processes of which one encrypts have no connection. */
    static String disagreement(boolean encrypts) {
        return (encrypts
                        ? ENCRYPTION_ON + " in this process, and the peer does not encrypt"
                        : ENCRYPTION + " = off in this process, and the peer encrypts")
                + "; set " + ENCRYPTION + " alike in all processes";
    }

    private static int window(ConfigReader reader, int least) {
        int bytes = reader.bytes("window", least, 64 * MIB);
        reader.require("window", Integer.bitCount(bytes) == 1, "a power of two from " + least + " B to 64 MiB");
        return bytes;
    }

    private static int bytesOrSystem(ConfigReader bip, String key) {
        String accepted = "system, or a size from 4 KiB to 1 GiB, as in \"64 KiB\"";
        return bip.is(key, "system") ? 0 : (int) bip.bytes(key, 4 * KIB, GIB, accepted);
    }

    private static long durationNs(ConfigReader reader, String key) {
        return reader.durationNs(
                key,
                TimeUnit.MILLISECONDS.toNanos(1),
                TimeUnit.HOURS.toNanos(1),
                "a duration from 1ms to 1h, as in \"10s\"");
    }
}
