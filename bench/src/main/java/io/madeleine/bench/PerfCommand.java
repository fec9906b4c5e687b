package io.madeleine.bench;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import io.madeleine.bench.experiment.Experiment;
import io.madeleine.bench.experiment.ExperimentOptions;
import io.madeleine.bench.history.HistoryOptions;
import io.madeleine.bench.measure.Buffers;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.report.OutputFile;
import io.madeleine.bench.report.ReportOptions;
import io.madeleine.session.SessionInfo;
import io.madeleine.session.SessionInfo.Protocol;
import io.madeleine.switching.SelectionTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * The options of {@code mad perf}, and the output of the results.
 *
 * <p>Threading: confined to caller.
 */
@Command(
        name = PerfTool.NAME,
        header = "Measures latency, bandwidth and message rate between two processes of this machine.",
        synopsisHeading = "Usage: ",
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "",
            "For each network, and each peer that is asked for, two processes exchange messages of one block, ours"
                    + " CHEAPER/CHEAPER through the public API. Each row is measured in several rounds, and in each"
                    + " round for all of them in turn, so that what else the machine does happens to all; the median is"
                    + " that of the rounds' medians. Contents are checked outside the time that counts. Progress goes"
                    + " to standard error, the table with minimum, median, 99th percentile, maximum and the spread of"
                    + " the rounds to standard output.",
            "",
            "  latency    half the time of a round trip, in us; a sample is a batch of round trips of at least 10 us",
            "  osu-latency  the same as the OSU benchmarks measure it: each sends a block of its own that it has not",
            "             touched and receives into another; ours from memory of the session, from plain native memory",
            "             and from the heap",
            "  bandwidth  one end streams, the other acknowledges the last message; MB/s, 1 MB is 10^6 bytes",
            "  rate       the same in messages per second",
            "  pingpong   the size over half the time of a round trip, in MB/s",
            "  send       how long sending takes while the receiver is busy elsewhere, in ns per message",
            "  receive    how long receiving a message that has arrived takes, in ns per message",
            "  incast     messages per second at one receiver, from --senders at once",
            "  compute-1ms, compute-5ms  half the time of one round trip, in us, after both have computed until an",
            "             instant that they agreed on, from which the time counts; ours also by a handler for which",
            "             the thread waits",
            "  rsr        half the time of a remote service request and its reply, in us, the argument echoed by a",
            "             handler that the receiving thread runs; rsr-vthread: by one in a virtual thread; rsr-typed:",
            "             by a method of a typed service; rsr-typed-rate: such calls per second, 64 under way; peers:",
            "             grpc-...",
            "  register   the time to register memory with a network and to end the registration, in us, by one process,",
            "             and a copy of as many bytes beside it; networks that have one-sided access (RemoteMemory): sci",
            "             and via, also with --set tm.via.pin=mlock; peers: fabric:PROVIDER, for via:PROVIDER unless",
            "             --peers says otherwise",
            "  goodput    one process sends to another over a line of 1 Gbit/s with a queue of 100 kB that loses 1 %% of",
            "             the datagrams, with round trips of 1 ms; the payload in percent of the line's rate. Needs root:",
            "             two network namespaces with a virtual line; networks with datagrams of their own: bip",
            "  goodput-incast  the same without losses and delays from 32 senders in two processes, all of which send",
            "             one message at the same time; networks between hosts: bip and tcp",
            "  mpi-latency, mpi-bandwidth, mpi-bibandwidth, mpi-rate  as the OSU benchmarks measure them, by a program",
            "             of MPI; ours in buffers of newByteBuffer, other direct ones, and arrays; peers: mpich and",
            "             openmpi, for networks other than sci and via over TCP, unless --peers says otherwise",
            "  mpi-pingpong  the size over half the time of a round trip, as NetPIPE measures it",
            "  mpi-posted-1000  as mpi-latency, behind 1,000 receives that wait for other messages",
            "  mpi-compute-1ms  as compute-1ms; mpi-rendezvous: until a send has ended whose receiver computes for 5 ms",
            "  mpi-barrier, mpi-bcast, mpi-gather, mpi-allreduce ...  a blocking collective operation of --ranks",
            "             processes; mpi-overlap: how much of MPI_Iallreduce hides behind computing, in percent",
            "",
        },
        optionListHeading = "Options:%n",
        footer = {
            "",
            "Exit codes:",
            "  0  everything that is on and installed was measured",
            "  1  nothing is on, or a measurement failed",
            "  2  the command line is wrong",
            "  3  --fail-on-regression, and something has become slower",
            "",
            "Examples:",
            "  mad perf --protocol sci,tcp --sizes 8,1024,64KiB --pattern latency",
            "  mad perf --pin --wait spin --seconds 1 --machine --json results.jsonl",
            "  mad perf --experiment madeleine2-fig5 --pin --wait spin --report fig5.html",
            "  mad perf --protocol sci,tcp --peers aeron-ipc,netty,c-tcp --sizes 8,4KiB,64KiB,1MiB",
            "  mad perf --protocol sci --layers --buffers rotate --usage --allocations",
            "  mad perf --beside ../before --protocol sci,tcp --pin --wait spin --rounds 6 --seconds 0.5",
            "  mad perf --from results.jsonl --report results.html --report results.csv",
            "  mad perf --pin --wait spin --save --compare --last 5 --fail-on-regression",
        })
