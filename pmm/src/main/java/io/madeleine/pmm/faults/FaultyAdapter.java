package io.madeleine.pmm.faults;

import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.RemoteMemory;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToIntFunction;

/**
 * An adapter whose connections inject faults. Its poll hands on what is due. One-sided access is left as it is.
 *
 * <p>Threading: as the adapter that it decorates.
 */
final class FaultyAdapter implements Adapter {
    private final Adapter inner;
    private final Faults faults;
    private final int rank;
    private final ToIntFunction<ProcessIdentity> rankOf;
    private final List<FaultyConnection> connections = new CopyOnWriteArrayList<>();

    FaultyAdapter(Adapter inner, Faults faults, int rank, ToIntFunction<ProcessIdentity> rankOf) {
        this.inner = inner;
        this.faults = faults;
        this.rank = rank;
        this.rankOf = rankOf;
    }

    @Override
    public String name() {
        return inner.name();
    }

    @Override
    public String address() {
        return inner.address();
    }

    @Override
    public Optional<String> unreachable(String peerAddress) {
        return inner.unreachable(peerAddress);
    }

    @Override
    public Optional<MemorySource> memorySource() {
        return inner.memorySource();
    }

    @Override
    public Optional<RemoteMemory> remoteMemory() {
        return inner.remoteMemory();
    }

    @Override
    public ProtocolChannel openChannel(String channelName) {
        return new FaultyChannel(inner.openChannel(channelName));
    }

    @Override
    public ProgressSource progress() {
        return new FaultyProgress(inner.progress());
    }

    @Override
    public void close() {
        inner.close();
    }

    private ProtocolConnection around(ProtocolConnection made) {
        int peer = rankOf.applyAsInt(made.peer());
        Faults.Direction direction = faults.directionFor(peer, rank);
        DirectionFaults found = faults.of(direction);
        if (!found.any()) {
            return made;
        }
        SplittableRandom random = new SplittableRandom(faults.seed() ^ ((long) peer << 32 | rank));
        FaultyConnection faulty = new FaultyConnection(made, found, direction.toString(), random, connections::remove);
        connections.add(faulty);
        return faulty;
    }

    /** The adapter's part of a channel: decorates each connection that it makes. */
    private final class FaultyChannel implements ProtocolChannel {
        private final ProtocolChannel channel;

        FaultyChannel(ProtocolChannel channel) {
            this.channel = channel;
        }

        @Override
        public Optional<String> reserve(ConnectionRequest request) {
            return channel.reserve(request);
        }

        @Override
        public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
            return channel.connect(request).thenApply(FaultyAdapter.this::around);
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    /** Polls the adapter, and then the connections with faults. */
    private final class FaultyProgress implements ProgressSource {
        private final ProgressSource source;

        FaultyProgress(ProgressSource source) {
            this.source = source;
        }

        @Override
        public int poll(long nowNs) {
            int events = source.poll(nowNs);
            for (FaultyConnection connection : connections) {
                events += connection.poll(nowNs);
            }
            return events;
        }

        @Override
        public boolean recover(InternalError fault) {
            return source.recover(fault);
        }

        @Override
        public boolean armForBlocking() {
            return source.armForBlocking() && untilNextNs() > 0;
        }

        @Override
        public long longestSleepNs() {
            return Math.min(source.longestSleepNs(), Math.max(untilNextNs(), 0));
        }

        @Override
        public void disarm() {
            source.disarm();
        }

        private long untilNextNs() {
            long nowNs = System.nanoTime();
            long next = Long.MAX_VALUE;
            for (FaultyConnection connection : connections) {
                next = Math.min(next, connection.untilNextNs(nowNs));
            }
            return next;
        }
    }
}
