package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.testkit.RecordingLogger;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** Two processes of a session, simulated in one JVM: each has an adapter, which the test drives. */
final class Pair implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final byte[] SECRET = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

    final Side left;
    final Side right;

    Pair(String leftSettings, String rightSettings) {
        left = new Side(1, leftSettings);
        right = new Side(2, rightSettings);
    }

    /** One of the two. */
    static final class Side implements AutoCloseable {
        final ProcessIdentity identity;
        final BipPmm driver;
        final Reactor reactor = new SelectorReactor();
        final RecordingLogger log = new RecordingLogger();
        final Adapter adapter;

        Side(long id, String settings) {
            this(id, settings, SECRET);
        }

        Side(long id, String settings, byte[] secret) {
            identity = new ProcessIdentity(id, 0);
            driver = BipSide.driver(settings);
            adapter = driver.openAdapter("default", new ProcessContext("pair", identity, secret, reactor, log));
        }

        CompletableFuture<ProtocolConnection> connect(String channel, Side peer, boolean initiator) {
            return connect(channel, peer, peer.adapter.address(), initiator);
        }

        CompletableFuture<ProtocolConnection> connect(String channel, Side peer, String address, boolean initiator) {
            return adapter.openChannel(channel)
                    .connect(new ConnectionRequest(
                            peer.identity,
                            address,
                            initiator,
                            driver.transmissionModules(),
                            42,
                            System.nanoTime() + PATIENCE.toNanos()));
        }

        void poll() {
            adapter.progress().poll(System.nanoTime());
            reactor.poll();
        }

        @Override
        public void close() {
            adapter.close();
            reactor.close();
        }
    }

    /** One end of a connection, and what it was told. */
    static final class End implements ConnectionListener {
        final ProtocolConnection connection;
        volatile int losses;
        volatile boolean orderly;
        volatile String reason = "";
        private Runnable onReadable = () -> {};

        End(ProtocolConnection connection) {
            this.connection = connection;
            connection.start(this);
        }

        BipShortLink small() {
            return (BipShortLink) connection.links().getFirst();
        }

        BipLongLink large() {
            return (BipLongLink) connection.links().getLast();
        }

        void whenReadable(Runnable action) {
            onReadable = action;
        }

        @Override
        public int onReadable() {
            onReadable.run();
            return 0;
        }

        @Override
        public void onLost(LossKind kind, boolean wasOrderly, String what) {
            losses++;
            orderly = wasOrderly;
            reason = what;
        }
    }

    record Ends(End left, End right) {}

    Ends connect(String channel) {
        return connect(channel, right.adapter.address());
    }

    /** The left end reaches the right one at this address. */
    Ends connect(String channel, String address) {
        CompletableFuture<ProtocolConnection> calling = left.connect(channel, right, address, true);
        CompletableFuture<ProtocolConnection> answering = right.connect(channel, left, false);
        driveUntil(() -> calling.isDone() && answering.isDone());
        return new Ends(new End(calling.join()), new End(answering.join()));
    }

    void driveUntil(BooleanSupplier met) {
        long startNs = System.nanoTime();
        while (!met.getAsBoolean()) {
            left.poll();
            right.poll();
            assertTrue(System.nanoTime() - startNs < PATIENCE.toNanos(), "the condition was not met");
        }
    }

    @Override
    public void close() {
        Thread other = Thread.ofPlatform().start(left::close);
        right.close();
        try {
            other.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
