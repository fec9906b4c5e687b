package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Order;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Usage;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * libfabric's own {@code fi_pingpong} over a provider, with reliable datagrams: half a round trip. It always polls,
 * does not touch contents, and tells a mean; each measurement starts it anew.
 *
 * <p>Threading: as {@link Subject}.
 */
final class PingPong implements Subject {
    /** The command, and the peer's name. */
    static final String NAME = "fi_pingpong";

    private static final long MOST_BYTES = 8 << 20;
    private static final int FIRST_TRIPS = 50;
    private static final int MOST_TRIPS = 1_000_000;
    private static final int FIELD_OF_US = 6;
    private static final long PATIENCE_S = 60;
    private static final long RETRY_MS = 20;

    private final String name;
    private final String provider;
    private final Conditions conditions;
    private final Variant variant;
    private final PrintWriter err;
    private final List<Process> running = new ArrayList<>();

    PingPong(Peer.Asked asked, Conditions conditions, Variant variant, PrintWriter err) {
        name = asked.word();
        provider = asked.hasArgument() ? asked.argument() : "shm";
        this.conditions = conditions;
        this.variant = variant;
        this.err = err;
    }

    @Override
    public Kind kind() {
        return Kind.PEER;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Variant variant() {
        return variant;
    }

    @Override
    public Optional<String> absence() {
        if (CProgram.find(NAME).isEmpty()) {
            return Optional.of("there is no command " + NAME
                    + ": install the Debian package libfabric-bin (apt-get install libfabric-bin)");
        }
        return Optional.empty();
    }

    @Override
    public boolean has(Pattern pattern, long bytes) {
        return pattern == Pattern.LATENCY && bytes <= MOST_BYTES;
    }

    @Override
    public void open(long memoryBytes) {
        // each measurement starts it
    }

    @Override
    public Round measure(Order order) {
        double first = run(order.bytes(), FIRST_TRIPS);
        long wanted = (long) (order.durationNs() / (2e3 * Math.max(0.01, first)));
        double us = run(order.bytes(), Math.clamp(wanted, FIRST_TRIPS, MOST_TRIPS));
        return new Round(1, us, us, us, List.of(us), new Usage(Double.NaN, Double.NaN, Double.NaN, Double.NaN));
    }

    /** Half a round trip in us. The server listens a moment after its start, and a client that comes sooner fails. */
    private double run(long bytes, int trips) {
        int port = freePort();
        Process server = start(0, bytes, trips, List.of("-B", Integer.toString(port)));
        try {
            long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
            while (true) {
                Process client = start(1, bytes, trips, List.of("-P", Integer.toString(port), "127.0.0.1"));
                String text = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                if (client.waitFor() == 0) {
                    return microseconds(text);
                }
                if (!server.isAlive() || System.nanoTime() - deadlineNs > 0) {
                    throw new MeasuringException(NAME + " -p " + provider + " failed: " + text.strip());
                }
                Thread.sleep(RETRY_MS);
            }
        } catch (IOException e) {
            throw new MeasuringException(NAME + " cannot be read: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasuringException("interrupted", e);
        } finally {
            close();
        }
    }

    private Process start(int rank, long bytes, int trips, List<String> rest) {
        List<String> command = new ArrayList<>();
        if (conditions.pin()) {
            List<Integer> processors = Pinning.processors();
            command.addAll(List.of(
                    "taskset", "-c", processors.get(rank % processors.size()).toString()));
        }
        // it waits for ever if its peer dies
        command.addAll(List.of(
                "timeout", Long.toString(PATIENCE_S), NAME, "-e", "rdm", "-p", provider, "-S", Long.toString(bytes)));
        command.addAll(List.of("-I", Integer.toString(trips)));
        command.addAll(rest);
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            if (rank == 0) {
                builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
            }
            Process process = builder.start();
            synchronized (running) {
                running.add(process);
            }
            process.getOutputStream().close();
            return process;
        } catch (IOException e) {
            throw new MeasuringException(command.getFirst() + " cannot be started: " + e.getMessage(), e);
        }
    }

    /** Reads the figure in the line below the headings. */
    private double microseconds(String text) {
        String[] words = text.lines().reduce("", (_, line) -> line).strip().split("\\s+", -1);
        try {
            return Double.parseDouble(words[FIELD_OF_US]);
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            err.println(text);
            throw new MeasuringException(NAME + " printed something other than its table", e);
        }
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new MeasuringException("there is no free port: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        synchronized (running) {
            running.forEach(Process::destroyForcibly);
            running.clear();
        }
    }
}
