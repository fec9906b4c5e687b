package io.madeleine.bench;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.bench.experiment.Variation;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.LineStream;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.measure.ResidentSubject;
import io.madeleine.session.JavaArguments;
import io.madeleine.session.LaunchPlan;
import io.madeleine.session.Launcher;
import io.madeleine.switching.SelectionTable;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One of our networks, in a session of two processes, or of several that send to one; nothing else is open.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
class ProtocolSubject extends ResidentSubject {
    /** How long the processes may take to end by themselves. */
    private static final long END_S = 5;

    private final Network network;
    private final Setup setup;
    private final Conditions conditions;
    private final PrintWriter err;

    /**
     * The settings of sessions, and what is exchanged in them.
     *
     * @param sessions as the user wants them, with what an experiment changes
     * @param variation what an experiment changes
     * @param cores where the processes are to run, if that is known
     * @param exchange what is exchanged
     */
    record Setup(Sessions sessions, Variation variation, Optional<Cores> cores, Exchange exchange) {
        /** The user's settings, with messages of the session's memory in all patterns but calls. */
        Setup(Sessions sessions) {
            this(sessions, Variation.PLAIN, Optional.empty(), Exchange.PLAIN);
        }

        /** The same settings with another exchange. */
        Setup with(Exchange other) {
            return new Setup(sessions, variation, cores, other);
        }

        /** The same settings with the change of an experiment. */
        Setup with(Variation change, Optional<Cores> place) {
            return new Setup(sessions.with(change.settings()), change, place, exchange);
        }

        /** The name that tells it from other variants; empty if it is the only one. */
        Optional<String> title() {
            String words = Stream.concat(
                            Stream.of(
                                            variation.name(),
                                            exchange.memory().title(),
                                            exchange.sendMode() == SendMode.CHEAPER
                                                    ? ""
                                                    : exchange.sendMode().name(),
                                            exchange.handled() ? "handler and wait" : "")
                                    .filter(name -> !name.isEmpty()),
                            cores.stream().map(Cores::relation))
                    .collect(Collectors.joining(", "));
            return words.isEmpty() ? Optional.empty() : Optional.of(words);
        }

        /** The environment of the processes. */
        Map<String, String> environment(Map<String, String> given) {
            Map<String, String> all = new HashMap<>(given);
            cores.ifPresent(pair -> all.put(Pinning.PROCESSORS, pair.processors()));
            return all;
        }

        /** The command line of a JVM that measures one of our networks, up to its main class. */
        List<String> java(Conditions conditions, Class<?> main) {
            List<String> java = new ArrayList<>(conditions.javaOptions());
            java.addAll(List.of("--illegal-native-access=deny", "--sun-misc-unsafe-memory-access=deny"));
            java.addAll(variation.javaOptions());
            java.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
            return java;
        }

        /** With Madeleine's modules. */
        List<String> withMadeleine(List<String> java, Network network) {
            return JavaArguments.withMadeleine(
                    java, sessions.nativeAccess() ? network.protocol().nativeModules() : List.of());
        }
    }

    /**
     * The settings with which sessions are opened.
     *
     * @param settings key=value each
     * @param configuration the configuration file
     * @param nativeAccess whether modules that want native access get it
     */
    record Sessions(List<String> settings, Optional<Path> configuration, boolean nativeAccess) {
        /** The same with further settings, which take precedence. */
        Sessions with(List<String> further) {
            List<String> all = new ArrayList<>(settings);
            all.addAll(further);
            return new Sessions(all, configuration, nativeAccess);
        }

        /** The settings as arguments of Session.open. */
        List<String> arguments() {
            List<String> arguments = new ArrayList<>(settings);
            configuration.ifPresent(file -> arguments.add("--conf=" + file));
            return arguments;
        }
    }

    /**
     * What is exchanged.
     *
     * @param calls whether there are calls to measure, for which the processes need another channel
     * @param handled whether messages are received by a handler, for which the measuring thread waits
     * @param memory in which memory messages are
     * @param sendMode in which mode blocks are sent
     * @param only the pattern that is measured alone; empty for all
     */
    record Exchange(boolean calls, boolean handled, MessageMemory memory, SendMode sendMode, Optional<Pattern> only) {
        /** Messages of the session's memory, in all patterns but calls. */
        static final Exchange PLAIN =
                new Exchange(false, false, MessageMemory.SESSION, SendMode.CHEAPER, Optional.empty());

        /** With or without calls. */
        Exchange withCalls(boolean wanted) {
            return new Exchange(wanted, handled, memory, sendMode, only);
        }

