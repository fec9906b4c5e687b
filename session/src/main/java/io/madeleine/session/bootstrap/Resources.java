package io.madeleine.session.bootstrap;

import io.madeleine.pmm.Attempts;
import java.util.ArrayDeque;
import java.util.Deque;

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

    /** Closes all resources, the last first; {@code closing} keeps what they throw. */
    public void closeAll(Attempts closing) {
        while (!opened.isEmpty()) {
            closing.take(opened.pop());
        }
    }
}
