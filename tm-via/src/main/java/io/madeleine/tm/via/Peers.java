package io.madeleine.tm.via;

import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.port.LocalEndpoints;
import io.madeleine.tm.via.port.ViaPort;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/**
 * The peers in the address vector, each once however many users it has: connections, attachments, messages under way.
 * The last user removes it, so that only those who are in use take room.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class Peers {
    private final ViaPort port;
    private final boolean haveFiles;
    private final ShmLocks locks;
    private final Map<String, Peer> byName = new HashMap<>();
    private final Map<Long, String> names = new HashMap<>();

    private static final class Peer {
        final long number;
        int users;

        Peer(long number) {
            this.number = number;
        }
    }

    /**
     * Knows no peer.
     *
     * @param haveFiles whether each endpoint has a file, as those of the provider shm
     * @param locks watches the locks of processes whose endpoints have files
     */
    Peers(ViaPort port, boolean haveFiles, ShmLocks locks) {
        this.port = port;
        this.haveFiles = haveFiles;
        this.locks = locks;
    }

    /** Whether there may be an endpoint with this name. */
    boolean mayExist(byte[] name) {
        return !haveFiles || ShmFiles.isThere(name);
    }

    /**
     * The number of a peer, which is added if it is new.
     *
     * @throws FabricException if there is no such endpoint, as far as this can be told
     */
    long use(byte[] name) {
        String text = HexFormat.of().formatHex(name);
        Peer peer = byName.get(text);
        if (peer == null) {
            if (!mayExist(name)) {
                throw new FabricException(0, "the peer's endpoint does not exist any more");
            }
            if (haveFiles) {
                locks.add(name); // before anything is sent to it
            }
            peer = new Peer(port.addPeer(name));
            LocalEndpoints.use(text);
            byName.put(text, peer);
            names.put(peer.number, text);
        }
        peer.users++;
        return peer.number;
    }

    /** One more user of a peer that is in use. */
    void keep(long number) {
        String name = names.get(number);
        Peer peer = name == null ? null : byName.get(name);
        if (peer != null) {
            peer.users++;
        }
    }

    /** How many there are. */
    int count() {
        return byName.size();
    }

    /** A user has ended, and nothing of its own is outstanding; the last one removes the peer. */
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
