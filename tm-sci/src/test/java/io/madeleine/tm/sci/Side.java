package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.api.LossKind;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.SessionArenas;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.wake.SciProgress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** What stands for one process in tests: an adapter with a reactor of its own, in a directory shared with others. */
public final class Side implements AutoCloseable {
    static final String SESSION = "test";
    static final long DIGEST = 0x5eed;
    static final byte[] SECRET = {1, 2, 3};

    /** With all three modules in use. */
    public static final String SINGLE_COPY =
            "madeleine.tm.sci { short.max-block = 1 KiB, dma { single-copy = on, from = 4 KiB, to = unlimited } }";

    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    final SelectorReactor reactor = new SelectorReactor();
    final ProcessIdentity identity;
    final SciPmm pmm;
    final SessionArenas arenas = new SessionArenas(Optional.empty());
    final Adapter adapter;
    int sleeps;
    int rearms;

    /** A clock by which news are always far apart. */
    private long slowNs = System.nanoTime() - TimeUnit.HOURS.toNanos(1);

    final List<ProtocolChannel> channels = new ArrayList<>();

    private Side(Path directory, long id, String settings, byte[] secret, int idleLooks) {
        identity = new ProcessIdentity(id, 0);
        SciConfig config = SciConfig.from(config(directory, settings));
        pmm = new SciPmm(config);
        adapter = SciAdapter.open(
                pmm.adapterNames().getFirst(),
                config,
                new ProcessContext(SESSION, identity, secret, true, reactor, System.getLogger("test"), arenas.memory()),
                idleLooks);
        arenas.takeFrom(adapter.memorySource().stream().toList());
    }

    public static Side open(Path directory, long id) {
        return open(directory, id, "");
    }

    public static Side open(Path directory, long id, String settings) {
        return new Side(directory, id, settings, SECRET, SciProgress.IDLE_LOOKS);
    }

    static Side withSecret(Path directory, long id, byte[] secret) {
        return new Side(directory, id, "", secret, SciProgress.IDLE_LOOKS);
    }

    /** One whose connections leave the list of those looked at after so few looks. */
    static Side impatient(Path directory, long id, int idleLooks) {
        return new Side(directory, id, "", SECRET, idleLooks);
    }

    /** Settings of the family, the others as by default. */
    static SciConfig settings(String own) {
        return SciConfig.from(
                ConfigFactory.parseString(SciConfig.ROOT + " { " + own + " }").withFallback(ConfigFactory.load()));
    }

    static Config config(Path directory, String settings) {
        return ConfigFactory.parseString(settings)
                .withFallback(ConfigFactory.parseString(SciConfig.ROOT + ".directory = \"" + directory + "\""))
                .withFallback(ConfigFactory.load());
    }

    CompletableFuture<ProtocolConnection> connect(String channel, Side peer, boolean initiator) {
        return connect(channel, peer, initiator, DIGEST, pmm.transmissionModules());
    }

    CompletableFuture<ProtocolConnection> connect(
            String channel, Side peer, boolean initiator, long digest, List<TransmissionCapabilities> modules) {
        ProtocolChannel opened = adapter.openChannel(channel);
        channels.add(opened);
        return opened.connect(new ConnectionRequest(
                peer.identity, peer.adapter.address(), initiator, modules, digest, System.nanoTime() + PATIENCE_NS));
    }

    ConnectionRequest request(long peer, String address, boolean initiator) {
        return new ConnectionRequest(
                new ProcessIdentity(peer, 0),
                address,
                initiator,
                pmm.transmissionModules(),
                DIGEST,
                System.nanoTime() + PATIENCE_NS);
    }

    /** Sleeps as the engine does, if there is no news; whether it would have slept to the end of its patience. */
    boolean sleepIsLost() {
        long beganNs = System.nanoTime();
        try {
            if (adapter.progress().armForBlocking()) {
                sleeps++;
                reactor.sleep(PATIENCE_NS);
            }
        } finally {
            adapter.progress().disarm();
        }
        return System.nanoTime() - beganNs >= PATIENCE_NS;
    }

