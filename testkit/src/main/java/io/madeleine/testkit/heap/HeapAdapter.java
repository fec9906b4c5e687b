package io.madeleine.testkit.heap;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The adapter of one process: has ends of connections meet, and polls those that were made.
 *
 * <p>Threading: as {@link Adapter} and {@link ProgressSource} say; {@link #wake} by any thread.
 */
final class HeapAdapter implements Adapter, ProgressSource {
    /** Who has come first and waits for the other; guarded by itself. A real network has a handshake here. */
    private static final Map<String, Wish> MEETING_PLACES = new HashMap<>();

    private static final String ADDRESS =
            "heap of process " + ProcessHandle.current().pid();

    private final String name;
    private final ProcessContext context;
    private final List<Wish> wishes = new CopyOnWriteArrayList<>();
    private final List<HeapConnection> connections = new CopyOnWriteArrayList<>();
    private volatile boolean armed;

    /** A connection that is wanted, and what came of it: one of the last two, set by whoever comes second. */
    private static final class Wish {
        final HeapAdapter adapter;
        final String place;
        final ConnectionRequest request;
        final CompletableFuture<ProtocolConnection> future = new CompletableFuture<>();
        volatile @Nullable HeapConnection connection;
        volatile @Nullable String failure;

        Wish(HeapAdapter adapter, String place, ConnectionRequest request) {
            this.adapter = adapter;
            this.place = place;
            this.request = request;
        }

        void meet(Wish other) {
            if (request.tableDigest() == other.request.tableDigest()) {
                HeapRing there = new HeapRing();
                HeapRing back = new HeapRing();
                connection = new HeapConnection(adapter, other.adapter, request, there, back);
                other.connection = new HeapConnection(other.adapter, adapter, other.request, back, there);
            } else {
                failure = "the digests of the selection tables differ";
                other.failure = failure;
            }
            other.adapter.wake();
        }

        /** From now on nobody meets it. */
        void leave(String reason) {
            synchronized (MEETING_PLACES) {
                if (MEETING_PLACES.remove(place, this)) {
                    failure = reason;
                }
            }
        }
    }

    HeapAdapter(String name, ProcessContext context) {
        this.name = name;
        this.context = context;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String address() {
        return ADDRESS;
    }

    @Override
    public Optional<String> unreachable(String peerAddress) {
        return peerAddress.equals(ADDRESS) ? Optional.empty() : Optional.of("it is in another process");
    }

    @Override
    public ProgressSource progress() {
        return this;
    }

    // ---- connecting

    @Override
    public ProtocolChannel openChannel(String channelName) {
        String places = context.sessionId() + "/" + channelName + "/";
        return new ProtocolChannel() {
            @Override
            public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
                return HeapAdapter.this.connect(places, request);
            }

            @Override
            public void close() {
                for (Wish wish : wishes) {
                    if (wish.place.startsWith(places)) {
                        wish.leave("the channel was closed");
                    }
                }
            }
        };
    }

    private CompletableFuture<ProtocolConnection> connect(String places, ConnectionRequest request) {
        long self = context.self().id();
        long peer = request.peer().id();
        Wish mine = new Wish(this, places + Math.min(self, peer) + "-" + Math.max(self, peer), request);
        synchronized (MEETING_PLACES) {
            Wish first = MEETING_PLACES.remove(mine.place);
            if (first == null) {
                MEETING_PLACES.put(mine.place, mine);
            } else {
                mine.meet(first);
            }
        }
        wishes.add(mine);
        wake();
        return mine.future;
    }

    /** Completes the future of a wish that has come to its end; returns whether it had. */
    private boolean settle(Wish wish, long nowNs) {
        if (wish.request.deadlineNs() - nowNs <= 0) {
            wish.leave("it did not come in time");
        }
        HeapConnection connection = wish.connection;
        if (connection == null && wish.failure == null) {
            return false;
        }
        wishes.remove(wish);
        if (connection == null) {
            wish.future.completeExceptionally(new SessionException("no heap connection from process " + context.self()
                    + " to process " + wish.request.peer() + ": " + wish.failure));
        } else {
            connections.add(connection);
            wish.future.complete(connection);
        }
        return true;
    }

    // ---- progress

    @Override
    public int poll(long nowNs) {
        int work = 0;
        for (Wish wish : wishes) {
            work += settle(wish, nowNs) ? 1 : 0;
        }
        for (HeapConnection connection : connections) {
            work += connection.poll();
        }
        return work;
    }

    @Override
    public boolean armForBlocking() {
        armed = true; // before looking: who brings news does so first and then asks whether to wake
        for (Wish wish : wishes) {
            if (wish.connection != null || wish.failure != null) {
                return false;
            }
        }
        for (HeapConnection connection : connections) {
            if (connection.hasNews()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void disarm() {
        armed = false;
    }

    void wake() {
        if (armed) {
            context.reactor().wakeUp();
        }
    }

    // ---- the end

    void forget(HeapConnection connection) {
        connections.remove(connection);
    }

    @Override
    public void close() {
        connections.forEach(HeapConnection::close);
    }
}