final class PerfCommand implements Callable<Integer> {
    private static final long MAX_BYTES = 1 << 30;

    @Option(
            names = "--protocol",
            paramLabel = "NAME",
            split = ",",
            description =
                    "The networks to measure, as sci,tcp, or tcp:epoll for one of their adapters or providers (sets of"
                            + " settings that have a name, madeleine.tm.NAME.providers). Default: all that are on.")
    List<String> protocols = new ArrayList<>();

    @Option(
            names = "--sizes",
            paramLabel = "SIZE",
            split = ",",
            converter = Size.class,
            defaultValue = "8,64,256,1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB",
            description = "The sizes of the messages, as 8,1024,64KiB. Default: ${DEFAULT-VALUE}.")
    List<Long> sizes = new ArrayList<>();

    @Option(
            names = "--pattern",
            paramLabel = "PATTERN",
            split = ",",
            converter = PatternWord.class,
            defaultValue = "latency,bandwidth,rate",
            description = "What to measure. Default: ${DEFAULT-VALUE}.")
    List<Pattern> patterns = new ArrayList<>();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "1.2",
            description =
                    "How long a row takes over all rounds, a quarter of it to warm up, and on while a JVM still compiles;"
                            + " 0.05 to 600. Default:"
                            + " ${DEFAULT-VALUE}.")
    double seconds;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "How many times a row is measured; in each round all subjects are measured in turn. Default:"
                    + " ${DEFAULT-VALUE}.")
    int rounds;

    @Mixin
    ComparisonOptions comparison = new ComparisonOptions();

    @Option(names = "--pin", description = "Ties each process to a processor of its own, by taskset.")
    boolean pin;

    @Option(
            names = BesideRuns.OPTION,
            paramLabel = "DIR",
            description =
                    "Measures the build in this folder of Madeleine's sources, too, in turns with this one, and tells"
                            + " ratios: --rounds says how many turns, --seconds how long a row takes in each.")
    Optional<Path> beside = Optional.empty();

    @Option(
            names = "--json",
            paramLabel = "FILE|-",
            description = "Writes one JSON object per row into the file, or to standard output and nothing else there.")
    Optional<String> json = Optional.empty();

    @Option(
            names = "--machine",
            description =
                    "Begins the JSON with a row of kind machine: processor, versions, conditions, how quiet it was.")
    boolean describesMachine;

    @Option(
            names = "--allocations",
            description = "Shows how many bytes of heap the two measuring threads allocate per message.")
    boolean allocations;

    @Mixin
    SettingOptions settings = new SettingOptions();

    @Mixin
    ReportOptions reports = new ReportOptions();

    @Mixin
    HistoryOptions history = new HistoryOptions();

    @Mixin
    ExperimentOptions experiments = new ExperimentOptions();

    @Mixin
    ToolOptions common = new ToolOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        if (experiments.listed()) {
            return 0;
        }
        experiments.chosen().ifPresent(this::prepare);
        check(seconds >= 0.05 && seconds <= 600, "--seconds " + seconds + ": expected 0.05 to 600");
        check(rounds >= 1 && rounds <= 1000, "--rounds " + rounds + ": expected 1 to 1000");
        comparison.check();
        sizes.forEach(
                bytes -> check(bytes >= 1 && bytes <= MAX_BYTES, "--sizes " + bytes + ": expected 1 byte to 1GiB"));
        reports.check();
        history.check();
        json.filter(file -> !file.equals("-")).ifPresent(file -> OutputFile.check(spec, "--json", Path.of(file)));
        Optional<List<String>> kept = reports.kept();
        if (kept.isPresent()) {
            return finish(kept.get(), true);
        }
        if (beside.isPresent()) {
            return measureBeside(beside.get());
        }
        PrintWriter err = spec.commandLine().getErr();
        List<Network> on = networksThatAreOn(err);
        if (on.isEmpty()) {
            err.println("mad perf: no network is on, nothing to measure");
            return 1;
        }
        if (pin) {
            Pinning.unavailable().ifPresent(why -> err.println("mad perf: not pinned: " + why));
        }
        comparison.ownBlocks = patterns.stream().anyMatch(Pattern::isOfOwnBlocks);
        comparison.handlers = patterns.stream().anyMatch(pattern -> pattern.computeNs() > 0);
        List<Subject> subjects = new ArrayList<>();
        List<AbsentPeer> absent = new ArrayList<>();
        List<Network> plain = on(on, pattern -> pattern.isOfMessages() || pattern.isCall());
        List<Network> below = on(on, Pattern::isOfProgram);
        List<Network> alone = on(on, Pattern::isLocal);
        List<Network> apart = on(on, Pattern::isOfLine);
        comparison.addPeersOfMpi(below);
        if (plain.isEmpty() && below.isEmpty()) {
            comparison.addPeersOfRegistering(alone);
        }
        check(
                comparison.ranks == 2 || (plain.isEmpty() && alone.isEmpty() && apart.isEmpty()),
                "--ranks " + comparison.ranks + ": expected only patterns mpi-... with it");
        check(
                patterns.stream().allMatch(pattern -> pattern == Pattern.INCAST)
                        || comparison.senders.stream().allMatch(count -> count == 1),
                "--senders above 1: expected only the pattern incast with it");
        check(
                comparison.buffers == Buffers.SAME || (alone.isEmpty() && apart.isEmpty()),
                "--buffers " + comparison.buffers.word()
                        + ": expected same with the patterns register and goodput, which use the same memory each time");
        check(
                !pin || apart.isEmpty(),
                "--pin: the patterns goodput and goodput-incast leave the processors to the kernel, which carries each"
                        + " datagram from one end of the line to the other");
        for (Conditions conditions :
                comparison.conditions(pin && Pinning.unavailable().isEmpty())) {
            ProtocolSubject.Setup setup = settings.setup()
                    .with(ProtocolSubject.Exchange.PLAIN.withCalls(
                            patterns.stream().anyMatch(Pattern::isCall)));
            plain.forEach(network -> subjects.addAll(comparison.ofNetwork(network, setup, conditions, err)));
            below.forEach(network -> subjects.addAll(comparison.ofMpi(network, settings.setup(), conditions, err)));
            comparison.addRegistering(alone, settings.setup(), conditions, subjects, absent, err);
            comparison.addOverLines(apart, patterns, settings.setup(), conditions, subjects, absent, err);
            if (subjects.isEmpty()) {
                err.println("mad perf: none of the networks that are on has such a pattern here, nothing to measure");
                return 1;
            }
            comparison.addPeers(conditions, subjects, absent, err);
            comparison.addLockingPeers(conditions, subjects, err);
        }
        PerfRun run = new PerfRun(
                new PerfRun.Plan(patterns, sizes, seconds, rounds, comparison.buffers, comparison.usage),
                new Calibration(),
                PerfTool.NAME,
                err);
        run.measure(subjects);
        return report(run, machine(run, on), absent);
    }

    /** The networks that are on if there is such a pattern; none if not. */
    private List<Network> on(List<Network> all, Predicate<Pattern> such) {
        return patterns.stream().anyMatch(such) ? all : List.of();
    }

    private int measureBeside(Path home) throws IOException {
        check(
                BesideRuns.isHome(home),
                "--beside " + home + ": expected a folder of Madeleine's sources, with mad in it");
        List<String> given = spec.commandLine().getParseResult().originalArgs();
        for (String option : List.of("--report", "--save", "--compare", "--experiment", "--machine")) {
            check(
                    given.stream().noneMatch(word -> word.equals(option) || word.startsWith(option + "=")),
                    option + ": not together with --beside, which prints a table of ratios");
        }
        BesideRuns runs = new BesideRuns(home, given, spec.commandLine().getErr());
        return runs.measure(rounds, spec.commandLine().getOut()) ? 0 : 1;
    }

    private void prepare(Experiment experiment) {
        Experiment.SetUp setUp = experiment.setUp();
        protocols = experiments.given("--protocol") ? protocols : setUp.protocols();
        comparison.variations = setUp.variations();
        comparison.bindings = setUp.bindings();
        comparison.layers |= setUp.layers();
        comparison.peers = experiments.given("--peers") ? comparison.peers : setUp.peers();
        sizes = experiments.given("--sizes") ? sizes : setUp.sizes();
        patterns = experiments.given("--pattern")
                ? patterns
                : setUp.patterns().stream().map(Patterns::of).toList();
        reports.otherwise(Path.of(experiment.id() + ".html"));
    }

    private void check(boolean condition, String message) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    private List<Network> networksThatAreOn(PrintWriter err) throws IOException {
        List<String> asked = protocols.isEmpty()
                ? SessionInfo.of(settings.arguments()).protocols().stream()
                        .map(Protocol::name)
                        .toList()
                : protocols.stream().distinct().toList();
        List<Network> on = new ArrayList<>();
        for (Network network : asked.stream().map(this::network).toList()) {
            Protocol protocol = network.protocol();
            Optional<String> off = protocol.on()
                    ? Optional.empty()
                    : Optional.of(protocol.availability().reason());
            if (off.isEmpty() && settings.noNative()) {
                off = WithoutNativeAccess.whyOff(network, settings.arguments()).map(reason -> "--no-native: " + reason);
            }
            if (off.isPresent()) {
                err.println("mad perf: " + network.title() + " is off: " + off.get());
            } else {
                on.add(network);
            }
        }
        return on;
    }

    private Network network(String asked) {
        try {
            return Network.of(asked, settings.arguments());
        } catch (Network.UnknownNetworkException e) {
            throw new ParameterException(spec.commandLine(), "--protocol " + e.getMessage(), e);
        }
    }

    private Machine machine(PerfRun run, List<Network> on) {
        Map<String, List<String>> selection = new LinkedHashMap<>();
        for (Network network : on) {
            selection.put(
                    network.title(),
                    network.protocol().selection().map(SelectionTable::rows).orElse(List.of()).stream()
                            .map(row -> row.moduleId() + ": "
                                    + (row.toBytes() == Long.MAX_VALUE
                                            ? "from " + PerfTable.size(row.fromBytes())
                                            : "up to " + PerfTable.size(row.toBytes())))
                            .toList());
        }
        return new Machine(
                comparison.waitWords(),
                pin && Pinning.unavailable().isEmpty(),
                rounds,
                seconds,
                settings.words(),
                run.noise(),
                selection);
    }

    private int report(PerfRun run, Machine machine, List<AbsentPeer> absent) throws IOException {
        PerfRow.Extras extras = new PerfRow.Extras(allocations, comparison.usage);
        List<PerfRow> rows = run.rows();
        List<String> lines = new ArrayList<>(List.of(machine.json()));
        rows.forEach(row -> lines.add(row.json(extras)));
        run.failedRows().forEach(row -> lines.add(row.json()));
        absent.forEach(peer -> lines.add(peer.json()));
        experiments
                .chosen()
                .ifPresent(experiment -> lines.add(experiment.original().json()));
        List<String> wanted = describesMachine ? lines : lines.subList(1, lines.size());
        PrintWriter out = spec.commandLine().getOut();
        if (json.filter("-"::equals).isPresent()) {
            wanted.forEach(out::println);
            out.flush();
        } else {
            PerfTable.print(out, rows, extras);
            PerfTable.printFailed(out, run.failedRows());
            PerfTable.print(out, absent);
            MpiRatios.print(out, rows);
            RegisterRatios.print(out, rows);
            if (experiments.chosen().isPresent()) {
                SetupRatios.print(out, rows);
            }
            if (json.isPresent()) {
                Files.write(Path.of(json.get()), wanted, StandardCharsets.UTF_8);
            }
        }
        if (machine.calibration().most()) {
            spec.commandLine()
                    .getErr()
                    .println("mad perf: the machine was too noisy: "
                            + machine.calibration().rounds().size() + " of " + rounds
                            + " rounds were; do not trust these figures");
        }
        return finish(lines, run.complete());
    }

    /** Writes rows, just measured or kept. */
    private int finish(List<String> lines, boolean complete) throws IOException {
        reports.write(lines);
        boolean onlyJson = json.filter("-"::equals).isPresent();
        PrintWriter out =
                onlyJson ? spec.commandLine().getErr() : spec.commandLine().getOut();
        int code = history.finish(lines, reports.origin(), complete, out);
        return complete ? code : 1;
    }

    /** Patterns as people write them. */
    static final class PatternWord implements ITypeConverter<Pattern> {
        @Override
        public Pattern convert(String text) {
            try {
                return Patterns.of(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** Bytes as people write them. */
    static final class Size implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            try {
                return ConfigFactory.parseMap(Map.of("size", text)).getBytes("size");
            } catch (ConfigException e) {
                throw new TypeConversionException("'" + text + "' is no size: expected bytes, as 512, 64KiB or 1MiB");
            }
        }
    }
}
