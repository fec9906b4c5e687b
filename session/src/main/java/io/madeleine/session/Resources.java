package io.madeleine.session;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * What has been opened, to be closed in reverse order whatever fails on the way.
 *
 * <p>Threading: confined to caller.
 */
final class Resources {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Notes something to close, and returns it. */
    <T extends AutoCloseable> T add(T resource) {
        opened.push(resource);
        return resource;
    }

    /** Closes everything, last first; returns what failed. */
    List<Exception> closeAll() {
        List<Exception> failures = new ArrayList<>();
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                failures.add(e);
            }
        }
        return failures;
    }
}
