package io.madeleine.bench;

import io.madeleine.api.SendMode;
import io.madeleine.bench.experiment.Variation;
import io.madeleine.bench.measure.Buffers;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Line;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Subject.Variant;
import io.madeleine.bench.mpi.MpiBuffers;
import io.madeleine.bench.peer.Peers;
import io.madeleine.bench.report.Family;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.spi.Availability;
import java.io.IOException;
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
    private static final int MOST_SENDERS = 64;

    @Option(
            names = "--peers",
            paramLabel = "NAME",
            split = ",",
            description =
                    "Measures these beside our networks, see below, some with an argument, as openmpi:tcp; one that"
                            + " is not installed is told, with what to install.",
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
            names = "--memory",
            paramLabel = "KIND",
            split = ",",
            description = "In which memory messages of ours are: that of Session.allocate, for MPI of MPI.newByteBuffer"
                    + " (session), plain native memory (native) or arrays of the heap (heap); several are"
                    + " compared. Default: session, and all for the patterns osu-latency and mpi-....")
    List<MessageMemory> memories = new ArrayList<>();

    @Option(
            names = "--send-mode",
            paramLabel = "MODE",
            split = ",",
            description =
                    "In which mode blocks of ours are packed: CHEAPER, SAFER or LATER; several are compared. Default:"
                            + " CHEAPER.")
    List<SendMode> sendModes = new ArrayList<>();

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

    @Option(
            names = "--senders",
            paramLabel = "N",
            split = ",",
            description = "How many processes send to one in the pattern incast; several are compared. Default: 1.")
    List<Integer> senders = new ArrayList<>();

    @Option(
            names = "--ranks",
            paramLabel = "N",
            defaultValue = "2",
            description = "How many processes the patterns mpi-... have. Default: ${DEFAULT-VALUE}.")
    int ranks = 2;

    /** Whether a pattern compares messages that a handler receives with others. */
    boolean handlers;

    /** Whether a pattern compares memories. */
    boolean ownBlocks;

    /** What an experiment compares. */
    List<Variation> variations = List.of(Variation.PLAIN);

    /** Whether an experiment compares the ways in which processors share caches. */
    boolean bindings;

    @Spec(Target.MIXEE)
    CommandSpec spec = CommandSpec.create();

    /** All names. */
    static final class PeerNames extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        PeerNames() {
            super(Peers.words());
        }
    }

    /** Fails if a name is unknown or a number makes no sense. */
    void check() {
        for (int count : senders) {
            if (count < 1 || count > MOST_SENDERS) {
                throw new ParameterException(
                        spec.commandLine(), "--senders " + count + ": expected 1 to " + MOST_SENDERS);
            }
        }
        if (ranks < 2 || ranks > MOST_SENDERS) {
            throw new ParameterException(spec.commandLine(), "--ranks " + ranks + ": expected 2 to " + MOST_SENDERS);
        }
        if (layers && senders.stream().anyMatch(count -> count > 1)) {
            throw new ParameterException(
                    spec.commandLine(), "--senders above 1: the links (--layers) are of two processes");
        }
        for (String name : peers) {
            Peers.complaint(name).ifPresent(text -> {
                throw new ParameterException(spec.commandLine(), "--peers " + text);
            });
        }
    }

    /** One for each wait mode. */
    List<Conditions> conditions(boolean pin) {
        return waiting.stream()
                .distinct()
                .map(wait -> new Conditions(wait, pin, ranks))
                .toList();
    }

    /** The variant that distinguishes a subject under these conditions from others with its name. */
    private Variant variant(Conditions conditions, Optional<String> layer, Optional<String> setup) {
        boolean several = waiting.stream().distinct().count() > 1;
        return new Variant(several ? Optional.of(word(conditions.waiting())) : Optional.empty(), layer, setup);
    }

    /**
     * The variations of an experiment, or of as many senders as the user wants; those that are impossible here are left
     * out.
     */
    private List<Variation> variations(boolean nativeAccess, PrintWriter err) {
        if (!senders.isEmpty()) {
            return senders.stream().distinct().map(Variation::ofSenders).toList();
        }
        Availability engine = nativeAccess ? SingleCopyEngines.availability() : Availability.off("--no-native");
        List<Variation> left = new ArrayList<>();
        for (Variation variation : variations) {
            if (variation.singleCopy() && !engine.on()) {
                err.println("mad perf: '" + variation.name() + "' is left out: " + engine.reason());
            } else {
                left.add(variation);
            }
        }
        return left;
    }

    /** The processors to which processes are bound: a pair for each way to share caches, if that is compared. */
    private List<Optional<Cores>> places(Conditions conditions) {
        List<Optional<Cores>> places = bindings && conditions.pin()
                ? Cores.pairs(Pinning.processors()).stream().map(Optional::of).toList()
                : List.of();
        return places.isEmpty() ? List.of(Optional.empty()) : places;
    }

    /** One of our networks, once for each variation, place and layer that is compared. */
    List<Subject> ofNetwork(Network network, ProtocolSubject.Setup setup, Conditions conditions, PrintWriter err) {
        List<Subject> subjects = new ArrayList<>();
        for (Optional<Cores> place : places(conditions)) {
            for (Variation variation : variations(setup.sessions().nativeAccess(), err)) {
                ProtocolSubject.Setup changed = setup.with(variation, place);
                Network changedNetwork = network.with(variation, changed);
                for (ProtocolSubject.Setup inMemory : memories(changed)) {
                    for (SendMode sendMode : sendModes.isEmpty() ? List.of(SendMode.CHEAPER) : sendModes) {
                        ProtocolSubject.Setup inMode =
                                inMemory.with(inMemory.exchange().withSendMode(sendMode));
                        subjects.addAll(ofLayers(changedNetwork, inMode, conditions, err));
                    }
                }
                if (handlers) {
                    ProtocolSubject.Setup handled =
                            changed.with(changed.exchange().withHandler());
                    Variant variant = variant(conditions, Optional.empty(), handled.title());
                    subjects.add(new ProtocolSubject(changedNetwork, handled, conditions, variant, err));
                }
            }
        }
        return subjects;
    }

    /** Once for each memory that is compared. */
    private List<ProtocolSubject.Setup> memories(ProtocolSubject.Setup setup) {
        List<ProtocolSubject.Setup> setups = new ArrayList<>();
        for (MessageMemory memory : MessageMemory.values()) {
            if (memories.isEmpty() ? memory == MessageMemory.SESSION : memories.contains(memory)) {
                setups.add(setup.with(setup.exchange().withMemory(memory, Optional.empty())));
            } else if (memories.isEmpty() && ownBlocks) {
                setups.add(setup.with(setup.exchange().withMemory(memory, Optional.of(Pattern.OSU_LATENCY))));
            }
        }
        return setups;
    }

    /** A program of MPI over a network of ours, once for each kind of buffers that is compared. */
    List<Subject> ofMpi(Network network, ProtocolSubject.Setup setup, Conditions conditions, PrintWriter err) {
        List<Subject> subjects = new ArrayList<>();
        for (MessageMemory memory : MessageMemory.values()) {
            if (memories.isEmpty() || memories.contains(memory)) {
                MpiBuffers buffers = memory.mpiBuffers();
                Variant variant = variant(conditions, Optional.empty(), Optional.of("mpi, " + buffers.title()));
                subjects.add(new MpiSubject(network, setup, buffers, conditions, variant, err));
            }
        }
        return subjects;
    }

    /** Adds what one process of each network does alone; a network that cannot do it is absent. */
    void addRegistering(
            List<Network> networks,
            ProtocolSubject.Setup setup,
            Conditions conditions,
            List<? super Subject> there,
            List<AbsentPeer> absent,
            PrintWriter err)
            throws IOException {
        Registering registering =
                new Registering(conditions, title -> variant(conditions, Optional.empty(), title), absent, err);
        List<Variation> compared = variations(setup.sessions().nativeAccess(), err);
        for (Network network : networks) {
            registering.addNetwork(network, compared, setup);
        }
        there.addAll(registering.subjects());
    }

    /** Networks with a line between two hosts, once for each such pattern; a network that cannot do it is absent. */
    void addOverLines(
            List<Network> networks,
            List<Pattern> patterns,
            ProtocolSubject.Setup setup,
            Conditions conditions,
            List<? super Subject> there,
            List<AbsentPeer> absent,
            PrintWriter err) {
        Optional<String> noLine = networks.isEmpty() ? Optional.empty() : Line.absence();
        for (Network network : networks) {
            for (Pattern pattern :
                    patterns.stream().filter(Pattern::isOfLine).distinct().toList()) {
                Optional<String> refusal = noLine.or(() -> LineSubject.refusal(network, setup, pattern));
                if (refusal.isPresent()) {
                    String reason = refusal.get();
                    err.println("mad perf: " + network.title() + " is not measured: " + reason);
                    absent.add(new AbsentPeer(network.title(), reason));
                } else {
                    Variant variant = variant(conditions, Optional.empty(), Optional.empty());
                    there.add(new LineSubject(network, setup, conditions, variant, pattern, err));
                }
            }
        }
    }

    /** If a network locks pages, adds the peers that can lock pages, too, a second time. */
    void addLockingPeers(Conditions conditions, List<Subject> there, PrintWriter err) {
        if (there.stream().noneMatch(subject -> RegisterSubject.isLocked(subject.variant()))) {
            return;
        }
        Variant locked = variant(conditions, Optional.empty(), Optional.of(RegisterSubject.LOCKED));
        for (String name : namesOfPeers()) {
            Subject peer = Peers.subject(name, conditions.locking(), locked, err);
            if (peer.has(Pattern.REGISTER, 1) && peer.absence().isEmpty()) {
                there.add(peer);
            }
        }
    }

    /** If the user names no peers, registrations over a provider of libfabric are compared with a program in C. */
    void addPeersOfRegistering(List<Network> networks) {
        if (peers.isEmpty()) {
            peers.addAll(networks.stream()
                    .map(network -> "fabric:" + Network.provider(network.title()))
                    .filter(peer -> Peers.complaint(peer).isEmpty())
                    .toList());
        }
    }

    /** If the user names no peers, MPI is compared with the MPIs in C that go the same way. */
    void addPeersOfMpi(List<Network> networks) {
        if (!peers.isEmpty()) {
            return;
        }
        for (Network network : networks) {
            boolean isMemory = Family.of(true, network.title()) == Family.MEMORY;
            peers.addAll(isMemory ? List.of("mpich", "openmpi") : List.of("mpich-tcp", "openmpi-tcp"));
        }
    }

    private List<Subject> ofLayers(
            Network network, ProtocolSubject.Setup setup, Conditions conditions, PrintWriter err) {
        Optional<String> title = setup.title();
        if (!layers
                || setup.exchange().sendMode() != SendMode.CHEAPER
                || setup.exchange().memory()
                        != MessageMemory.SESSION) { // the links are measured with what suits them best
            Variant plain = variant(conditions, Optional.empty(), title);
            return List.of(new ProtocolSubject(network, setup, conditions, plain, err));
        }
        return List.of(
                new LinkSubject(network, setup, conditions, variant(conditions, Optional.of("tm"), title), err),
                new ProtocolSubject(
                        network, setup, conditions, variant(conditions, Optional.of("channel"), title), err));
    }

    /** Adds the peers that are installed, and says why the others are absent. */
    void addPeers(Conditions conditions, List<? super Subject> there, List<AbsentPeer> absent, PrintWriter err) {
        for (String name : namesOfPeers()) {
            Subject peer =
                    Peers.subject(name, conditions, variant(conditions, Optional.empty(), Optional.empty()), err);
            Optional<AbsentPeer> missing = peer.absence().map(reason -> new AbsentPeer(name, reason));
            if (missing.isEmpty()) {
                there.add(peer);
            } else if (!absent.contains(missing.get())) {
                absent.add(missing.get());
                err.println("mad perf: " + name + " is absent: " + missing.get().reason());
            }
        }
    }

    private List<String> namesOfPeers() {
        return peers.stream()
                .flatMap(word -> Peers.expand(word).stream())
                .distinct()
                .toList();
    }

    /** All wait modes. */
    String waitWords() {
        return waiting.stream().distinct().map(ComparisonOptions::word).collect(Collectors.joining(","));
    }

    private static String word(WaitMode wait) {
        return wait.name().toLowerCase(Locale.ROOT);
    }
}
