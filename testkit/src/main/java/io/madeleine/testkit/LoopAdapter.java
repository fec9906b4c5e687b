package io.madeleine.testkit;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.RemoteMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * An adapter of the in-memory family: polls its connections, and makes a connection when both ends have come to the
 * fabric.
 *
 * <p>Threading: control path, as {@link Adapter}; it checks that one thread polls at a time.
 */
final class LoopAdapter implements Adapter, ProgressSource {
    private final LoopFabric fabric;
    private final String name;
    private final List<LoopTm> tms;
    private final ProcessContext context;
    private final String address;
    private final OneAtATime polling;
    private final LoopRemoteMemory remoteMemory;
    private final LoopCompletions completions;
    private final List<Wish> wishes = new CopyOnWriteArrayList<>();
    private final List<Made> connections = new ArrayList<>();
    private volatile LoopConnection[] polled = {};
    private volatile boolean armed;
    private volatile boolean closed;

    /** A requested connection. */
    private record Wish(
            LoopChannel channel,
            String place,
            ConnectionRequest request,
            LoopRendezvous meeting,
            CompletableFuture<ProtocolConnection> future) {}

    /** An existing connection. */
    private record Made(LoopChannel channel, LoopConnection connection) {}

    LoopAdapter(LoopFabric fabric, String name, List<LoopTm> tms, ProcessContext context) {
        this.fabric = fabric;
        this.name = name;
        this.tms = List.copyOf(tms);
        this.context = context;
        this.address = fabric.newAddress();
        this.polling = new OneAtATime(fabric, "polling of " + this);
        this.remoteMemory = new LoopRemoteMemory(fabric, context, this::ring);
        this.completions = new LoopCompletions(fabric, context.newDemand(), this::isUnderWay);
    }

    LoopFabric fabric() {
        return fabric;
    }

    LoopTm tm(String id) {
        return tms.stream()
                .filter(tm -> tm.capabilities().id().equals(id))
                .findFirst()
                .orElseThrow(() -> fabric.violation(this + " has no transmission module " + id));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public Optional<String> unreachable(String peerAddress) {
        String fabricPart = address.substring(0, address.lastIndexOf(':') + 1);
        return peerAddress.startsWith(fabricPart) ? Optional.empty() : Optional.of("it is in another process");
    }

    @Override
    public ProtocolChannel openChannel(String channelName) {
        return new LoopChannel(this, channelName);
    }

    @Override
    public Optional<MemorySource> memorySource() {
        return Optional.of(remoteMemory);
    }

    @Override
    public Optional<RemoteMemory> remoteMemory() {
        return Optional.of(remoteMemory);
    }

    @Override
    public ProgressSource progress() {
        return this;
    }

    // ---- connecting

    CompletableFuture<ProtocolConnection> connect(LoopChannel channel, String channelName, ConnectionRequest request) {
        long self = context.self().id();
        long peer = request.peer().id();
        String place =
                context.sessionId() + "/" + channelName + "/" + Math.min(self, peer) + "-" + Math.max(self, peer);
        CompletableFuture<ProtocolConnection> future = new CompletableFuture<>();
        LoopRendezvous meeting = fabric.meet(place, new LoopRendezvous.Visitor(this, request));
        wishes.add(new Wish(channel, place, request, meeting, future));
        ring();
        return future;
    }

    private int fulfilWishes(long nowNs) {
        int work = 0;
        for (Wish wish : List.copyOf(wishes)) {
            LoopWire wire = wish.meeting().wire();
            String disagreement = wish.meeting().disagreement();
            if (wire == null) {
                if (wish.request().deadlineNs() - nowNs > 0 || !fabric.leave(wish.place(), wish.meeting())) {
                    continue;
                }
                refuse(wish, "the peer did not connect before the deadline");
            } else if (disagreement != null) {
                refuse(wish, disagreement);
            } else {
                LoopConnection connection = new LoopConnection(this, wish.request(), wire);
                add(new Made(wish.channel(), connection));
                wishes.remove(wish);
                wish.future().complete(connection);
            }
            work++;
        }
        return work;
    }

    private void refuse(Wish wish, String reason) {
        wishes.remove(wish);
        wish.future()
                .completeExceptionally(new SessionException("no loop connection from process " + context.self()
                        + " to process " + wish.request().peer() + ": " + reason));
    }

    private synchronized void add(Made made) {
        connections.add(made);
        refresh();
    }

    synchronized void forget(LoopConnection connection) {
        connections.removeIf(made -> made.connection() == connection);
        refresh();
    }

    private void refresh() {
        polled = connections.stream().map(Made::connection).toArray(LoopConnection[]::new);
    }

    void closeAllOf(LoopChannel channel) {
        for (Wish wish : List.copyOf(wishes)) {
            if (wish.channel() == channel) {
                fabric.leave(wish.place(), wish.meeting());
                refuse(wish, "the channel was closed");
            }
        }
        List<LoopConnection> mine;
        synchronized (this) {
            mine = connections.stream()
                    .filter(made -> made.channel() == channel)
                    .map(Made::connection)
                    .toList();
        }
        mine.forEach(LoopConnection::close);
    }

    // ---- polling

    @Override
    public int poll(long nowNs) {
        polling.enter();
        try {
            if (closed) {
                throw fabric.violation(this + " was polled after close");
            }
            int work = wishes.isEmpty() ? 0 : fulfilWishes(nowNs);
            work += remoteMemory.poll();
            boolean isDue = completions.isDue(nowNs);
            for (LoopConnection connection : polled) {
                work += connection.poll(isDue);
            }
            completions.poll(nowNs);
            return work;
        } finally {
            polling.leave();
        }
    }

    /** A thread has posted an operation. */
    void posted() {
        completions.expect();
    }

    private boolean isUnderWay() {
        for (LoopConnection connection : polled) {
            if (connection.isUnderWay()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean armForBlocking() {
        polling.enter();
        try {
            armed = true;
            if (remoteMemory.hasWork()) {
                return false;
            }
            for (Wish wish : wishes) {
                if (wish.meeting().wire() != null) {
                    return false;
                }
            }
            for (LoopConnection connection : polled) {
                if (connection.hasWork()) {
                    return false;
                }
            }
            return true;
        } finally {
            polling.leave();
        }
    }

    @Override
    public void disarm() {
        armed = false;
    }

    @Override
    public long longestSleepNs() {
        return tms.stream().anyMatch(tm -> tm.postingSeed() != 0) ? PostingLink.LONGEST_SLEEP_NS : Long.MAX_VALUE;
    }

    /** Ends the adapter's sleep, if it is asleep, since there is an event for it. */
    void ring() {
        if (armed) {
            context.reactor().wakeUp();
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        List<LoopConnection> left;
        synchronized (this) {
            left = connections.stream().map(Made::connection).toList();
        }
        left.forEach(LoopConnection::close);
        remoteMemory.close();
        completions.close();
    }

    @Override
    public String toString() {
        return "adapter " + address + " of process " + context.self();
    }
}
