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
    private final Map<Key, SciCall> taken = new HashMap<>();
    private @Nullable Runnable scarcity;
    private boolean refused;
    private boolean saidScarce;

    private record Key(SciChannel channel, ProcessIdentity peer) {}

    void put(SciCall call) {
        taken.put(new Key(call.channel, call.request.peer()), call);
    }

    /** The one to that peer, if there is one. */
    @Nullable
    SciCall take(SciChannel channel, ProcessIdentity peer) {
        return taken.remove(new Key(channel, peer));
    }

    /** Takes out those of a channel. */
    List<SciCall> takeAll(SciChannel channel) {
        List<SciCall> all = new ArrayList<>();
        taken.values().removeIf(call -> call.channel == channel && all.add(call));
        return all;
    }

    boolean uses(SciPeer peer) {
        return taken.values().stream().anyMatch(call -> call.peer == peer);
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
