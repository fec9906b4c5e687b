package io.madeleine.nexus;

import io.madeleine.nexus.wan.Listener;
import java.util.List;

/**
 * Where contexts of other sessions may attach to this one; see {@link Context#allowAttach(int, Approver)}.
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

    /** What others may attach to, {@code nexus://host:port}, the address that reaches furthest first. */
    public List<String> urls() {
        return urls;
    }

    /** The first of {@link #urls()}. */
    public String url() {
        return urls.getFirst();
    }

    /** Nobody can connect here any more; who has stays. Idempotent. */
    @Override
    public void close() {
        listener.close();
    }

    @Override
    public String toString() {
        return url();
    }
}
