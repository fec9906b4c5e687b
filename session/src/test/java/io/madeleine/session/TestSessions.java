package io.madeleine.session;

import io.madeleine.api.Session;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.ProcessEnvironment;
import io.madeleine.session.config.SessionConfig;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Opens the ranks of a session as threads of this JVM, over the loop network. */
public final class TestSessions {
    private static final long PATIENCE_NS = 20_000_000_000L;

    private TestSessions() {}

    public static ConfigSources sources(Map<String, ?> settings) {
        return ConfigSources.ofSettings(settings, new ProcessEnvironment(Map.of(), new Properties()));
    }

    public static SessionConfig config(Map<String, ?> settings) {
        return SessionConfig.from(sources(settings));
    }

    /** Settings of one of {@code size} processes that meet at a port of the loopback interface. */
    static Map<String, Object> settings(int rank, int size, int port) {
        List<String> hosts = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            hosts.add("127.0.0.1" + (i == 0 ? ":" + port : ""));
        }
        Map<String, Object> settings = new HashMap<>(loop());
        settings.put("session.hosts", hosts);
        settings.put("session.rank", rank);
        return settings;
    }

    static Map<String, Object> loop() {
        return new HashMap<>(Map.of(
                "tm.loop.guice-module",
                LoopGuiceModule.class.getName(),
                "networks",
                List.of("loop"),
                "session.open-timeout",
                "20s"));
    }

    static Session open(Map<String, ?> settings, ExitAction exit) {
        return Sessions.open(sources(settings), Optional.of(exit));
    }

    static Session open(Map<String, ?> settings) {
        return Sessions.open(sources(settings));
    }

    /** Opens all ranks at once; the settings by rank. */
    static List<Session> openAll(List<? extends Map<String, ?>> settings) throws Exception {
        List<Callable<Session>> openings = new ArrayList<>();
        for (Map<String, ?> one : settings) {
            openings.add(() -> open(one));
        }
        return all(openings);
    }

    static List<Session> openAll(int size) throws Exception {
        int port = freePort();
        List<Map<String, Object>> settings = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            settings.add(settings(rank, size, port));
        }
        return openAll(settings);
    }

    /** Runs everything at once and returns the results in order; throws the first exception. */
    public static <T> List<T> all(List<? extends Callable<T>> work) throws Exception {
        try (ExecutorService executor =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().factory())) {
            List<Future<T>> futures = new ArrayList<>();
            for (Callable<T> one : work) {
                futures.add(executor.submit(one));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : futures) {
                results.add(future.get());
            }
            return results;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    static void closeAll(List<Session> sessions) throws Exception {
        List<Callable<Boolean>> closings = new ArrayList<>();
        for (Session session : sessions) {
            closings.add(() -> {
                session.close();
                return true;
            });
        }
        all(closings);
    }

    /** Waits until nobody listens: whoever closes a server may have to wait for the thread that accepts. */
    public static void awaitRefusal(InetSocketAddress address) throws Exception {
        long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < PATIENCE_NS) {
            try (Socket socket = new Socket()) {
                socket.connect(address, 1_000);
                Thread.sleep(5);
            } catch (ConnectException _) {
                return;
            } catch (SocketTimeoutException _) {
                // nobody accepts any more, and the queue of the port is full
            }
        }
        throw new AssertionError(address + " goes on listening");
    }

    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
