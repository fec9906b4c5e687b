package io.madeleine.bench;

import io.madeleine.api.SendMode;
import io.madeleine.bench.measure.Buffers;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.report.OutputFile;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.session.SessionInfo;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code mad tune}: measures the transmission modules of networks against each other and proposes the thresholds
 * between them.
 *
 * <p>Threading: confined to caller.
 */
@Command(
        name = TuneTool.NAME,
        header = "Measures on this machine which transmission module should take which block.",
        synopsisHeading = "Usage: ",
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "",
            "Two processes exchange messages of one block over a network, in turn by each of its transmission modules, such as"
                    + " the ring (sci/short), cells (sci/regular) and single copy (sci/dma) of shared memory, for each way in"
                    + " which the caches of two processors are"
                    + " shared here: round trips of a block that is sent back, of blocks of one's own that were not received before, and one"
                    + " end streaming; with --loaded once more while another process keeps"
                    + " one of the two processors busy. The times are shown beside those of a simple model, latency plus size"
                    + " over bandwidth, with the sizes at which one overtakes the other. Who is to take over has to be 5 %%"
                    + " faster wherever that was measured.",
            "",
        },
        optionListHeading = "Options:%n",
        footer = {
            "",
            "Exit codes:",
            "  0  all was measured",
            "  1  a network that was asked for is off, a measurement failed, or there is nothing to write",
            "  2  the command line is wrong",
            "",
            "Examples:",
            "  mad tune",
            "  mad tune --loaded --seconds 60",
            "  mad tune --protocol sci:few-cells --set tm.sci.providers.few-cells.regular.cells=4",
            "  mad tune --write tuned.conf && mad info --set tuned=tuned.conf",
            "  mad run -n 2 --set tuned=tuned.conf -- -cp app.jar Main",
        })
final class TuneCommand implements Callable<Integer> {
    private static final int ROUNDS = 3;

    private static final List<Pattern> PATTERNS = List.of(Pattern.LATENCY, Pattern.OSU_LATENCY, Pattern.BANDWIDTH);

    /** About how long it takes to start the processes of a mechanism. */
    private static final double START_S = 1.5;

    private static final double LEAST_ROW_S = 0.06;

