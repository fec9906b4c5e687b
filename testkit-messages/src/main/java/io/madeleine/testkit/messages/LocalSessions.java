package io.madeleine.testkit.messages;

import io.madeleine.api.Channel;
import io.madeleine.api.Session;
import io.madeleine.pmm.WaitHint;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.switching.SelectionTable;
import io.madeleine.switching.SwitchSettings;
import io.madeleine.testkit.ContractViolation;
import io.madeleine.testkit.LoopFabric;
import io.madeleine.testkit.LoopPmm;
import io.madeleine.testkit.LoopTm;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;

/**
 * All processes of a session inside one JVM: an engine, adapters and channels for each rank, and connections between
 * each pair, without configuration, bootstrap or launcher.
 *
 * <p>Threading: one thread opens and closes them; the sessions are thread-safe.
 */
public final class LocalSessions implements AutoCloseable {
    private static final long CONNECT_NS = 20_000_000_000L;

    private final List<LocalSession> sessions = new ArrayList<>();
    private final List<LoopFabric> fabrics;
    private List<LocalKeys> keys = List.of();

    /** The settings of the sessions. */
    public static final class Builder {
        private final int size;
        private final Map<String, IntFunction<ProtocolModule>> networks = new LinkedHashMap<>();
        private final Map<String, String> channels = new LinkedHashMap<>();
        private final List<LoopFabric> fabrics = new ArrayList<>();
        private WaitPolicy policy = new WaitPolicy(WaitMode.ADAPTIVE, 20_000, 10);
        private boolean selfDescribed;
        private long peerTimeoutNs = 30_000_000_000L;
        private long quietNs = 100_000_000;

        private Builder(int size) {
            this.size = size;
        }

        /** Adds a network, with a driver for each rank. */
        public Builder network(String name, IntFunction<ProtocolModule> driverOfRank) {
            networks.put(name, driverOfRank);
            return this;
        }

        /** Adds a network in memory; {@link LocalSessions#close} throws if a rule of the SPI was broken on it. */
        public Builder loop(String name, List<LoopTm> tms) {
            LoopFabric fabric = new LoopFabric();
            fabrics.add(fabric);
            return network(name, _ -> new LoopPmm(fabric, tms));
        }

        /** Adds a channel over a network. Without any, there is one called "default" over the first network. */
        public Builder channel(String name, String network) {
            channels.put(name, network);
            return this;
        }

        /** Sets how the engines wait; adaptive by default. */
        public Builder waiting(WaitPolicy wanted) {
            policy = wanted;
            return this;
        }

        /** Sets whether a descriptor precedes each block; off by default. */
        public Builder selfDescribed(boolean wanted) {
            selfDescribed = wanted;
            return this;
        }

        /** Sets the longest wait for a network to release posted memory; 30 s by default. */
        public Builder peerTimeout(long nanoseconds) {
            peerTimeoutNs = nanoseconds;
            return this;
        }

        /**
         * Sets how long a closing session drains discarded messages and sends messages that its threads wait for; 0.1 s
         * by default.
         */
        public Builder quiet(long nanoseconds) {
            quietNs = nanoseconds;
            return this;
        }

        List<LoopFabric> fabrics() {
            return fabrics;
        }

        /** Opens the sessions and connects them. */
        public LocalSessions open() {
            if (channels.isEmpty()) {
                channels.put("default", networks.keySet().iterator().next());
            }
            return new LocalSessions(this);
        }
    }

    /** Begins the set-up of a session with {@code size} processes. */
    public static Builder of(int size) {
        return new Builder(size);
    }

    /** The keys of all ranks, generated on demand: few tests need them. */
    private synchronized List<LocalKeys> keys(int size) {
        if (keys.isEmpty()) {
            keys = LocalKeys.generate(size);
        }
        return keys;
    }

