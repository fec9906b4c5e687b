package io.madeleine.testkit.heap;

import io.madeleine.pmm.handshake.HandshakeLimits;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.handshake.PolledAdapter;
import io.madeleine.pmm.spi.ProcessContext;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The adapter of one process: it has an address, and opens lines to the adapters of other processes.
 *
 * <p>Threading: as {@link PolledAdapter}.
 */
final class HeapAdapter extends PolledAdapter {
    /** All adapters by address. A real network has addresses of its own. */
    private static final Map<String, HeapAdapter> ADAPTERS = new ConcurrentHashMap<>();

    private final String address;

    HeapAdapter(String name, ProcessContext context) {
        super("heap", name, context, HandshakeLimits.DEFAULT);
        address = "heap of " + context.self() + " in " + context.sessionId();
        ADAPTERS.put(address, this);
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public Optional<String> unreachable(String peerAddress) {
        return ADAPTERS.containsKey(peerAddress) ? Optional.empty() : Optional.of("it is in another process");
    }

    @Override
    protected void call(PendingConnection wanted) {
        HeapAdapter peer = ADAPTERS.get(wanted.request().peerAddress());
        if (peer == null) {
            callFailed(wanted, "it has ended, or is in another process");
        } else {
            HeapPipe there = new HeapPipe();
            HeapPipe back = new HeapPipe();
            peer.accepted(new HeapConnection(peer, this, back, there));
            called(wanted, new HeapConnection(this, peer, there, back));
        }
    }

    @Override
    public void close() {
        ADAPTERS.remove(address, this);
        super.close();
    }
}
