package io.madeleine.bench;

import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.SessionArenas;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.Reactor;
import java.util.HexFormat;
import java.util.Optional;

/**
 * An adapter without a session, with a reactor and memory of its own.
 *
 * <p>Threading: confined to caller.
 */
final class BareAdapter implements AutoCloseable {
    private final Reactor reactor;
    private final SessionArenas arenas = new SessionArenas(Optional.empty());
    private final Adapter adapter;

    /**
     * Opens the adapter of a network.
     *
     * @param rank which of the processes this is
     * @param token a secret that all of them know, in hexadecimal digits
     */
    BareAdapter(BareNetwork network, int rank, String token) {
        this.reactor = network.module().offerReactor().orElseGet(SelectorReactor::new);
        this.adapter = network.module()
                .openAdapter(
                        network.adapter(),
                        new ProcessContext(
                                "perf-" + Integer.toHexString(token.hashCode()),
                                identity(rank),
                                HexFormat.of().parseHex(token),
                                true,
                                reactor,
                                System.getLogger(BareAdapter.class.getName()),
                                arenas.memory()));
        arenas.takeFrom(adapter.memorySource().stream().toList());
    }

    /** The identity of the process of this rank. */
    static ProcessIdentity identity(int rank) {
        return new ProcessIdentity(rank + 1L, 0);
    }

    Adapter adapter() {
        return adapter;
    }

    /** The memory of the processes. */
    SessionArenas arenas() {
        return arenas;
    }

    /** Polls once; returns how many events were handled. */
    int poll() {
        return adapter.progress().poll(System.nanoTime()) + reactor.poll();
    }

    @Override
    public void close() {
        adapter.close();
        reactor.close();
        arenas.close();
    }
}
