package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Subject.Variant;
import io.madeleine.bench.peer.NativePeer.Kit;
import io.madeleine.bench.peer.Peer.Asked;
import io.madeleine.bench.peer.Peer.Maker;
import io.madeleine.pmm.spi.Suggestions;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * All peers there are, by name.
 *
 * <p>Threading: stateless.
 */
public final class Peers {
    private static final Map<String, Peer> ALL = all();

    private Peers() {}

    private static Map<String, Peer> all() {
        List<Peer> peers = new ArrayList<>();
        JvmKits.ALL.forEach((name, kit) -> peers.add(new Peer(
                name,
                kit.summary(),
                kit.arguments(),
                (asked, where, variant, err) -> new JvmPeer(asked, kit, where, variant, err))));
        peers.add(program("c-tcp", "non-blocking TCP sockets in C", "tcp", "blocking"));
        peers.add(preset("c-tcp-blocking", "blocking TCP sockets in C, whatever --wait says", "tcp", "blocking"));
        peers.add(program("c-udp", "non-blocking UDP sockets in C, with a window, without repetition", "udp"));
        peers.add(program(
                "c-shm",
                "two copies through shared memory in C, pipelined: a lower bound for two copies",
                "shm",
                "streaming",
                "single-copy"));
        peers.add(preset(
                "c-shm-streaming", "the same in C, the receiver's copy with streaming stores", "shm", "streaming"));
        peers.add(preset("c-cma", "in C with a single copy, process_vm_readv, from 32 KiB on", "shm", "single-copy"));
        peers.add(program(
                "c-shm-handler",
                "shared memory in C, with a thread that handles messages while the program computes; round trips only",
                "handler"));
        peers.add(mpi("mpich", "MPICH with its defaults", Kit.MPICH, MpiLauncher.MPICH));
        peers.add(fixed("mpich-tcp", "MPICH over TCP", Kit.MPICH, MpiLauncher.MPICH, "tcp"));
        peers.add(mpi("openmpi", "Open MPI with its defaults", Kit.OPEN_MPI, MpiLauncher.OPEN_MPI));
        peers.add(fixed("openmpi-tcp", "Open MPI over TCP", Kit.OPEN_MPI, MpiLauncher.OPEN_MPI, "tcp"));
        peers.add(new Peer(
                Fabric.NAME,
                "libfabric in C, the fastest of three ways; of all providers here if none is named",
                Fabric.PROVIDERS,
                (asked, where, variant, err) -> new NativePeer(
                        asked.word(), Kit.fabric(asked.argument(), where.locks()), where, variant, err)));
        peers.add(new Peer(
                PingPong.NAME,
                "libfabric's own test of round trips over shm; pattern latency",
                Fabric.PROVIDERS,
                PingPong::new));
        Map<String, Peer> byName = new LinkedHashMap<>();
        peers.forEach(peer -> byName.put(peer.name(), peer));
        return byName;
    }

    /** A program in C that is told what its argument says. */
    private static Peer program(String name, String summary, String wire, String... arguments) {
        return new Peer(name, summary, List.of(arguments), (asked, where, variant, err) -> {
            String[] options = asked.hasArgument() ? new String[] {asked.argument()} : new String[0];
            return new NativePeer(asked.word(), Kit.plain(wire, options), where, variant, err);
        });
    }

    /** A program in C that is always told the same. */
    private static Peer preset(String name, String summary, String wire, String option) {
        return new Peer(
                name,
                summary,
                List.of(),
                (asked, where, variant, err) ->
                        new NativePeer(asked.word(), Kit.plain(wire, option), where, variant, err));
    }

    /** An MPI, whose argument is one of the launcher's ways. */
    private static Peer mpi(String name, String summary, Kit kit, Map<String, MpiLauncher> ways) {
        return new Peer(
                name,
                summary,
                ways.keySet().stream().filter(way -> !way.isEmpty()).toList(),
                (asked, where, variant, err) ->
                        new NativePeer(asked.word(), kit.with(way(ways, asked.argument())), where, variant, err));
    }

    /** An MPI that always goes the same way. */
    private static Peer fixed(String name, String summary, Kit kit, Map<String, MpiLauncher> ways, String way) {
        Maker maker = (asked, where, variant, err) ->
                new NativePeer(asked.word(), kit.with(way(ways, way)), where, variant, err);
        return new Peer(name, summary, List.of(), maker);
    }

    private static MpiLauncher way(Map<String, MpiLauncher> ways, String name) {
        return Objects.requireNonNull(ways.get(name), name);
    }

    /** The peers that a name stands for: itself, but for one that stands for all providers that are here. */
    public static List<String> expand(String word) {
        return word.equals(Fabric.NAME) ? Fabric.all() : List.of(word);
    }

    /** What is wrong with a peer that was asked for, {@code NAME} or {@code NAME:ARGUMENT}; empty if nothing is. */
    public static Optional<String> complaint(String word) {
        Asked asked = new Asked(word);
        Peer peer = ALL.get(asked.name());
        if (peer == null) {
            return Optional.of(word + ": there is no such peer, expected some of " + String.join(",", words())
                    + Suggestions.didYouMean(asked.name(), words()));
        }
        if (!asked.hasArgument() || peer.arguments().contains(asked.argument())) {
            return Optional.empty();
        }
        return Optional.of(word + ": " + peer.name()
                + (peer.arguments().isEmpty()
                        ? " takes nothing behind its name"
                        : " takes one of " + String.join(", ", peer.arguments())
                                + Suggestions.didYouMean(asked.argument(), peer.arguments())));
    }

    /** All names. */
    public static List<String> words() {
        return List.copyOf(ALL.keySet());
    }

    /** All of them. */
    public static List<Peer> list() {
        return List.copyOf(ALL.values());
    }

    /**
     * Creates a subject that is measured under these conditions; what it prints goes to {@code err}.
     *
     * @param word a peer of which there is no {@link #complaint}
     */
    public static Subject subject(String word, Conditions conditions, Variant variant, PrintWriter err) {
        Asked asked = new Asked(word);
        Peer peer = Objects.requireNonNull(ALL.get(asked.name()), word);
        return peer.maker().subject(asked, conditions, variant, err);
    }
}
