package io.madeleine.tm.via.link;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The connections that have, or may have, something to tell the layer above. Polling costs nothing for the others.
 *
 * <p>Threading: any thread adds; the rest belongs to the thread that polls. The calls allocate nothing in steady state.
 */
public final class ActiveList {
    private final AtomicReference<@Nullable ViaConnection> added = new AtomicReference<>();
    private @Nullable ViaConnection[] list = new ViaConnection[16];
    private int count;

    /** An empty list. */
    public ActiveList() {}

    /** Adds a connection unless it is on the list. */
    public void add(ViaConnection connection) {
        if (connection.markActive()) {
            ViaConnection first;
            do {
                first = added.get();
                connection.nextActive(first);
            } while (!added.compareAndSet(first, connection));
        }
    }

    private void takeAdded() {
        if (added.get() == null) {
            return;
        }
        for (ViaConnection next = added.getAndSet(null); next != null; ) {
            if (count == list.length) {
                list = Arrays.copyOf(list, 2 * count);
            }
            list[count++] = next;
            ViaConnection following = next.nextActive();
            next.nextActive(null);
            next = following;
        }
    }

    /** Makes the upcalls of all connections on the list; returns how many events that was. */
    public int poll() {
        takeAdded();
        int work = 0;
        for (int i = count - 1; i >= 0; i--) {
            ViaConnection connection = list[i];
            if (connection != null) {
                work += connection.pollUp();
                if (!connection.staysActive()) {
                    list[i] = list[--count];
                    list[count] = null;
                    connection.clearActive();
                    if (connection.staysActive()) { // an event came before the mark was cleared
                        add(connection);
                    }
                }
            }
        }
        return work;
    }

    /** Whether any connection has an event, so that the engine must not sleep. */
    public boolean hasWork() {
        takeAdded();
        for (int i = 0; i < count; i++) {
            ViaConnection connection = list[i];
            if (connection != null && connection.hasWork()) {
                return true;
            }
        }
        return false;
    }
}