    @Option(
            names = "--protocol",
            paramLabel = "NAME",
            split = ",",
            description =
                    "The networks, comma-separated: families, or one of a family's providers or adapters, as in sci:few-cells."
                            + " Default: all that are on.")
    List<String> protocols = new ArrayList<>();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "25",
            description = "About how long all of it may take; 5 to 3600. Default: ${DEFAULT-VALUE}.")
    double seconds;

    @Option(
            names = "--loaded",
            description = "Measures also beside a busy process, since a machine in use has fewer processors to spare.")
    boolean loaded;

    @Option(
            names = "--write",
            paramLabel = "FILE",
            description = "Writes the thresholds into this HOCON file, for the setting tuned or to be included.")
    Optional<Path> file = Optional.empty();

    @Mixin
    SettingOptions settings = new SettingOptions();

    @Mixin
    ToolOptions common = new ToolOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        if (!(seconds >= 5 && seconds <= 3600)) {
            throw new ParameterException(spec.commandLine(), "--seconds " + seconds + ": expected 5 to 3600");
        }
        file.ifPresent(wanted -> OutputFile.check(spec, "--write", wanted));
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        List<Candidate> candidates = new ArrayList<>();
        boolean complete = true;
        for (Network network : networks()) {
            if (!network.protocol().on()) {
                err.println("mad tune: " + network.title() + " is off: "
                        + network.protocol().availability().reason());
                complete &= protocols.isEmpty();
            } else {
                candidates.addAll(candidates(network, out, err));
            }
        }
        if (!complete) {
            return nothingProposed(out, err);
        }
        List<Tuning> tunings = new ArrayList<>();
        List<String> keys = new ArrayList<>();
        List<Optional<Cores>> pairs = candidates.isEmpty() ? List.of() : pairs(err);
        int runs = candidates.size() * pairs.size() * (loaded ? 2 : 1);
        for (Candidate candidate : candidates) {
            List<Tuning> its = new ArrayList<>();
            for (Optional<Cores> cores : pairs) {
                complete &= measure(candidate, cores, runs, its, where(candidate, cores));
                if (loaded) {
                    try (BusyProcess busy = BusyProcess.start(cores)) {
                        List<Tuning> beside = new ArrayList<>();
                        complete &=
                                measure(candidate, cores, runs, beside, where(candidate, cores) + ", one of them busy");
                        beside.forEach(tuning -> its.add(tuning.despiteNoise()));
                        complete &= busy.isAlive();
                    }
                }
            }
            if (!complete) {
                return nothingProposed(out, err);
            }
            its.forEach(tuning -> TuneTable.print(out, tuning));
            keys.addAll(Thresholds.settings(candidate.mechanisms, its));
            tunings.addAll(its);
        }
        if (!keys.isEmpty()) {
            propose(keys, tunings, out);
        }
        out.flush();
        if (keys.isEmpty() && file.isPresent()) {
            err.println("mad tune: there is nothing to write, so there is no " + file.get());
            return 1;
        }
        return 0;
    }

    private static int nothingProposed(PrintWriter out, PrintWriter err) {
        out.flush();
        err.println("mad tune: not everything could be measured, so nothing is proposed");
        return 1;
    }

    /** A network whose modules are measured against each other, for blocks of one mode. */
    private record Candidate(Network network, SendMode sendMode, List<Mechanism> mechanisms) {}

    private List<Network> networks() {
        List<String> arguments = settings.arguments();
        List<String> asked = protocols.isEmpty()
                ? SessionInfo.of(arguments).protocols().stream()
                        .map(SessionInfo.Protocol::name)
                        .toList()
                : protocols.stream().distinct().toList();
        try {
            return asked.stream().map(name -> Network.of(name, arguments)).toList();
        } catch (Network.UnknownNetworkException e) {
            throw new ParameterException(spec.commandLine(), "--protocol " + e.getMessage(), e);
        }
    }

    /** What can be measured of a network; reports it if there is nothing. */
    private List<Candidate> candidates(Network network, PrintWriter out, PrintWriter err) {
        List<TransmissionCapabilities> modules = network.protocol().modules();
        if (modules.size() < 2) {
            out.println(network.title() + ": nothing to tune, its only transmission module is "
                    + modules.getFirst().id());
            return List.of();
        }
        List<Mechanism> described = Mechanism.of(network.family());
        if (described.size() < 2) {
            out.println(network.title() + ": nothing to tune, its modules are not measured against each other");
            return List.of();
        }
        List<Candidate> candidates = new ArrayList<>();
        for (SendMode sendMode :
                described.stream().map(Mechanism::sendMode).distinct().toList()) {
            List<Mechanism> mechanisms = described.stream()
                    .filter(mechanism -> mechanism.sendMode() == sendMode)
                    .filter(mechanism -> canBeMeasured(network, mechanism, err))
                    .toList();
            if (mechanisms.size() < 2) {
                out.println(network.title() + ": nothing to tune for " + sendMode
                        + " blocks, one of its transmission modules alone can be measured");
            } else {
                candidates.add(new Candidate(network, sendMode, mechanisms));
            }
        }
        return candidates;
    }

    private boolean canBeMeasured(Network network, Mechanism mechanism, PrintWriter err) {
        Availability engine = settings.noNative() ? Availability.off("--no-native") : SingleCopyEngines.availability();
        if (mechanism.single() && !engine.on()) {
            err.println("mad tune: " + mechanism.id() + " is left out: " + engine.reason());
            return false;
        }
        if (!TuneSubject.isForced(network, mechanism, settings.arguments())) {
            err.println("mad tune: " + mechanism.id() + " is left out: the settings of " + network.title()
                    + " give it no blocks");
            return false;
        }
        return true;
    }

    /** Measures once, and adds the conclusions; returns whether everything could be measured. */
    private boolean measure(Candidate candidate, Optional<Cores> cores, int runs, List<Tuning> tunings, String where) {
        PrintWriter err = spec.commandLine().getErr();
        List<Mechanism> mechanisms = candidate.mechanisms;
        PerfRun run = run(mechanisms, runs, err);
        run.measure(mechanisms.stream()
                .map(mechanism -> TuneSubject.of(candidate.network, mechanism, cores, settings.setup(), err))
                .toList());
        for (Pattern pattern : PATTERNS) {
            tunings.add(Tuning.of(where, pattern, mechanisms, run.rows()));
        }
        return run.complete();
    }

    private static List<Optional<Cores>> pairs(PrintWriter err) {
        Optional<String> unavailable = Pinning.unavailable();
        if (unavailable.isPresent()) {
            err.println("mad tune: the processes are not pinned: " + unavailable.get());
            return List.of(Optional.empty());
        }
        return Cores.pairs(Pinning.processors()).stream().map(Optional::of).toList();
    }

    private PerfRun run(List<Mechanism> mechanisms, int runs, PrintWriter err) {
        long rows = Mechanism.sizes(mechanisms).stream()
                        .mapToLong(bytes -> mechanisms.stream()
                                .filter(mechanism -> mechanism.has(bytes))
                                .count())
                        .sum()
                * PATTERNS.size();
        double rowS = Math.max(LEAST_ROW_S, (seconds / runs - START_S * mechanisms.size()) / rows);
        return new PerfRun(
                new PerfRun.Plan(PATTERNS, Mechanism.sizes(mechanisms), rowS, ROUNDS, Buffers.SAME, false),
                new Calibration(),
                TuneTool.NAME,
                err);
    }

    private static String where(Candidate candidate, Optional<Cores> cores) {
        return candidate.network.title()
                + (candidate.sendMode == SendMode.CHEAPER ? ", " : ", " + candidate.sendMode + " blocks, ")
                + cores.map(pair -> "processors " + pair.first() + " and " + pair.second() + ", " + pair.relation())
                        .orElse("two processes where the system puts them");
    }

    private void propose(List<String> keys, List<Tuning> tunings, PrintWriter out) throws IOException {
        keys.forEach(out::println);
        if (tunings.stream().anyMatch(Tuning::noisy)) {
            out.println("The machine was too noisy: measure again when it is quiet.");
        }
        if (file.isPresent()) {
            List<String> lines = new ArrayList<>(List.of(
                    "# Measured by \"mad tune\" on " + Instant.now().truncatedTo(ChronoUnit.SECONDS) + ": "
                            + Machine.cpu()
                            + ", " + System.getProperty("os.name") + " " + System.getProperty("os.version") + ", JDK "
                            + Runtime.version(),
                    "# Between "
                            + String.join(
                                    "; ",
                                    tunings.stream()
                                            .map(Tuning::where)
                                            .distinct()
                                            .toList())
                            + ". It holds for this machine; use it by madeleine.tuned = FILE."));
            lines.addAll(keys);
            Files.write(file.get(), lines);
            out.println("written to " + file.get() + "; use it with --set tuned=" + file.get());
        }
    }
}
