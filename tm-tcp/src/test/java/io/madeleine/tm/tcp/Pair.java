package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigValueFactory;
import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.InternetAddress;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.testkit.Certificates;
import io.madeleine.testkit.RecordingLogger;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.reactor.IoTransport;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;

/** Two processes of a session in one JVM, each with its reactor and adapter, driven by the test's thread. */
public final class Pair implements AutoCloseable {
    /** Settings that switch TLS on, for {@link Certificates}. */
    public static final String TLS = "madeleine.tm.tcp.tls { enabled = true, %s }";

    public static final String SESSION = "session-1";
    public static final byte[] SECRET = "a secret of the test".getBytes(StandardCharsets.UTF_8);
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Whose peer does not close waits for less than usual when it closes: many tests close one end first. */
    public static final String BRIEF_LINGER = "madeleine.tm.tcp.close-linger = 300ms";

    /** Where nobody needs what its peer has sent last: who closes first waits in vain for the end of one that stays. */
    public static final String HARDLY_ANY_LINGER = "madeleine.tm.tcp.close-linger = 30ms";

    public final Side left;
    public final Side right;

    public Pair(String... settings) {
        this(new Side(1, SESSION, SECRET, settings), new Side(2, SESSION, SECRET, settings));
    }

    public Pair(Side left, Side right) {
        this.left = left;
        this.right = right;
    }

    /** The way sockets are driven in this run of the tests. */
    public static IoTransport io() {
        return IoTransport.valueOf(
                System.getProperty("madeleine.test.tcp.io", "nio").toUpperCase(Locale.ROOT));
    }

    /** Skips the test where the way cannot be used. */
    public static void assumeIo() {
        assumeTrue(io().unavailable().isEmpty(), () -> io().unavailable().orElse(""));
    }

    public static Config config(String... settings) {
        String tls = Boolean.getBoolean("madeleine.test.tcp.tls") ? Certificates.settingsOfThisRun(TLS) : "";
        return plainConfig(tls, String.join("\n", settings))
                .withValue("madeleine.tm.tcp.io", ConfigValueFactory.fromAnyRef(io().key()));
    }

    public static Config plainConfig(String... settings) {
        return ConfigFactory.parseString(String.join("\n", settings))
                .withFallback(ConfigFactory.parseResourcesAnySyntax("reference"))
                .resolve();
    }

    /** One of the two. */
    public static final class Side implements AutoCloseable {
        public final ProcessIdentity identity;
        public final TcpPmm pmm;
        public final NettyReactor reactor;
        public final TcpAdapter adapter;
        public final ProgressSource progress;
        public final RecordingLogger log = new RecordingLogger();

        public Side(long id, String session, byte[] secret, String... settings) {
            assumeIo();
            identity = new ProcessIdentity(id, 0);
            pmm = new TcpPmm(TcpConfig.from(config(settings)));
            Reactor offered = pmm.offerReactor().orElseThrow();
            reactor = (NettyReactor) offered;
            adapter = (TcpAdapter) pmm.openAdapter(
                    pmm.adapterNames().getFirst(), new ProcessContext(session, identity, secret, reactor, log));
            progress = adapter.progress();
        }

        /** Where it listens. */
        public int port() {
            return InternetAddress.parse(adapter.address(), "tcp").port();
        }

        public CompletableFuture<ProtocolConnection> connect(
                String channel, Side peer, boolean initiator, long digest) {
            return adapter.openChannel(channel)
                    .connect(new ConnectionRequest(
                            peer.identity,
                            peer.adapter.address(),
                            initiator,
                            pmm.transmissionModules(),
                            digest,
                            System.nanoTime() + PATIENCE.toNanos()));
        }

        public void poll() {
            progress.poll(System.nanoTime());
            reactor.poll();
        }

        /** Waits as the engine does when it blocks; what is ready is handled. */
        public void block(Duration atMost) {
            try {
                if (progress.armForBlocking()) {
                    reactor.sleep(atMost.toNanos());
                }
            } finally {
                progress.disarm();
            }
            poll();
        }

        @Override
        public void close() {
            adapter.close();
            reactor.close();
        }
    }

    /** One end of a connection, and what it was told. */
    public static final class End implements ConnectionListener {
        public final ProtocolConnection connection;
        public final DynamicLink link;
        public volatile int upcalls;
        public volatile int losses;
        public volatile boolean orderly;
        public volatile String reason = "";
        private BooleanSupplier onReadable = () -> false;

        public End(ProtocolConnection connection) {
            this.connection = connection;
            this.link = (DynamicLink) connection.links().getFirst();
            connection.start(this);
        }

        public void whenReadable(BooleanSupplier action) {
            onReadable = action;
        }

        @Override
        public int onReadable() {
            upcalls++;
            return onReadable.getAsBoolean() ? 1 : 0;
        }

        @Override
        public void onLost(LossKind kind, boolean wasOrderly, String what) {
            losses++;
            orderly = wasOrderly;
            reason = what;
        }
    }

    public record Ends(End left, End right) {}

    public Ends connect() throws Exception {
        return connect("main");
    }

    public Ends connect(String channel) throws Exception {
        var calling = left.connect(channel, right, true, 42);
        var answering = right.connect(channel, left, false, 42);
        driveUntil(() -> calling.isDone() && answering.isDone());
        return new Ends(new End(calling.get()), new End(answering.get()));
    }

    public void poll() {
        left.poll();
        right.poll();
    }

    public void driveUntil(BooleanSupplier met) {
        long startNs = System.nanoTime();
        while (!met.getAsBoolean()) {
            if (System.nanoTime() - startNs > PATIENCE.toNanos()) {
                throw new AssertionError("not within " + PATIENCE);
            }
            poll();
        }
    }

    public static String failureOf(Future<?> future) throws InterruptedException {
        try {
            return "no failure but " + future.get();
        } catch (ExecutionException e) {
            return e.getCause().getMessage();
        }
    }

    @Override
    public void close() {
        Thread other = Thread.ofPlatform().start(left::close); // each waits for the other, as processes do
        right.close();
        try {
            other.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
