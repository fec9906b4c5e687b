package io.madeleine.tm.via;

import io.madeleine.tm.via.link.ViaConnection;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The lines of peers that failed the handshake. Such a peer is told why it was refused, unless it listens too late or
 * too many other refusals follow.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class RefusedLines {
    private static final int MOST = 32;
    private static final long LONGEST_NS = 1_000_000_000;

    private final Deque<Refused> oldestFirst = new ArrayDeque<>();

    private record Refused(ViaConnection line, long sinceNs) {}

    void add(ViaConnection line) {
        oldestFirst.add(new Refused(line, System.nanoTime()));
        dropOldest();
    }

    /** Drops what waits to be sent over the oldest lines, if they are too old or too many. */
    void dropOldest() {
        Refused oldest = oldestFirst.peek();
        while (oldest != null && (oldestFirst.size() > MOST || System.nanoTime() - oldest.sinceNs > LONGEST_NS)) {
            oldest.line.drop();
            oldestFirst.remove();
            oldest = oldestFirst.peek();
        }
    }

    void remove(ViaConnection line) {
        oldestFirst.removeIf(refused -> refused.line == line);
    }
}
