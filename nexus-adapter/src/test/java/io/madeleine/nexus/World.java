package io.madeleine.nexus;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.api.Channel;
import io.madeleine.api.Session;
import io.madeleine.testkit.messages.LocalSessions;
import io.madeleine.tm.sci.SciConfig;
import io.madeleine.tm.sci.SciPmm;
import io.madeleine.tm.tcp.TcpPmm;
import io.madeleine.tm.tcp.config.TcpConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Contexts of several ranks in this JVM, over real shared memory, sockets, or a channel over each. */
public final class World implements AutoCloseable {
    private final Path directory;
    private final LocalSessions sessions;
    final List<Context> contexts = new ArrayList<>();

    World(String network, int size, ContextOptions options, Consumer<Context> setup) {
        try {
            directory = Files.createTempDirectory("nexus");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Config config = ConfigFactory.parseString("madeleine.tm.sci.directory = \"" + directory + "\"")
                .withFallback(ConfigFactory.load());
        LocalSessions.Builder builder = LocalSessions.of(size);
        sessions = switch (network) {
            case "sci" ->
                builder.network("sci", _ -> new SciPmm(SciConfig.from(config))).open();
            case "tcp" ->
                builder.network("tcp", _ -> new TcpPmm(TcpConfig.from(config))).open();
            case "sci, tcp" ->
                builder.network("sci", _ -> new SciPmm(SciConfig.from(config)))
                        .network("tcp", _ -> new TcpPmm(TcpConfig.from(config)))
                        .channel("default", "sci")
                        .channel("second", "tcp")
                        .open();
            default -> throw new IllegalArgumentException(network);
        };
        for (int rank = 0; rank < size; rank++) {
            Session session = sessions.session(rank);
            List<Channel> channels = network.contains(",")
                    ? List.of(session.channel(), session.channel("second"))
                    : List.of(session.channel());
            contexts.add(Context.open(channels, options, setup));
        }
    }

    World(String network, int size, Consumer<Context> setup) {
        this(network, size, ContextOptions.DEFAULT, setup);
    }

    Context of(int rank) {
        return contexts.get(rank);
    }

    /** Looks now and then: not everything that tests wait for signals anybody. */
    public static void await(BooleanSupplier condition) {
        long giveUpNs = System.nanoTime() + 40_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - giveUpNs > 0) {
                throw new AssertionError("not in time");
            }
            LockSupport.parkNanos(500_000);
        }
    }

    void die(int rank) {
        sessions.die(rank);
    }

    @Override
    public void close() {
        for (Context context : contexts) {
            context.attaching().closing();
            context.node().nodes().foreign().forEach(peer -> peer.leave("the test is over"));
        }
        sessions.close();
        contexts.forEach(context -> context.node().inbound().close());
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
