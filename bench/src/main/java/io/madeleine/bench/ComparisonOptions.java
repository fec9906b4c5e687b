package io.madeleine.bench;

import io.madeleine.bench.measure.Buffers;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Subject.Variant;
import io.madeleine.bench.peer.Peers;
import io.madeleine.pmm.WaitMode;
import io.madeleine.session.SessionInfo.Protocol;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/**
 * The options of {@code mad perf} that say what is compared with what.
 *
 * <p>Threading: confined to caller.
 */
final class ComparisonOptions {
    @Option(
            names = "--peers",
            paramLabel = "NAME",
            split = ",",
            description = "Measures these beside our networks, see below; one that is not installed is told, with what"
                    + " to install.",
            completionCandidates = PeerNames.class)
    List<String> peers = new ArrayList<>();

    @Option(
            names = "--wait",
            paramLabel = "MODE",
            split = ",",
            defaultValue = "adaptive",
            description = "How the processes wait for messages: spin, adaptive or block; several are compared. Default:"
                    + " ${DEFAULT-VALUE}.")
    List<WaitMode> waiting = new ArrayList<>();

    @Option(
            names = "--buffers",
            paramLabel = "KIND",
            defaultValue = "same",
            description = "Where messages are: in the same block each time, which the caches then hold (same), in turn"
                    + " in blocks over 64 MiB (rotate), or in a new array of the heap each (fresh). Default:"
                    + " ${DEFAULT-VALUE}.")
    Buffers buffers = Buffers.SAME;

    @Option(
            names = "--layers",
            description = "Measures our networks twice: the links of their transmission modules, driven by hand without"
                    + " switch and engine (layer tm), and the public API above them (layer channel).")
    boolean layers;

    @Option(
            names = "--usage",
            description = "Shows the processor time of both processes in percent, and their context switches per"
                    + " message.")
    boolean usage;

    @Spec(Target.MIXEE)
    CommandSpec spec = CommandSpec.create();

    /** All names. */
    static final class PeerNames extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        PeerNames() {
            super(Peers.words());
        }
    }

    /** Fails if a name is unknown. */
    void check() {
        for (String name : peers) {
            if (Peers.of(name).isEmpty()) {
                throw new ParameterException(
                        spec.commandLine(),
                        "--peers " + name + ": there is no such peer, expected some of "
                                + String.join(",", Peers.words()));
            }
        }
    }

    /** One for each wait mode. */
    List<Conditions> conditions(boolean pin) {
        return waiting.stream()
                .distinct()
                .map(wait -> new Conditions(wait, pin))
                .toList();
    }

    /** What tells a subject under these conditions from the others of its name. */
    private Variant variant(Conditions conditions, Optional<String> layer) {
        boolean several = waiting.stream().distinct().count() > 1;
        return new Variant(several ? Optional.of(word(conditions.waiting())) : Optional.empty(), layer);
    }

    /** A network of ours, at one layer or at two. */
    List<Subject> ofProtocol(Protocol protocol, ProtocolSubject.Setup setup, Conditions conditions, PrintWriter err) {
        if (!layers) {
            return List.of(
                    new ProtocolSubject(protocol, setup, conditions, variant(conditions, Optional.empty()), err));
        }
        return List.of(
                new LinkSubject(protocol, setup, conditions, variant(conditions, Optional.of("tm")), err),
                new ProtocolSubject(protocol, setup, conditions, variant(conditions, Optional.of("channel")), err));
    }

    /** The peers that are there, and why the others are not. */
    void addPeers(Conditions conditions, List<? super Subject> there, List<AbsentPeer> absent, PrintWriter err) {
        for (String name : peers.stream().distinct().toList()) {
            Subject peer = Peers.of(name).orElseThrow().subject(conditions, variant(conditions, Optional.empty()), err);
            Optional<AbsentPeer> missing = peer.absence().map(reason -> new AbsentPeer(name, reason));
            if (missing.isEmpty()) {
                there.add(peer);
            } else if (!absent.contains(missing.get())) {
                absent.add(missing.get());
                err.println("mad perf: " + name + " is absent: " + missing.get().reason());
            }
        }
    }

    /** All wait modes. */
    String waitWords() {
        return waiting.stream().distinct().map(ComparisonOptions::word).collect(Collectors.joining(","));
    }

    private static String word(WaitMode wait) {
        return wait.name().toLowerCase(Locale.ROOT);
    }
}
