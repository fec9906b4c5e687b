package io.madeleine.nexus;

import io.madeleine.nexus.wan.Listener;
import java.util.List;

/**
 * A listening port at which contexts of other sessions may attach to this one; see {@link Context#allowAttach(int,
 * Approver)}.
 *
 * <p>Threading: thread-safe.
 */
public final class AttachPoint implements AutoCloseable {
    private final Listener listener;
    private final List<String> urls;

    AttachPoint(Listener listener, List<String> urls) {
        this.listener = listener;
        this.urls = List.copyOf(urls);
    }

    /** The TCP port. */
    public int port() {
        return listener.port();
    }

    /** The URLs to attach to, {@code nexus://host:port}, the address that reaches furthest first. */
    public List<String> urls() {
        return urls;
    }

    /** The first of {@link #urls()}. */
    public String url() {
        return urls.getFirst();
    }

    /** Stops listening; connections that exist stay. Idempotent. */
    @Override
    public void close() {
        listener.close();
    }

    @Override
    public String toString() {
        return url();
    }
}
