package io.madeleine.tm.tcp;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigValue;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.handshake.HandshakeLimits;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * The configuration of the TCP family, {@code madeleine.tm.tcp}, as its {@code reference.conf} explains it.
 *
 * <p>Threading: immutable.
 *
 * @param enabled whether the family is offered
 * @param io how sockets are driven: {@code nio}, {@code epoll}, {@code io_uring} or {@code auto}
 * @param adapters what to listen on, by name; the default one first
 * @param stream the transmission module
 * @param socket options of the sockets
 * @param tls whether and as whom connections are encrypted
 * @param handshake limits of the handshake
 * @param coalesceNs how long a small message of a dense stream is kept back at most, 0 not at all
 * @param closeLingerNs how long closing an adapter may wait for its peers
 * @param peerTimeoutNs after how long without a sign a host counts as gone, {@code madeleine.peer-timeout}
 */
public record TcpConfig(
        boolean enabled,
        String io,
        Map<String, AdapterConfig> adapters,
        StreamConfig stream,
        SocketConfig socket,
        TlsConfig tls,
        HandshakeLimits handshake,
        long coalesceNs,
        long closeLingerNs,
        long peerTimeoutNs) {
    static final String PATH = "madeleine.tm.tcp";
    static final String AUTO = "auto";
    private static final String PEER_TIMEOUT = "madeleine.peer-timeout";
    private static final List<String> TLS = List.of("jdk", "boringssl", AUTO);
    private static final List<String> IO = List.of("nio", "epoll", "io_uring", AUTO);
    private static final long COALESCE_MOST_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;

    /** Copies the map, keeping its order. */
    public TcpConfig {
        adapters = Collections.unmodifiableMap(new LinkedHashMap<>(adapters));
    }

    /**
     * One adapter.
     *
     * @param bind the address or name to listen on
     * @param port the port, 0 for any
     * @param advertise what peers connect to, or {@code auto}
     */
    public record AdapterConfig(String bind, int port, String advertise) {}

    /**
     * The transmission module {@code tcp/stream}.
     *
     * @param bufferBytes the size of {@link StreamBuffers}: what one read can bring in, and where small blocks are put
     *     together
     * @param inPlaceFromBytes from which size on native blocks are not copied
     */
    public record StreamConfig(int bufferBytes, int inPlaceFromBytes) {}

    /**
     * Options of the sockets.
     *
     * @param noDelay whether small packets leave at once
     * @param sendBufferBytes the kernel's buffer, 0 for the system's choice, {@link #AUTO_BYTES} for ours
     * @param receiveBufferBytes the kernel's buffer, 0 for the system's choice
     * @param backlogCount how many connections may wait to be accepted
     */
    public record SocketConfig(boolean noDelay, int sendBufferBytes, int receiveBufferBytes, int backlogCount) {
        /** What is best between processes of a host, and the system's choice between hosts. */
        public static final int AUTO_BYTES = -1;
    }

    /**
     * TLS, with certificates at both ends.
     *
     * @param enabled whether connections are encrypted
     * @param engine by what: jdk, boringssl or auto
     * @param certificate the PEM file of this process's certificate, those that lead to a trusted one behind it
     * @param privateKey the PEM file of its key
     * @param trusted the PEM file of the certificates that sign those of peers
     */
    public record TlsConfig(boolean enabled, String engine, String certificate, String privateKey, String trusted) {}

    /**
     * Reads {@code madeleine.tm.tcp} of a root configuration that includes the reference configuration.
     *
     * @throws ConfigurationException if a key is unknown or a value wrong
     */
    public static TcpConfig from(Config root) {
        Reader tcp = new Reader(root, PATH);
        tcp.onlyKeys(
                "enabled",
                "guice-module",
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
        Reader stream = tcp.at("stream");
        stream.onlyKeys("buffer", "in-place-from");
        Reader tls = tcp.at("tls");
        tls.onlyKeys("enabled", "engine", "certificate", "private-key", "trusted");
        Reader handshake = tcp.at("handshake");
        handshake.onlyKeys("timeout", "max-unauthenticated", "max-wait");
        return new TcpConfig(
                tcp.bool("enabled"),
                tcp.oneOf("io", IO),
                adapters(tcp.at("adapters")),
                new StreamConfig(
                        stream.bytes("buffer", 4 * KIB, 16 * MIB), stream.bytes("in-place-from", 256, 16 * MIB)),
                new SocketConfig(
                        tcp.bool("no-delay"),
                        tcp.isAuto("send-buffer") ? SocketConfig.AUTO_BYTES : tcp.bytesOrSystem("send-buffer"),
                        tcp.bytesOrSystem("receive-buffer"),
                        tcp.integer("backlog", 1, 65_535)),
                new TlsConfig(
                        tls.bool("enabled"),
                        tls.oneOf("engine", TLS),
                        tls.file("certificate"),
                        tls.file("private-key"),
                        tls.file("trusted")),
                new HandshakeLimits(
                        handshake.duration("timeout"),
                        handshake.integer("max-unauthenticated", 1, 65_535),
                        handshake.duration("max-wait"),
                        PATH + ".handshake"),
                tcp.duration("coalesce-time", 0, "a duration up to 10ms, as in \"20us\", or 0s", COALESCE_MOST_NS),
                tcp.duration("close-linger"),
                peerTimeoutNs(root));
    }

    /** The session's key, which the session's own configuration checks; without a session it need not be there. */
    private static long peerTimeoutNs(Config root) {
        return root.hasPath(PEER_TIMEOUT)
                ? root.getDuration(PEER_TIMEOUT, TimeUnit.NANOSECONDS)
                : TimeUnit.SECONDS.toNanos(30);
    }

    private static Map<String, AdapterConfig> adapters(Reader adapters) {
        Set<String> names = new TreeSet<>(adapters.keys());
        if (names.isEmpty()) {
            throw adapters.wrong("", "no adapter", "at least one, as in adapters { default { bind = \"127.0.0.1\" } }");
        }
        Map<String, AdapterConfig> found = new LinkedHashMap<>();
        if (names.remove("default")) {
            found.put("default", adapter(adapters.at("default")));
        }
        names.forEach(name -> found.put(name, adapter(adapters.at(name))));
        return found;
    }

    private static AdapterConfig adapter(Reader adapter) {
        adapter.onlyKeys("bind", "port", "advertise");
        return new AdapterConfig(
                adapter.text("bind", "127.0.0.1"),
                adapter.has("port") ? adapter.integer("port", 0, 65_535) : 0,
                adapter.text("advertise", AUTO));
    }

    /** Reads one object, and knows where it stands for the sake of the errors. */
    private record Reader(Config root, String path) {
        Reader at(String key) {
            Reader inner = new Reader(root, path + "." + quoted(key));
            inner.keys();
            return inner;
        }

        private static String quoted(String key) {
            return com.typesafe.config.ConfigUtil.joinPath(key);
        }

        Set<String> keys() {
            try {
                return root.getObject(path).keySet();
            } catch (ConfigException e) {
                throw new ConfigurationException(path + " has to be an object: " + e.getMessage(), e);
            }
        }

        void onlyKeys(String... known) {
            for (String key : keys()) {
                if (!List.of(known).contains(key)) {
                    throw new ConfigurationException("unknown key " + path + "." + quoted(key) + " (" + origin(key)
                            + "); known are " + String.join(", ", known));
                }
            }
        }

        boolean has(String key) {
            return root.hasPath(path + "." + key);
        }

        boolean bool(String key) {
            return read(key, "true or false", () -> root.getBoolean(path + "." + key));
        }

        String text(String key, String absent) {
            String value = has(key) ? read(key, "a text", () -> root.getString(path + "." + key)) : absent;
            if (value.isBlank()) {
                throw wrong(key, "an empty text", "an address or a host name");
            }
            return value.strip();
        }

        /** A file's name, or empty. */
        String file(String key) {
            return read(key, "a file's name", () -> root.getString(path + "." + key))
                    .strip();
        }

        String oneOf(String key, List<String> accepted) {
            String value =
                    read(key, "a text", () -> root.getString(path + "." + key)).toLowerCase(Locale.ROOT);
            if (!accepted.contains(value)) {
                throw wrong(key, value, "one of " + String.join(", ", accepted));
            }
            return value;
        }

        int integer(String key, int least, int most) {
            String accepted = "a whole number from " + least + " to " + most;
            return (int) within(key, read(key, accepted, () -> root.getLong(path + "." + key)), least, most, accepted);
        }

        int bytes(String key, int least, int most) {
            String accepted = "a size from " + least + " B to " + most + " B, as in \"64 KiB\"";
            return (int) within(key, read(key, accepted, () -> root.getBytes(path + "." + key)), least, most, accepted);
        }

        boolean isAuto(String key) {
            return has(key) && AUTO.equals(root.getValue(path + "." + key).unwrapped());
        }

        int bytesOrSystem(String key) {
            boolean system = "system".equals(read(key, "a size or system", () -> root.getString(path + "." + key)));
            return system ? 0 : bytes(key, KIB, 1 << 30);
        }

        long duration(String key) {
            return duration(
                    key,
                    TimeUnit.MILLISECONDS.toNanos(1),
                    "a duration from 1ms to 1h, as in \"10s\"",
                    TimeUnit.HOURS.toNanos(1));
        }

        long duration(String key, long least, String accepted, long most) {
            long ns = read(key, accepted, () -> root.getDuration(path + "." + key, TimeUnit.NANOSECONDS));
            return within(key, ns, least, most, accepted);
        }

        private long within(String key, long value, long least, long most, String accepted) {
            if (value < least || value > most) {
                throw wrong(key, String.valueOf(root.getValue(path + "." + key).unwrapped()), accepted);
            }
            return value;
        }

        private <T> T read(String key, String accepted, java.util.function.Supplier<T> read) {
            try {
                return read.get();
            } catch (ConfigException.Missing e) {
                throw new ConfigurationException(
                        path + "." + key + " is missing; is reference.conf of tm-tcp on the path? Accepted: "
                                + accepted,
                        e);
            } catch (ConfigException e) {
                throw wrong(key, String.valueOf(root.getValue(path + "." + key).unwrapped()), accepted);
            }
        }

        ConfigurationException wrong(String key, String found, String accepted) {
            String at = key.isEmpty() ? path : path + "." + key;
            return new ConfigurationException(at + " is " + found + " (" + origin(key) + "); accepted is " + accepted);
        }

        private String origin(String key) {
            ConfigValue value =
                    key.isEmpty() ? root.getObject(path) : root.getObject(path).get(key);
            return value == null ? "absent" : value.origin().description();
        }
    }
}
