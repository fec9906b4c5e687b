package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.Demands;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.SessionArenas;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** What stands for one process in tests: an adapter with a reactor and session memory of its own. */
final class Side implements ConnectionListener, AutoCloseable {
    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long DIGEST = 0x5eed;
    private static final byte[] SECRET = {1, 2, 3};

    final SelectorReactor reactor = new SelectorReactor();
    final SessionArenas arenas = new SessionArenas(Optional.empty());
    final Demands demands = new Demands();
    final ViaPmm driver;
    final ProcessIdentity identity;
    final Adapter adapter;
    String loss = "";

    @Nullable
    LossKind lossKind;

    private ProtocolConnection connection;

    Side(ViaPmm driver, String session, long id) {
        this(driver, session, id, SECRET);
    }

    Side(ViaPmm driver, String session, long id, byte[] secret) {
        this.driver = driver;
        this.identity = new ProcessIdentity(id, 0);
        this.adapter = driver.openAdapter(
                driver.adapterNames().getFirst(),
                new ProcessContext(
                        session,
                        identity,
                        secret,
                        true,
                        reactor,
                        System.getLogger("test"),
                        arenas.memory(),
                        demands::newDemand));
        arenas.takeFrom(adapter.memorySource().stream().toList());
    }

    CompletableFuture<ProtocolConnection> connect(
            ProcessIdentity peer, String peerAddress, String channel, boolean initiator) {
        List<TransmissionCapabilities> modules = driver.transmissionModules();
        return adapter.openChannel(channel)
                .connect(new ConnectionRequest(
                        peer, peerAddress, initiator, modules, DIGEST, System.nanoTime() + PATIENCE_NS));
    }

    static void connect(Side left, Side right) {
        var ofLeft = left.connect(right.identity, right.adapter.address(), "test", true);
        var ofRight = right.connect(left.identity, left.adapter.address(), "test", false);
        drive(left, right, () -> ofLeft.isDone() && ofRight.isDone());
        left.use(ofLeft.join());
        right.use(ofRight.join());
    }

    void use(ProtocolConnection made) {
        connection = made;
        made.start(this);
    }

    ProtocolConnection connection() {
        return connection;
    }

    void poll() {
        int _ = adapter.progress().poll(System.nanoTime());
        int _ = reactor.poll();
    }

    static void drive(Side left, Side right, BooleanSupplier met) {
        long startNs = System.nanoTime();
        while (!met.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < PATIENCE_NS, "no progress");
            left.poll();
            right.poll();
        }
    }

    @Override
    public int onReadable() {
        return 0;
    }

    @Override
    public void onLost(LossKind kind, boolean orderly, String reason) {
        lossKind = kind;
        loss = reason;
    }

    @Override
    public void close() {
        adapter.close();
        reactor.close();
        arenas.close();
    }
}
