package mpi;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.mpi.device.DeviceSettings;
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
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The processes of an MPI program as threads of this JVM, over real shared memory or sockets. A process whose program
 * has thrown leaves, so that the others do not wait for it; the next run has new processes then.
 */
final class World implements AutoCloseable {
    private static final long TIMEOUT_S = 120;

    private final Path directory;
    private final String network;
    private final int size;
    private final List<Environment> environments = new ArrayList<>();
    private LocalSessions sessions;
    private boolean hasFailed;

    /** What a process does. */
    @FunctionalInterface
    interface Program {
        void run(Intracomm world) throws Exception;
    }

    World(String network, int size) {
        try {
            directory = Files.createTempDirectory(Path.of("/dev/shm"), "mpi");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.network = network;
        this.size = size;
        sessions = open();
        start();
    }

    private LocalSessions open() {
        Config config = ConfigFactory.parseString("madeleine.tm.sci.directory = \"" + directory + "\"")
                .withFallback(ConfigFactory.load());
        LocalSessions.Builder builder = LocalSessions.of(size);
        return network.equals("tcp")
                ? builder.network("tcp", _ -> new TcpPmm(TcpConfig.from(config)))
                        .open()
                : builder.network("sci", _ -> new SciPmm(SciConfig.from(config)))
                        .open();
    }

    private void start() {
        DeviceSettings settings = DeviceSettings.from(System.getProperties());
        for (int rank = 0; rank < size; rank++) {
            Intracomm world = new Intracomm();
            Intracomm self = new Intracomm();
            environments.add(new Environment(sessions.session(rank), settings, world, self));
            world.setErrhandler(MPI.ERRORS_RETURN);
            self.setErrhandler(MPI.ERRORS_RETURN);
        }
    }

    Environment of(int rank) {
        return environments.get(rank);
    }

    void die(int rank) {
        sessions.die(rank);
    }

    private void startAnew() {
        sessions.close();
        environments.clear();
        sessions = open();
        start();
        hasFailed = false;
    }

    /** Runs the program in one thread per process, and throws what the first of them has thrown. */
    void run(Program program) {
        if (hasFailed) {
            startAnew();
        }
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (Environment environment : environments) {
            threads.add(Thread.ofPlatform().name("rank " + environment.rank()).start(() -> {
                try {
                    program.run(environment.world());
                } catch (Throwable e) {
                    failures.add(e);
                    environment.leave(MPI.ERR_OTHER);
                }
            }));
        }
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        for (Thread thread : threads) {
            join(thread, endNs, failures);
        }
        Throwable first = failures.poll();
        if (first != null) {
            hasFailed = true;
            throw new AssertionError("a process has failed: " + first, first);
        }
    }

    private void join(Thread thread, long endNs, Queue<Throwable> failures) {
        try {
            while (thread.isAlive() && System.nanoTime() - endNs < 0) {
                thread.join(100);
                if (!failures.isEmpty()) {
                    thread.join(2000);
                    thread.interrupt();
                }
            }
            if (thread.isAlive()) {
                StringBuilder waits = new StringBuilder();
                environments.forEach(each -> waits.append("\nrank ")
                        .append(each.rank())
                        .append(": ")
                        .append(each.device().pending()));
                failures.add(new AssertionError(thread.getName() + " is not done; pending:" + waits));
                thread.interrupt();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        try {
            sessions.close();
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder())
                        .forEach(file -> file.toFile().delete());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
