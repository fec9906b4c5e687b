package io.madeleine.session.bootstrap;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Resources to close in reverse order of opening. A failure does not keep the others from being closed.
 *
 * <p>Threading: confined to caller.
 */
public final class Resources {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Adds a resource and returns it. Ownership: the resource is closed by {@link #closeAll}. */
    public <T extends AutoCloseable> T add(T resource) {
        opened.push(resource);
        return resource;
    }

    /**
     * Closes all resources, the last first.
     *
     * @return the exceptions that they threw
     */
    public List<Exception> closeAll() {
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
