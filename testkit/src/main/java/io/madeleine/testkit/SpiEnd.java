package io.madeleine.testkit;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.Demands;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.SessionArenas;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One process of the SPI contract tests: a driver with one adapter, which the test drives. One of its connections is
 * <i>the</i> connection, whose upcalls it records.
 *
 * <p>Threading: one thread at a time, except for the two halves of the links and for what {@link Reactor} allows.
 */
public final class SpiEnd implements ConnectionListener, AutoCloseable {
    private static final byte[] SECRET = {16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1};

    private static final long LONG_SLEEP_NS = 30_000_000_000L;

    final ProtocolModule driver;
    final ProcessIdentity identity;
    final Reactor reactor;
    final SessionArenas arenas = new SessionArenas(Optional.empty());
    final Demands demands = new Demands();
    final Adapter adapter;
    final ProtocolChannel channel;
    volatile int upcallCount;
    volatile int lossCount;
    volatile boolean lossWasOrderly;
    volatile String lossReason = "";
    volatile String seenAtLoss = "";
    volatile IntSupplier whenReadable = this::lookAtLinks;
    private @Nullable ProtocolConnection connection;

    SpiEnd(ProtocolModule driver, String sessionId, long id) {
        this.driver = driver;
        this.identity = new ProcessIdentity(id, 0);
        this.reactor = driver.offerReactor().orElseGet(SelectorReactor::new);
        demands.listen(new Demands.Listener() {
            @Override
            public void onDue(long deadlineNs) {
                reactor.wakeUp(); // a sleep may last beyond the new deadline
            }
        });
        this.adapter = driver.openAdapter(
                driver.adapterNames().getFirst(),
                new ProcessContext(
                        sessionId,
                        identity,
                        SECRET,
                        true,
                        reactor,
                        System.getLogger("io.madeleine.testkit.contract"),
                        arenas.memory(),
                        demands::newDemand));
        arenas.takeFrom(adapter.memorySource().stream().toList());
        this.channel = adapter.openChannel("contract");
    }

    ConnectionRequest request(SpiEnd peer, boolean initiator, long deadlineNs) {
        List<TransmissionCapabilities> modules = driver.transmissionModules();
        return new ConnectionRequest(
                peer.identity, peer.adapter.address(), initiator, modules, modules.hashCode(), deadlineNs);
    }

    /** Begins to connect in the channel of the contract tests. */
    CompletableFuture<ProtocolConnection> connect(SpiEnd peer, boolean initiator, long deadlineNs) {
        return channel.connect(request(peer, initiator, deadlineNs));
    }

    /** Makes this connection the tested one, and starts it. */
    void use(ProtocolConnection made) {
        connection = made;
        made.start(this);
    }

    ProtocolConnection connection() {
        ProtocolConnection used = connection;
        if (used == null) {
            throw new IllegalStateException("this end is not connected; expected use() first");
        }
        return used;
    }

    TransmissionLink link(int index) {
        return connection().links().get(index);
    }

    /** One round, as the engine does it. */
    int poll() {
        return adapter.progress().poll(System.nanoTime()) + reactor.poll();
    }

    /**
     * Arms the adapter and sleeps, at most until the next demand is due and as long as the adapter allows, as the
     * engine does.
     *
     * @return false if pending events forbade the sleep
     */
    boolean sleep(long timeoutNs) {
        boolean quiet = adapter.progress().armForBlocking();
        try {
            long leftNs = Math.min(timeoutNs, demands.untilNextNs(System.nanoTime()));
            leftNs = Math.min(leftNs, adapter.progress().longestSleepNs());
            if (quiet && leftNs > 0) {
                reactor.sleep(leftNs);
            }
        } finally {
            adapter.progress().disarm();
        }
        return quiet;
    }

    /**
     * Drives the process once as the engine does when no thread waits: only while a demand is held, asleep in between.
     *
     * @return whether a demand was held
     */
    boolean pollByDemand() {
        if (!demands.isHeld()) {
            return false;
        }
        boolean _ = sleep(LONG_SLEEP_NS);
        poll();
        return true;
    }

    /** Does the least that the layer above does in an upcall: some modules detect the end only by this. */
    int lookAtLinks() {
        connection().links().forEach(TransmissionLink::front);
        return 0;
    }

    @Override
    public int onReadable() {
        upcallCount++;
        return whenReadable.getAsInt();
    }

    @Override
    public void onLost(LossKind kind, boolean orderly, String reason) {
        if (lossCount++ == 0) {
            lossWasOrderly = orderly;
            lossReason = reason;
            seenAtLoss = connection().seenOfLoss();
        }
    }

    @Override
    public void close() {
        adapter.close();
        reactor.close();
        arenas.close();
    }
}
