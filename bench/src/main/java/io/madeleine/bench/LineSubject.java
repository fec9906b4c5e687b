package io.madeleine.bench;

import com.typesafe.config.Config;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Line;
import io.madeleine.bench.measure.LocalProcesses;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.pmm.spi.PacketHeader;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * One of our networks between two hosts with a {@link Line} in between, for one pattern. The receiver is at one end,
 * all senders are at the other.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
final class LineSubject extends LinkSubject {
    /** The share of its datagrams that a process loses in {@link Pattern#GOODPUT}. */
    private static final String LOSS = "0.01";

    /** By how long each process delays what it sends in {@link Pattern#GOODPUT}: half of the least round trip. */
    private static final String DELAY = "0.5ms";

    private static final int PORT = 7313;
    private static final int SECRET_BYTES = 16;

    private final Pattern pattern;

    LineSubject(
            Network network,
            ProtocolSubject.Setup setup,
            Conditions conditions,
            Variant variant,
            Pattern pattern,
            PrintWriter err) {
        super(network, setup, conditions, variant, err);
        this.pattern = pattern;
    }

    /** Why a network cannot be measured in this pattern; empty if it can. */
    static Optional<String> refusal(Network network, ProtocolSubject.Setup setup, Pattern pattern) {
        Config config = BareNetwork.configuration(setup.sessions().settings());
        String path = "madeleine.tm." + network.family();
        if (!config.hasPath(path + ".adapters.default.bind")) {
            return Optional.of(pattern + ": its processes share a host");
        }
        if (pattern == Pattern.GOODPUT && !config.hasPath(path + ".faults")) {
            return Optional.of(pattern + ": it has no datagrams of its own to lose (" + path + ".faults); bip has");
        }
        return Optional.empty();
    }

    @Override
    public boolean has(Pattern wanted, long bytes) {
        return wanted == pattern && (pattern == Pattern.GOODPUT || bytes <= PacketHeader.MAX_PAYLOAD_BYTES);
    }

    @Override
    protected boolean areApart() {
        return true;
    }

    @Override
    protected int ranks() {
        return pattern == Pattern.GOODPUT ? 2 : 1 + IncastProcess.SENDING_PROCESSES;
    }

    @Override
    protected Running start(Map<String, String> environment) {
        Line line = new Line();
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        Map<String, String> all = new HashMap<>(setup.environment(withConfiguration(environment)));
        all.put("MADELEINE_SECRET", HexFormat.of().formatHex(secret));
        List<List<String>> commands = new ArrayList<>();
        for (int rank = 0; rank < ranks(); rank++) {
            int end = Math.min(rank, 1);
            commands.add(line.at(end, pattern == Pattern.GOODPUT ? inSession(rank, line) : withoutSession(rank, line)));
        }
        LocalProcesses processes;
        try {
            processes = LocalProcesses.start(commands, all, List.of(), err);
        } catch (RuntimeException e) {
            line.close();
            throw e;
        }
        return new Running() {
            @Override
            public boolean alive() {
                return processes.alive();
            }

            @Override
            public void close() {
                processes.close();
                line.close();
            }
        };
    }

    private String bind(String address) {
        return "tm." + network.family() + ".adapters." + network.adapter().orElse("default") + ".bind=" + address;
    }

    private List<String> inSession(int rank, Line line) {
        String faults = "tm." + network.family() + ".faults.send.";
        List<String> command = command(
                GoodputProcess.class,
                List.of(
                        Integer.toString(rank),
                        "session.rank=" + rank,
                        "session.hosts=" + line.address(0) + ":" + PORT + "," + line.address(1),
                        "networks=[" + network.family() + "]",
                        "wait.mode=" + conditions.waiting().name().toLowerCase(Locale.ROOT),
                        bind(line.address(rank)),
                        faults + "loss=" + LOSS,
                        faults + "delay=" + DELAY));
        setup.sessions().configuration().ifPresent(file -> command.add("--conf=" + file.toAbsolutePath()));
        return command;
    }

    private List<String> withoutSession(int rank, Line line) {
        return command(
                IncastProcess.class,
                List.of(network.family(), Integer.toString(rank), bind(line.address(Math.min(rank, 1)))));
    }
}
