package io.madeleine.tm.via;

import io.madeleine.tm.via.port.LocalEndpoints;
import io.madeleine.tm.via.port.ViaPort;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;

/**
 * The peers in the address vector, each once however many connections it has.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class Peers {
    private final ViaPort port;
    private final Map<String, Peer> byName = new HashMap<>();
    private final Map<Long, String> names = new HashMap<>();

    /** The names of those that stay as long as the adapter. */
    private final Set<String> kept = new HashSet<>();

    private static final class Peer {
        final long number;
        int users;

        Peer(long number) {
            this.number = number;
        }
    }

    Peers(ViaPort port) {
        this.port = port;
    }

    /** The number of a peer, which is added if it is new. */
    long use(byte[] name) {
        String text = HexFormat.of().formatHex(name);
        Peer peer = byName.get(text);
        if (peer == null) {
            peer = new Peer(port.addPeer(name));
            LocalEndpoints.use(text);
            byName.put(text, peer);
            names.put(peer.number, text);
        }
        peer.users++;
        return peer.number;
    }

    /** As {@link #use}, for as long as the adapter is open. */
    long useForGood(byte[] name) {
        String text = HexFormat.of().formatHex(name);
        if (kept.add(text)) {
            try {
                return use(name);
            } catch (RuntimeException e) {
                kept.remove(text);
                throw e;
            }
        }
        Peer peer = byName.get(text);
        return peer == null ? use(name) : peer.number;
    }

    /** A connection to the peer has been freed; the last one removes it. */
    void release(long number) {
        String name = names.get(number);
        Peer peer = name == null ? null : byName.get(name);
        if (name != null && peer != null && --peer.users == 0) {
            byName.remove(name);
            names.remove(number);
            port.removePeer(number);
            LocalEndpoints.release(name);
        }
    }

    /** Nothing more is sent to any peer. */
    void close() {
        byName.keySet().forEach(LocalEndpoints::release);
        byName.clear();
        names.clear();
    }
}
