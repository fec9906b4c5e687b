package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.ConfigReader;
import io.madeleine.tm.bip.io.Faults;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Reads {@code madeleine.tm.bip.faults}.
 *
 * <p>Threading: stateless.
 */
final class FaultsConfig {
    private static final String SHARE = "a share from 0 to 1, as in 0.05";
    private static final String DURATION = "a duration up to 1h, as in \"20ms\", or 0s";
    private static final String PLACE =
            "a name that is the address and port of the peer's socket, as in \"10.0.0.2:4711\"";
    private static final int MOST_PORT = 65_535;
    private static final int MOST_OVERTAKING = 4096;

    private FaultsConfig() {}

    static Faults from(ConfigReader faults) {
        faults.onlyKeys("seed", "send", "receive", "peers");
        ConfigReader all = faults.at("peers");
        Map<String, Faults.Peer> peers = new HashMap<>();
        for (String name : all.keys()) {
            ConfigReader peer = all.at(name);
            peer.onlyKeys("send", "receive");
            peers.put(place(all, name), new Faults.Peer(direction(peer, "send"), direction(peer, "receive")));
        }
        return new Faults(
                faults.integer("seed", Integer.MIN_VALUE, Integer.MAX_VALUE),
                direction(faults, "send"),
                direction(faults, "receive"),
                peers);
    }

    /** The name of a peer as its datagrams are looked up: a literal address in the JDK's form, and the port. */
    private static String place(ConfigReader peers, String name) {
        int colon = name.lastIndexOf(':');
        try {
            int port = Integer.parseInt(name.substring(colon + 1));
            String host = colon > 0 ? name.substring(0, colon).replaceAll("[\\[\\]]", "") : "";
            if (port > 0 && port <= MOST_PORT) {
                return InetAddress.ofLiteral(host).getHostAddress() + ":" + port;
            }
        } catch (IllegalArgumentException _) {
            // told below
        }
        peers.require(name, false, PLACE);
        return name;
    }

    private static Faults.Direction direction(ConfigReader faults, String key) {
        if (!faults.has(key)) {
            return Faults.Direction.NONE;
        }
        ConfigReader one = faults.at(key);
        one.onlyKeys(
                "loss",
                "duplication",
                "corruption",
                "reordering",
                "reorder-by",
                "delay",
                "jitter",
                "cut-after",
                "cut-for");
        one.require(
                "cut-after", !one.has("cut-after") || one.has("cut-for"), "cut-for beside it, how long the cut lasts");
        return new Faults.Direction(
                share(one, "loss"),
                share(one, "duplication"),
                share(one, "corruption"),
                share(one, "reordering"),
                one.has("reorder-by") ? one.integer("reorder-by", 1, MOST_OVERTAKING) : 1,
                durationNs(one, "delay"),
                durationNs(one, "jitter"),
                durationNs(one, "cut-after"),
                durationNs(one, "cut-for"));
    }

    private static double share(ConfigReader one, String key) {
        if (!one.has(key)) {
            return 0;
        }
        double found;
        try {
            found = Double.parseDouble(one.text(key));
        } catch (NumberFormatException _) {
            found = Double.NaN;
        }
        one.require(key, found >= 0 && found <= 1, SHARE);
        return found;
    }

    private static long durationNs(ConfigReader one, String key) {
        return one.has(key) ? one.durationNs(key, 0, TimeUnit.HOURS.toNanos(1), DURATION) : 0;
    }
}
