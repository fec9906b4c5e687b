package io.madeleine.pmm.spi;

import java.net.InetAddress;
import java.net.SocketException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The configuration of an adapter that has a socket.
 *
 * <p>Threading: immutable.
 *
 * @param bind the address or host name to bind to
 * @param port the port to bind to; 0 takes a free one
 * @param advertise the address or host name to publish; {@link #AUTO} publishes what the socket is bound to
 */
public record SocketAdapterConfig(String bind, int port, String advertise) {
    /** No host name looks like this. */
    private static final Pattern NUMERIC = Pattern.compile("[0-9.]+|.*:.*");

    /** The value of {@code advertise} that publishes what the socket is bound to. */
    public static final String AUTO = "auto";

    /**
     * Reads the adapters of a network, {@code default} first, the others in the order of their names.
     *
     * @throws io.madeleine.api.ConfigurationException if there is none, or a value is wrong
     */
    public static Map<String, SocketAdapterConfig> readAll(ConfigReader adapters) {
        Set<String> names = new TreeSet<>(adapters.keys());
        if (names.isEmpty()) {
            throw adapters.wrong("", "no adapter", "at least one, as in adapters { default { bind = \"127.0.0.1\" } }");
        }
        Map<String, SocketAdapterConfig> found = new LinkedHashMap<>();
        if (names.remove("default")) {
            found.put("default", read(adapters.at("default")));
        }
        names.forEach(name -> found.put(name, read(adapters.at(name))));
        return found;
    }

    private static SocketAdapterConfig read(ConfigReader adapter) {
        adapter.onlyKeys("bind", "port", "advertise");
        return new SocketAdapterConfig(
                address(adapter, "bind", "127.0.0.1"),
                adapter.has("port") ? adapter.integer("port", 0, 65_535) : 0,
                address(adapter, "advertise", AUTO));
    }

    /** Host names are resolved when the socket is bound, not here. */
    private static String address(ConfigReader adapter, String key, String absent) {
        String value = adapter.has(key) ? adapter.text(key) : absent;
        if (value.isEmpty()) {
            throw adapter.wrong(key, "an empty text", "an address or a host name");
        }
        if (NUMERIC.matcher(value).matches()) {
            try {
                InetAddress _ = InetAddress.ofLiteral(value);
            } catch (IllegalArgumentException _) {
                throw adapter.wrong(key, value, "an address, as 127.0.0.1 or ::1, or a host name");
            }
        }
        return value;
    }

    /** The address to bind to, for {@code mad info}; says if it is none of this host. Looks up no host name. */
    public String bindText() {
        return canBind() ? bind : bind + ", which is no address of this host, so the adapter cannot be opened";
    }

    private boolean canBind() {
        if (!NUMERIC.matcher(bind).matches()) {
            return true; // a host name, as far as this can be told
        }
        InetAddress address = InetAddress.ofLiteral(bind);
        try {
            return address.isAnyLocalAddress() || InternetAddress.isOfThisHost(address);
        } catch (SocketException _) {
            return true;
        }
    }
}
