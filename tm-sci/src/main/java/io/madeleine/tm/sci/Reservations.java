package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ProcessIdentity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Connections whose memory is taken, but which nobody has asked for yet.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class Reservations {
    private final Map<Key, Handshake> taken = new HashMap<>();
    private @Nullable Runnable scarcity;
    private boolean refused;
    private boolean saidScarce;

    private record Key(SciChannel channel, ProcessIdentity peer) {}

    void put(Handshake handshake) {
        taken.put(new Key(handshake.channel, handshake.request.peer()), handshake);
    }

    /** The one to that peer, if there is one. */
    @Nullable
    Handshake take(SciChannel channel, ProcessIdentity peer) {
        return taken.remove(new Key(channel, peer));
    }

    /** Takes out those of a channel. */
    List<Handshake> takeAll(SciChannel channel) {
        List<Handshake> all = new ArrayList<>();
        taken.values().removeIf(handshake -> handshake.channel == channel && all.add(handshake));
        return all;
    }

    boolean uses(SciPeer peer) {
        return taken.values().stream().anyMatch(handshake -> handshake.peer == peer);
    }

    /** Notes that there was no room for one: that will be said, so that smaller ones need no word. */
    void setRefused() {
        refused = true;
    }

    /** Notes that a connection is smaller than configured, and how to say so. */
    void setScarce(Runnable warning) {
        if (scarcity == null) {
            scarcity = warning;
        }
    }

    /** Says once that connections are smaller, if they are. */
    void sayIfScarce() {
        Runnable warning = scarcity;
        if (warning != null && !refused && !saidScarce) {
            saidScarce = true;
            warning.run();
        }
    }
}