        /** The same with messages received by a handler, and no calls. */
        Exchange withHandler() {
            return new Exchange(false, true, memory, sendMode, only);
        }

        /** The same with messages in that memory, for one pattern or for all. */
        Exchange withMemory(MessageMemory where, Optional<Pattern> pattern) {
            return new Exchange(calls, handled, where, sendMode, pattern);
        }

        /** The same with blocks sent in this mode. */
        Exchange withSendMode(SendMode mode) {
            return new Exchange(calls, handled, memory, mode, only);
        }
    }

    ProtocolSubject(Network network, Setup setup, Conditions conditions, Variant variant, PrintWriter err) {
        super(Kind.PROTOCOL, network.title(), variant);
        this.network = network;
        this.setup = setup;
        this.conditions = conditions;
        this.err = err;
    }

    @Override
    public Optional<String> absence() {
        return Optional.empty();
    }

    @Override
    public boolean has(Pattern pattern, long bytes) {
        Exchange exchange = setup.exchange();
        if (exchange.only().isPresent() && exchange.only().get() != pattern) {
            return false;
        }
        if (exchange.handled()) {
            return pattern.computeNs() > 0 || pattern == Pattern.LATENCY;
        }
        return pattern.isOfMessages() || (pattern.isCall() && exchange.calls());
    }

    @Override
    public Optional<String> transmissionModule(long bytes) {
        return Optional.of(moduleFor(network, bytes, setup.exchange().sendMode()));
    }

    /** Which transmission module of a network takes a block of this size and mode. */
    static String moduleFor(Network network, long bytes, SendMode sendMode) {
        SelectionTable table = network.protocol().selection().orElseThrow();
        return table.modules()
                .get(table.select(bytes, sendMode, ReceiveMode.CHEAPER))
                .id();
    }

    @Override
    protected int ranks() {
        return 1 + setup.variation().senders();
    }

    @Override
    protected Running start(Map<String, String> environment) {
        LaunchPlan plan = plan().withEnvironment(setup.environment(environment));
        Launcher launcher = Launcher.start(plan, LineStream.to(err::println), LineStream.to(err::println));
        CountDownLatch ended = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> {
            try {
                launcher.await();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
            ended.countDown();
        });
        return new Running() {
            @Override
            public boolean alive() {
                return ended.getCount() > 0;
            }

            @Override
            public void close() {
                try {
                    if (!ended.await(END_S, TimeUnit.SECONDS)) {
                        err.println(tool() + ": the processes of " + name() + " do not end by themselves");
                    }
                } catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                }
                launcher.close();
            }
        };
    }

    /** The tool that measures. */
    String tool() {
        return PerfTool.NAME;
    }

    /** What the processes run. */
    Class<?> program() {
        return PerfProcess.class;
    }

    /** What it is told. */
    List<String> programArguments() {
        List<String> arguments = new ArrayList<>();
        if (conditions.pin()) {
            arguments.add(PerfProcess.PIN);
        }
        if (setup.exchange().handled()) {
            arguments.add(PerfProcess.HANDLED);
        }
        arguments.add(PerfProcess.MEMORY + setup.exchange().memory());
        arguments.add(PerfProcess.SEND_MODE + setup.exchange().sendMode());
        return arguments;
    }

    /** The channels that take the network. */
    List<String> channels() {
        return setup.exchange().calls() ? List.of(PerfProcess.CHANNEL, CallWire.CHANNEL) : List.of(PerfProcess.CHANNEL);
    }

    private LaunchPlan plan() {
        List<String> java = setup.java(conditions, program());
        java.addAll(programArguments());
        List<String> settings = new ArrayList<>(setup.sessions().settings());
        settings.addAll(network.settings());
        settings.add("networks=[" + network.family() + "]");
        channels().forEach(channel -> settings.addAll(network.ofChannel(channel)));
        if (setup.variation().settings().stream().noneMatch(one -> one.startsWith("wait.mode="))) {
            settings.add("wait.mode=" + conditions.waiting().name().toLowerCase(Locale.ROOT));
        }
        LaunchPlan plan = LaunchPlan.of(ranks(), setup.withMadeleine(java, network))
                .withSettings(settings)
                .withConduct(new LaunchPlan.Conduct(
                        LaunchPlan.Conduct.DEFAULT.onFailure(), false, false, LaunchPlan.Conduct.DEFAULT.grace()));
        return setup.sessions().configuration().map(plan::withConfiguration).orElse(plan);
    }
}