    private LocalSessions(Builder wanted) {
        fabrics = List.copyOf(wanted.fabrics);
        String sessionId = "local-" + Long.toHexString(System.nanoTime());
        try {
            for (int rank = 0; rank < wanted.size; rank++) {
                Map<String, ProtocolModule> drivers = new LinkedHashMap<>();
                for (Map.Entry<String, IntFunction<ProtocolModule>> network : wanted.networks.entrySet()) {
                    drivers.put(network.getKey(), network.getValue().apply(rank));
                }
                sessions.add(new LocalSession(
                        new LocalSession.Place(sessionId, rank, wanted.size),
                        own -> keys(wanted.size).get(own),
                        drivers,
                        wanted.policy,
                        new SwitchSettings(wanted.selfDescribed, WaitHint.AUTO, wanted.peerTimeoutNs),
                        wanted.quietNs));
            }
            wanted.channels.forEach(this::connect);
        } catch (RuntimeException | Error e) {
            try {
                close();
            } catch (RuntimeException | Error suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    /** The two ends of a connection that is being made. */
    private record Pair(
            LocalSession lower,
            LocalSession higher,
            SelectionTable table,
            CompletableFuture<ProtocolConnection> lowerEnd,
            CompletableFuture<ProtocolConnection> higherEnd) {}

    private void connect(String channel, String network) {
        sessions.forEach(session -> session.openChannel(channel, network));
        List<Pair> pairs = new ArrayList<>();
        for (LocalSession lower : sessions) {
            for (LocalSession higher : sessions.subList(lower.rank() + 1, sessions.size())) {
                pairs.add(connect(channel, network, lower, higher));
            }
        }
        while (!pairs.stream().allMatch(pair -> pair.lowerEnd.isDone() && pair.higherEnd.isDone())) {
            sessions.forEach(LocalSession::progress);
            Thread.onSpinWait();
        }
        for (Pair pair : pairs) {
            pair.lower.attach(channel, network, pair.higher.rank(), pair.lowerEnd.join(), pair.table);
            pair.higher.attach(channel, network, pair.lower.rank(), pair.higherEnd.join(), pair.table);
        }
    }

    private static Pair connect(String channel, String network, LocalSession lower, LocalSession higher) {
        SelectionTable table = SelectionTable.agree(
                channel,
                lower.driver(network).transmissionModules(),
                higher.driver(network).transmissionModules());
        long deadlineNs = System.nanoTime() + CONNECT_NS;
        return new Pair(
                lower,
                higher,
                table,
                lower.connect(channel, request(higher, network, table, true, deadlineNs)),
                higher.connect(channel, request(lower, network, table, false, deadlineNs)));
    }

    private static ConnectionRequest request(
            LocalSession peer, String network, SelectionTable table, boolean initiator, long deadlineNs) {
        return new ConnectionRequest(
                new ProcessIdentity(peer.rank(), 0),
                peer.adapter(network).address(),
                initiator,
                table.modules(),
                table.digest(),
                deadlineNs);
    }

    /** The session of a rank. */
    public Session session(int rank) {
        return sessions.get(rank);
    }

    /** The channel called "default" of a rank. */
    public Channel channel(int rank) {
        return sessions.get(rank).channel();
    }

    /** The selection table that two ranks agree on for a channel over this network. */
    SelectionTable table(String network, int lowerRank, int higherRank) {
        return SelectionTable.agree(
                network,
                sessions.get(lowerRank).driver(network).transmissionModules(),
                sessions.get(higherRank).driver(network).transmissionModules());
    }

    /** Simulates the death of a process: its connections are cut without a goodbye, and all its calls fail. */
    public void die(int rank) {
        sessions.get(rank).die();
    }

    /**
     * The engine's demand: how much pending work needs progress although no thread waits for it; 0 when the rank is
     * idle.
     */
    public int demand(int rank) {
        return sessions.get(rank).demand();
    }

    /** Closes all sessions; throws if a rule of the SPI was broken. */
    @Override
    public void close() {
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> closers = sessions.stream()
                .map(session -> Thread.ofPlatform().start(() -> closeOne(session, failures)))
                .toList(); // in parallel: each may wait for the others
        for (Thread closer : closers) {
            joinUninterruptibly(closer);
        }
        for (LoopFabric fabric : fabrics) {
            for (ContractViolation violation : fabric.violations()) {
                throw violation;
            }
        }
        Throwable first = failures.poll();
        if (first != null) {
            IllegalStateException failure =
                    new IllegalStateException("a local session failed to close: " + first, first);
            failures.forEach(failure::addSuppressed);
            throw failure;
        }
    }

    private static void closeOne(LocalSession session, Queue<Throwable> failures) {
        try {
            session.close();
        } catch (RuntimeException | Error e) {
            failures.add(e);
        }
    }

    private static void joinUninterruptibly(Thread thread) {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
