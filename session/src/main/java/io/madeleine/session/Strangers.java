package io.madeleine.session;

import java.io.IOException;
import java.net.Socket;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Who has connected and not proved yet to know the secret: a bounded number, each for a bounded time. When there are too many,
 * the one that has been at it for longest loses its place; a member needs milliseconds, and tries again.
 *
 * <p>Threading: thread-safe.
 */
final class Strangers {
    /** Nobody loses a place sooner: many members may come at once, and the machine be busy. */
    private static final long GRACE_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final int maxCount;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<Socket, Long> sinceNs = new LinkedHashMap<>();

    /** Room for so many. */
    Strangers(int maxCount) {
        this.maxCount = maxCount;
    }

    /** Waits until there is room for one more; not longer than the grace. */
    void enter(Socket socket) throws InterruptedException {
        lock.lock();
        try {
            while (sinceNs.size() >= maxCount) {
                long waitNs = GRACE_NS - (System.nanoTime() - oldest().getValue());
                if (waitNs <= 0) {
                    Socket loser = oldest().getKey();
                    sinceNs.remove(loser);
                    close(loser);
                } else {
                    long _ = changed.awaitNanos(waitNs);
                }
            }
            sinceNs.put(socket, System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    private Map.Entry<Socket, Long> oldest() {
        Iterator<Map.Entry<Socket, Long>> entries = sinceNs.entrySet().iterator();
        return entries.next();
    }

    /** It is no stranger any more, or gone. */
    void leave(Socket socket) {
        lock.lock();
        try {
            sinceNs.remove(socket);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException _) {
            // closed in any case
        }
    }
}
