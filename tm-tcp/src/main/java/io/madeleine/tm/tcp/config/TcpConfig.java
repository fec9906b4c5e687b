package io.madeleine.tm.tcp.config;

import com.typesafe.config.Config;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.handshake.HandshakeLimits;
import io.madeleine.pmm.spi.ConfigReader;
import io.madeleine.pmm.spi.SocketAdapterConfig;
import io.madeleine.pmm.tls.PemFiles;
import io.madeleine.tm.tcp.io.StreamBuffers;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The configuration of the TCP protocol module, {@code madeleine.tm.tcp}. The module's {@code reference.conf}
 * describes each key.
 *
 * <p>Threading: immutable.
 *
 * @param enabled whether the protocol is offered
 * @param io the I/O transport: {@code nio}, {@code epoll}, {@code io_uring} or {@code auto}
 * @param adapters the listening sockets by name, the default one first
 * @param stream the transmission module {@code tcp/stream}
 * @param socket socket options
 * @param tls whether connections are encrypted, and with which certificate
 * @param handshake limits of the handshake
 * @param coalesceNs the longest time that a small message of a dense stream is held back, 0 for not at all
 * @param closeLingerNs the longest time that closing an adapter waits for its peers
 * @param peerTimeoutNs the time without a sign of life after which a host counts as lost, {@code
 *     madeleine.peer-timeout}
 */
public record TcpConfig(
        boolean enabled,
        String io,
        Map<String, SocketAdapterConfig> adapters,
        StreamConfig stream,
        SocketConfig socket,
        TlsConfig tls,
        HandshakeLimits handshake,
        long coalesceNs,
        long closeLingerNs,
        long peerTimeoutNs) {
    public static final String PATH = "madeleine.tm.tcp";
    public static final String AUTO = "auto";
    private static final List<String> TLS = List.of("jdk", "boringssl", AUTO);
    private static final List<String> IO = List.of("nio", "epoll", "io_uring", AUTO);
    private static final long COALESCE_MOST_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final int GIB = 1024 * MIB;

    /** Copies the map and keeps its order. */
    public TcpConfig {
        adapters = Collections.unmodifiableMap(new LinkedHashMap<>(adapters));
    }

    /**
     * The transmission module {@code tcp/stream}.
     *
     * @param bufferBytes the size of one buffer of {@link StreamBuffers}: the most that one read brings in, and the
     *     room where small blocks are gathered before a write
     * @param inPlaceFromBytes the size from which native blocks are not copied
     */
    public record StreamConfig(int bufferBytes, int inPlaceFromBytes) {}

    /**
     * Socket options.
     *
     * @param noDelay whether small segments leave at once (TCP_NODELAY)
     * @param sendBufferBytes the kernel's send buffer, 0 for the system's choice, {@link #AUTO_BYTES} for a choice by
     *     the peer's location
     * @param receiveBufferBytes the kernel's receive buffer, 0 for the system's choice, {@link #AUTO_BYTES} for a
     *     choice by the peer's location
     * @param backlogCount how many connections may wait to be accepted
     */
    public record SocketConfig(boolean noDelay, int sendBufferBytes, int receiveBufferBytes, int backlogCount) {
        /** A fixed size between processes of one host, and the system's choice between hosts. */
        public static final int AUTO_BYTES = -1;
    }

    /**
     * TLS with certificates at both ends.
     *
     * @param enabled whether connections are encrypted
     * @param engine the implementation: {@code jdk}, {@code boringssl} or {@code auto}
     * @param files this process's certificate and key, and the issuers that it trusts
     */
    public record TlsConfig(boolean enabled, String engine, PemFiles files) {}

    /**
     * Reads {@code madeleine.tm.tcp} from a root configuration that includes the reference configuration.
     *
     * @throws ConfigurationException if a key is unknown or a value is invalid
     */
    public static TcpConfig from(Config root) {
        ConfigReader tcp = new ConfigReader(root, PATH);
        tcp.onlyKeys(
                "enabled",
                "guice-module",
                "providers",
                "io",
                "adapters",
                "stream",
                "no-delay",
                "send-buffer",
                "receive-buffer",
                "backlog",
                "tls",
                "handshake",
                "coalesce-time",
                "close-linger");
        ConfigReader stream = tcp.at("stream");
        stream.onlyKeys("buffer", "in-place-from");
        ConfigReader tls = tcp.at("tls");
        tls.onlyKeys("enabled", "engine", "certificate", "private-key", "trusted");
        ConfigReader handshake = tcp.at("handshake");
        handshake.onlyKeys("timeout", "max-unauthenticated", "max-wait");
        return new TcpConfig(
                tcp.bool("enabled"),
                tcp.oneOf("io", IO),
                SocketAdapterConfig.readAll(tcp.at("adapters")),
                new StreamConfig(
                        stream.bytes("buffer", 4 * KIB, 16 * MIB), stream.bytes("in-place-from", 256, 16 * MIB)),
                new SocketConfig(
                        tcp.bool("no-delay"),
                        bytesOrChoice(tcp, "send-buffer"),
                        bytesOrChoice(tcp, "receive-buffer"),
                        tcp.integer("backlog", 1, 65_535)),
                new TlsConfig(
                        tls.bool("enabled"),
                        tls.oneOf("engine", TLS),
                        new PemFiles(tls.text("certificate"), tls.text("private-key"), tls.text("trusted"))),
                new HandshakeLimits(
                        durationNs(handshake, "timeout"),
                        handshake.integer("max-unauthenticated", 1, 65_535),
                        durationNs(handshake, "max-wait"),
                        PATH + ".handshake"),
                tcp.durationNs("coalesce-time", 0, COALESCE_MOST_NS, "a duration up to 10ms, as in \"20us\", or 0s"),
                durationNs(tcp, "close-linger"),
                tcp.peerTimeoutNs());
    }

    private static int bytesOrChoice(ConfigReader tcp, String key) {
        if (tcp.is(key, AUTO)) {
            return SocketConfig.AUTO_BYTES;
        }
        String accepted = "auto, system, or a size from 1 KiB to 1 GiB, as in \"64 KiB\"";
        return tcp.is(key, "system") ? 0 : (int) tcp.bytes(key, KIB, GIB, accepted);
    }

    private static long durationNs(ConfigReader reader, String key) {
        return reader.durationNs(
                key,
                TimeUnit.MILLISECONDS.toNanos(1),
                TimeUnit.HOURS.toNanos(1),
                "a duration from 1ms to 1h, as in \"10s\"");
    }
}
