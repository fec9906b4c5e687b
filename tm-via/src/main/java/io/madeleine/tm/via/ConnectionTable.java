package io.madeleine.tm.via;

import io.madeleine.tm.via.link.ViaConnection;
import java.security.SecureRandom;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The connections and lines of an adapter by number.
 *
 * <p>Threading: {@link #add} and {@link #remove} are guarded by the adapter's lock; any thread reads.
 */
final class ConnectionTable {
    private final SecureRandom random = new SecureRandom();
    private volatile @Nullable ViaConnection[] byNumber = new ViaConnection[16];
    private volatile ViaConnection[] all = new ViaConnection[0];

    /** Makes a connection. */
    interface Maker {
        /** Makes the connection with this number and this token. */
        ViaConnection make(int number, long token);
    }

    ViaConnection add(Maker maker) {
        @Nullable ViaConnection[] now = byNumber;
        int number = 0;
        while (number < now.length && now[number] != null) {
            number++;
        }
        if (number == now.length) {
            now = Arrays.copyOf(now, 2 * number);
        }
        ViaConnection made = maker.make(number, random.nextLong());
        now[number] = made;
        byNumber = now;
        ViaConnection[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = made;
        all = more;
        return made;
    }

    void remove(ViaConnection connection) {
        @Nullable ViaConnection[] now = byNumber;
        if (now[connection.number()] == connection) {
            now[connection.number()] = null;
            byNumber = now;
        }
        all = Arrays.stream(all).filter(each -> each != connection).toArray(ViaConnection[]::new);
    }

    /** The connection with this number, which a peer has sent; null if there is none. */
    @Nullable
    ViaConnection get(int number) {
        @Nullable ViaConnection[] now = byNumber;
        return number >= 0 && number < now.length ? now[number] : null;
    }

    /** All of them; the caller does not change the array. */
    ViaConnection[] all() {
        return all;
    }

    boolean isEmpty() {
        return all.length == 0;
    }
}
