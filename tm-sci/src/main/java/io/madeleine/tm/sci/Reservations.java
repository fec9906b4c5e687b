package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ProcessIdentity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Connections whose memory is reserved, but which nobody has requested yet.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class Reservations {
    private final Map<Key, ConnectionAttempt> taken = new HashMap<>();
    private @Nullable Runnable scarcity;
    private boolean refused;
    private boolean saidScarce;

    private record Key(SciChannel channel, ProcessIdentity peer) {}

    void put(ConnectionAttempt call) {
        taken.put(new Key(call.channel, call.request.peer()), call);
    }

    /** Removes and returns the reservation for that peer; null if there is none. */
    @Nullable
    ConnectionAttempt take(SciChannel channel, ProcessIdentity peer) {
        return taken.remove(new Key(channel, peer));
    }

    /** Removes and returns the reservations of a channel. */
    List<ConnectionAttempt> takeAll(SciChannel channel) {
        List<ConnectionAttempt> all = new ArrayList<>();
        taken.values().removeIf(call -> call.channel == channel && all.add(call));
        return all;
    }

    boolean uses(SciPeer peer) {
        return taken.values().stream().anyMatch(call -> call.peer == peer);
    }

    /**
     * Notes that a reservation was refused for lack of room. The session reports this, so the adapter need not warn
     * about smaller connections.
     */
    void setRefused() {
        refused = true;
    }

    /**
     * Notes that a connection gets less memory than configured.
     *
     * @param warning logs this
     */
    void setScarce(Runnable warning) {
        if (scarcity == null) {
            scarcity = warning;
        }
    }

    /** Logs the warning about smaller connections, once, if there is one. */
    void sayIfScarce() {
        Runnable warning = scarcity;
        if (warning != null && !refused && !saidScarce) {
            saidScarce = true;
            warning.run();
        }
    }
}
