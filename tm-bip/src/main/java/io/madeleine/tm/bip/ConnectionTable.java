package io.madeleine.tm.bip;

import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The connections of an adapter by their own ids. A lookup allocates nothing; a change copies the table.
 *
 * <p>Threading: thread-safe.
 */
final class ConnectionTable {
    /** An open hash table; at most half of its places are taken. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Places(@Nullable BipConnection[] at, BipConnection[] all) {}

    private volatile Places places = new Places(new BipConnection[2], new BipConnection[0]);

    private static int place(long id, int mask) {
        return (int) (id * 0x9E3779B97F4A7C15L >>> 32) & mask;
    }

    private static Places of(BipConnection[] all) {
        @Nullable BipConnection[] at = new BipConnection[Integer.highestOneBit(Math.max(1, all.length)) << 2];
        for (BipConnection each : all) {
            int place = place(each.id(), at.length - 1);
            while (at[place] != null) {
                place = (place + 1) & (at.length - 1);
            }
            at[place] = each;
        }
        return new Places(at, all);
    }

    @Nullable
    BipConnection find(long id) {
        @Nullable BipConnection[] at = places.at;
        int place = place(id, at.length - 1);
        for (BipConnection found = at[place]; found != null; found = at[place]) {
            if (found.id() == id) {
                return found;
            }
            place = (place + 1) & (at.length - 1);
        }
        return null;
    }

    /** The connection whose peer calls itself by this id at this address. */
    @Nullable
    BipConnection findByPeer(long remoteId, InetSocketAddress from) {
        for (BipConnection each : places.all) {
            if (each.remoteId() == remoteId && from.equals(each.target())) {
                return each;
            }
        }
        return null;
    }

    /** All connections; not to be changed. */
    BipConnection[] all() {
        return places.all;
    }

    synchronized void add(BipConnection connection) {
        BipConnection[] all = Arrays.copyOf(places.all, places.all.length + 1);
        all[all.length - 1] = connection;
        places = of(all);
    }

    synchronized void remove(BipConnection connection) {
        places = of(Arrays.stream(places.all).filter(each -> each != connection).toArray(BipConnection[]::new));
    }
}
