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
 * One of our networks, in a session of two processes, or more that send to one, with nothing else open.
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
     * How sessions are to be.
     *
     * @param settings key=value each
     * @param configuration the configuration file
     * @param nativeAccess whether modules that want native access get it
     * @param variation what an experiment changes
     * @param cores where the processes are to run, if that is known
     * @param calls whether there are calls to measure, for which the processes need another channel
     * @param handled whether messages are received by a handler, for which the measuring thread waits
     * @param memory in which memory messages are
     * @param only the pattern that is measured alone; empty for all
     */
    record Setup(
            List<String> settings,
            Optional<Path> configuration,
            boolean nativeAccess,
            Variation variation,
            Optional<Cores> cores,
            boolean calls,
            boolean handled,
            MessageMemory memory,
            Optional<Pattern> only) {
        /** As the user wants them. */
        Setup(List<String> settings, Optional<Path> configuration, boolean nativeAccess) {
            this(
                    settings,
                    configuration,
                    nativeAccess,
                    Variation.PLAIN,
                    Optional.empty(),
                    false,
                    false,
                    MessageMemory.SESSION,
                    Optional.empty());
        }

        /** With or without calls. */
        Setup withCalls(boolean wanted) {
            return new Setup(settings, configuration, nativeAccess, variation, cores, wanted, handled, memory, only);
        }

        /** The same with messages received by a handler. */
        Setup withHandler() {
            return new Setup(settings, configuration, nativeAccess, variation, cores, false, true, memory, only);
        }

        /** The same with messages in that memory, for one pattern or for all. */
        Setup withMemory(MessageMemory where, Optional<Pattern> pattern) {
            return new Setup(settings, configuration, nativeAccess, variation, cores, calls, handled, where, pattern);
        }

        /** With what an experiment changes. */
        Setup with(Variation change, Optional<Cores> place) {
            List<String> all = new ArrayList<>(settings);
            all.addAll(change.settings());
            return new Setup(all, configuration, nativeAccess, change, place, calls, handled, memory, only);
        }

        /** What a session of this setup is opened with. */
        List<String> arguments() {
            List<String> arguments = new ArrayList<>(settings);
            configuration.ifPresent(file -> arguments.add("--conf=" + file));
            return arguments;
        }

        /** What this is called beside others; empty if it is the only one. */
        Optional<String> title() {
            String words = Stream.concat(
                            Stream.of(variation.name(), memory.title(), handled ? "handler and wait" : "")
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

        /** What a JVM is given that measures one of our networks, up to its main class. */
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
                    java, nativeAccess ? network.protocol().nativeModules() : List.of());
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
        if (setup.only().isPresent() && setup.only().get() != pattern) {
            return false;
        }
        if (setup.handled()) {
            return pattern.computeNs() > 0 || pattern == Pattern.LATENCY;
        }
        return !pattern.isCall() || setup.calls();
    }

    @Override
    public Optional<String> transmissionModule(long bytes) {
        return Optional.of(moduleFor(network, bytes));
    }

    /** Which transmission module of a network takes a block of this size. */
    static String moduleFor(Network network, long bytes) {
        SelectionTable table = network.protocol().selection().orElseThrow();
        return table.modules()
                .get(table.select(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER))
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
                        err.println("mad perf: the processes of " + name() + " do not end by themselves");
                    }
                } catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                }
                launcher.close();
            }
        };
    }

    private LaunchPlan plan() {
        List<String> java = setup.java(conditions, PerfProcess.class);
        if (conditions.pin()) {
            java.add(PerfProcess.PIN);
        }
        if (setup.handled()) {
            java.add(PerfProcess.HANDLED);
        }
        java.add(PerfProcess.MEMORY + setup.memory());
        List<String> settings = new ArrayList<>(setup.settings());
        settings.addAll(network.settings());
        settings.add("networks=[" + network.family() + "]");
        settings.addAll(network.ofChannel(PerfProcess.CHANNEL));
        if (setup.calls()) {
            settings.addAll(network.ofChannel(CallWire.CHANNEL));
        }
        if (setup.variation().settings().stream().noneMatch(one -> one.startsWith("wait.mode="))) {
            settings.add("wait.mode=" + conditions.waiting().name().toLowerCase(Locale.ROOT));
        }
        LaunchPlan plan = LaunchPlan.of(ranks(), setup.withMadeleine(java, network))
                .withSettings(settings)
                .withConduct(new LaunchPlan.Conduct(
                        LaunchPlan.Conduct.DEFAULT.onFailure(), false, false, LaunchPlan.Conduct.DEFAULT.grace()));
        return setup.configuration().map(plan::withConfiguration).orElse(plan);
    }
}
