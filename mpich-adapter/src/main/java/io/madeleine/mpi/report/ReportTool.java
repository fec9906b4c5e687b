package io.madeleine.mpi.report;

import io.madeleine.mpi.report.ReportFolder.Entry;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;

/**
 * {@code mad report} as the command line finds it: a tool called {@code mad-report}.
 *
 * <p>Threading: stateless.
 */
public final class ReportTool implements ToolProvider {
    private static final int FAILURE = 1;
    private static final int USAGE = 2;
    private static final long PATIENCE_MS = 2_000;

    private static final String HELP = """
            Usage: mad report [PID]...
            Says of each process of the MPI programs that run here what it waits for, and who waits for whom.
            With process numbers: of these processes, and of those that these have started, themselves or through
            others, as a script that calls mad run.
            A communicator other than MPI.COMM_WORLD is told by its name (Comm.setName). One without a name is told by a
            number, 2.5 for the fifth one made whose first member is rank 2 of MPI.COMM_WORLD, and by the ranks of its
            members there.
            It sees the programs of this user. A program with -Dmpi.report=off is not seen.

            Exit codes: 0 success, 1 no such program or a process without answer, 2 wrong command line.
            """;

    /** For the service loader. */
    public ReportTool() {}

    @Override
    public String name() {
        return "mad-report";
    }

    @Override
    public Optional<String> description() {
        return Optional.of("Says what each process of a running MPI program waits for, and who waits for whom.");
    }

    @Override
    public int run(PrintWriter out, PrintWriter err, String... arguments) {
        if (List.of(arguments).contains("--help") || List.of(arguments).contains("-h")) {
            out.print(HELP);
            return 0;
        }
        Set<Long> wanted = new TreeSet<>();
        for (String argument : arguments) {
            if (!argument.matches("\\d{1,18}")) {
                err.println("mad report: " + argument + ": expected the number of a process");
                return USAGE;
            }
            wanted.add(Long.parseLong(argument));
        }
        try {
            return report(out, err, wanted);
        } catch (IOException e) {
            err.println("mad report: " + e.getMessage());
            return FAILURE;
        }
    }

    private static int report(PrintWriter out, PrintWriter err, Set<Long> wanted) throws IOException {
        Map<Long, List<Entry>> programs = ReportFolder.entries().stream()
                .filter(entry -> wanted.isEmpty() || entry.isBelow(wanted))
                .collect(Collectors.groupingBy(Entry::starter, TreeMap::new, Collectors.toList()));
        if (programs.isEmpty()) {
            err.println("mad report: no MPI program of this user runs here"
                    + (wanted.isEmpty() ? "" : " with these process numbers"));
            return FAILURE;
        }
        int code = 0;
        for (List<Entry> processes : programs.values()) {
            code = Math.max(code, report(out, processes));
        }
        out.flush();
        return code;
    }

    /** Reports one program. */
    private static int report(PrintWriter out, List<Entry> processes) {
        Map<Entry, FutureTask<List<Awaited>>> answers =
                new TreeMap<>(java.util.Comparator.comparingInt(Entry::rank).thenComparingLong(Entry::pid));
        for (Entry each : processes) {
            FutureTask<List<Awaited>> answer = new FutureTask<>(() -> ask(each));
            answers.put(each, answer);
            Thread.ofPlatform().daemon().start(answer);
        }
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS);
        int code = 0;
        Map<Integer, Set<Integer>> waits = new TreeMap<>();
        for (Map.Entry<Entry, FutureTask<List<Awaited>>> each : answers.entrySet()) {
            Entry process = each.getKey();
            out.println("rank " + process.rank() + " of " + process.size() + ", process " + process.pid() + ":");
            try {
                List<Awaited> all = each.getValue().get(endNs - System.nanoTime(), TimeUnit.NANOSECONDS);
                all.forEach(one -> out.println("  " + one.what()));
                if (all.stream().allMatch(one -> one.rank() == Awaited.NOBODY)) {
                    out.println("  no operation is pending: it computes, or waits for something else");
                }
                waits.put(
                        process.rank(),
                        all.stream()
                                .map(Awaited::rank)
                                .filter(rank -> rank >= 0)
                                .collect(Collectors.toSet()));
            } catch (java.util.concurrent.TimeoutException _) {
                out.println("  no answer within " + PATIENCE_MS / 1000
                        + " s: it is stopped, or has no memory or processor time left");
                code = FAILURE;
            } catch (java.util.concurrent.ExecutionException e) {
                out.println("  no answer: " + e.getCause());
                code = FAILURE;
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                return FAILURE;
            }
        }
        waits.forEach((rank, others) -> {
            if (!others.isEmpty()) {
                out.println("rank " + rank + " waits for " + ranks(others));
            }
        });
        Circles.find(waits)
                .ifPresent(circle -> out.println("these wait in a circle: "
                        + circle.stream().map(String::valueOf).collect(Collectors.joining(" -> "))));
        return code;
    }

    private static String ranks(Set<Integer> ranks) {
        return (ranks.size() == 1 ? "rank " : "ranks ")
                + new TreeSet<>(ranks).stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    private static List<Awaited> ask(Entry process) throws IOException {
        StringBuilder text = new StringBuilder();
        try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.connect(UnixDomainSocketAddress.of(process.socket()));
            ByteBuffer bytes = ByteBuffer.allocate(8192);
            java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
            while (socket.read(bytes) >= 0) {
                all.write(bytes.array(), 0, bytes.position());
                bytes.clear();
            }
            text.append(all.toString(StandardCharsets.UTF_8));
        }
        if (!text.toString().endsWith(Awaited.END)) {
            throw new IOException("the answer is not whole; the process has ended, perhaps");
        }
        List<Awaited> awaited = new ArrayList<>();
        text.substring(0, text.length() - Awaited.END.length()).lines().forEach(line -> awaited.add(Awaited.of(line)));
        return awaited;
    }
}