    /**
     * The same if meanwhile another thread polls once in place of the sleeper, and has it sleep on if there is no news.
     */
    boolean longSleepIsLost() {
        long beganNs = System.nanoTime();
        try {
            if (!adapter.progress().armForBlocking()) {
                return false;
            }
            adapter.progress().disarmForAMoment();
            if (adapter.progress().poll(slowNs += 1_000_000) == 0
                    && adapter.progress().rearm()) {
                rearms++;
                sleeps++;
                reactor.sleep(PATIENCE_NS);
                adapter.progress().disarmForAMoment();
                int _ = adapter.progress().poll(slowNs += 1_000_000); // finds what was announced, and lists nothing
                if (adapter.progress().rearm()) {
                    rearms++;
                    adapter.progress().disarm();
                }
            }
        } finally {
            adapter.progress().disarm();
        }
        return System.nanoTime() - beganNs >= PATIENCE_NS;
    }

    /** One round as the engine does it. */
    int round() {
        return reactor.poll() + adapter.progress().poll(System.nanoTime());
    }

    @Override
    public void close() {
        adapter.close();
        reactor.close();
        arenas.close();
    }

    /** Polls both until the two futures are done. */
    static void settle(Side a, CompletableFuture<?> fromA, Side b, CompletableFuture<?> fromB) {
        long deadlineNs = System.nanoTime() + 2 * PATIENCE_NS;
        while (!fromA.isDone() || !fromB.isDone()) {
            if (System.nanoTime() > deadlineNs) {
                throw new AssertionError("not settled: " + fromA + ", " + fromB);
            }
            a.round();
            b.round();
        }
    }

    /** Both ends of a connection. */
    public record Pair(ProtocolConnection left, ProtocolConnection right) {
        public static Pair of(Side a, Side b, String channel) {
            return of(a, b, channel, a.pmm.transmissionModules());
        }

        public static Pair of(Side a, Side b, String channel, List<TransmissionCapabilities> modules) {
            var left = a.connect(channel, b, true, DIGEST, modules);
            var right = b.connect(channel, a, false, DIGEST, modules);
            settle(a, left, b, right);
            return new Pair(left.join(), right.join());
        }

        StaticLink leftShort() {
            return (StaticLink) left.links().getFirst();
        }

        TransmissionLink rightShort() {
            return right.links().getFirst();
        }

        public DynamicLink leftRegular() {
            return (DynamicLink) left.links().getLast();
        }

        public TransmissionLink rightRegular() {
            return right.links().getLast();
        }
    }

    /** Sends a group and its end mark, and receives them. */
    public static void transfer(
            DynamicLink sender,
            TransmissionLink receiver,
            long header,
            BufferGroup group,
            long trailer,
            BufferGroup wanted) {
        boolean sent = false;
        for (int round = 0; !sent || !wanted.isEmpty(); round++) {
            sent = sent || sender.send(header, group, trailer) == LinkStatus.COMPLETE;
            if (receiver.front() == header) {
                receiver.receive(wanted, wanted.remainingBytes());
            }
            assertTrue(round < 100_000, "nothing moves any more");
        }
        receiver.release();
        assertEquals(trailer, receiver.front());
        receiver.release();
        assertEquals(0, receiver.front());
    }

    /** Counts upcalls, and notes a loss. */
    static final class Listener implements ConnectionListener {
        volatile int readable;
        volatile String lost;

        @Override
        public int onReadable() {
            readable++;
            return 1;
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String reason) {
            lost = orderly + " " + reason;
        }
    }

    public static BufferGroup group(java.lang.foreign.MemorySegment... segments) {
        BufferGroup group = new BufferGroup();
        for (var segment : segments) {
            group.add(segment, 0, segment.byteSize());
        }
        return group;
    }
}
