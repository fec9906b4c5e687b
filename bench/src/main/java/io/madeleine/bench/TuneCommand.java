package io.madeleine.bench;

import io.madeleine.bench.measure.Buffers;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.report.OutputFile;
import io.madeleine.pmm.spi.Availability;
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
 * {@code mad tune}: measures the mechanisms of shared memory against each other and proposes the thresholds.
 *
 * <p>Threading: confined to caller.
 */
@Command(
        name = "mad tune",
        header = "Measures on this machine which transmission module should take which block.",
        synopsisHeading = "Usage: ",
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "",
            "Two processes exchange messages of one block through shared memory, in turn by the ring (sci/short), by cells"
                    + " (sci/regular) and by single copy (sci/dma), for each way in which the caches of two processors are"
                    + " shared here: round trips, and one end streaming; with --loaded once more while another process keeps"
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
            "  1  shared memory is off, or a measurement failed",
            "  2  the command line is wrong",
            "",
            "Examples:",
            "  mad tune",
            "  mad tune --loaded --seconds 60",
            "  mad tune --write tuned.conf && mad info --set tuned=tuned.conf",
            "  mad run -n 2 --set tuned=tuned.conf -- -cp app.jar Main",
        })
final class TuneCommand implements Callable<Integer> {
    private static final int ROUNDS = 3;

    private static final List<Pattern> PATTERNS = List.of(Pattern.LATENCY, Pattern.BANDWIDTH);

    /** What starting the processes of a mechanism takes about. */
    private static final double START_S = 1.5;

    private static final double LEAST_ROW_S = 0.06;

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
        Optional<SessionInfo.Protocol> sci =
                SessionInfo.of(settings.arguments()).protocol(TuneSubject.NETWORK);
        if (sci.isEmpty() || !sci.get().on()) {
            err.println("mad tune: sci is off: "
                    + sci.map(network -> network.availability().reason()).orElse("it is not on the path"));
            return 1;
        }
        List<Mechanism> mechanisms = mechanisms(err);
        List<Optional<Cores>> pairs = pairs(err);
        List<Tuning> tunings = new ArrayList<>();
        boolean complete = true;
        int runs = pairs.size() * (loaded ? 2 : 1);
        for (Optional<Cores> cores : pairs) {
            complete &= measure(mechanisms, cores, runs, tunings, where(cores));
            if (loaded) {
                try (BusyProcess busy = BusyProcess.start(cores)) {
                    List<Tuning> beside = new ArrayList<>();
                    complete &= measure(mechanisms, cores, runs, beside, where(cores) + ", one of them busy");
                    beside.forEach(tuning -> tunings.add(tuning.despiteNoise()));
                    complete &= busy.isAlive();
                }
            }
        }
        if (complete) {
            tunings.forEach(tuning -> TuneTable.print(out, tuning));
        }
        if (!complete) {
            err.println("mad tune: not everything could be measured, so nothing is proposed");
            return 1;
        }
        propose(Thresholds.of(tunings), tunings, out);
        return 0;
    }

    /** Measures once, and adds what follows from it; whether everything could be measured. */
    private boolean measure(
            List<Mechanism> mechanisms, Optional<Cores> cores, int runs, List<Tuning> tunings, String where) {
        PrintWriter err = spec.commandLine().getErr();
        PerfRun run = run(mechanisms, runs, err);
        run.measure(mechanisms.stream()
                .map(mechanism -> TuneSubject.of(mechanism, cores, settings.setup(), err))
                .toList());
        for (Pattern pattern : PATTERNS) {
            tunings.add(Tuning.of(where, pattern, run.rows()));
        }
        return run.complete();
    }

    private List<Mechanism> mechanisms(PrintWriter err) {
        Availability engine = settings.noNative() ? Availability.off("--no-native") : SingleCopyEngines.availability();
        if (!engine.on()) {
            err.println("mad tune: sci/dma is left out: " + engine.reason());
            return List.of(Mechanism.SHORT, Mechanism.REGULAR);
        }
        return List.of(Mechanism.values());
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
        long rows = Mechanism.sizes().stream()
                        .mapToLong(bytes -> mechanisms.stream()
                                .filter(mechanism -> mechanism.has(bytes))
                                .count())
                        .sum()
                * PATTERNS.size();
        double rowS = Math.max(LEAST_ROW_S, (seconds / runs - START_S * mechanisms.size()) / rows);
        return new PerfRun(
                new PerfRun.Plan(PATTERNS, Mechanism.sizes(), rowS, ROUNDS, Buffers.SAME, false),
                new Calibration(),
                err);
    }

    private static String where(Optional<Cores> cores) {
        return cores.map(pair -> "processors " + pair.first() + " and " + pair.second() + ", " + pair.relation())
                .orElse("two processes where the system puts them");
    }

    private void propose(Thresholds thresholds, List<Tuning> tunings, PrintWriter out) throws IOException {
        thresholds.settings().forEach(out::println);
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
            lines.addAll(thresholds.settings());
            Files.write(file.get(), lines);
            out.println("written to " + file.get() + "; use it with --set tuned=" + file.get());
        }
        out.flush();
    }
}
