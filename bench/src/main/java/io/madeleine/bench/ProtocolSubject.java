package io.madeleine.bench;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.LineStream;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.ResidentSubject;
import io.madeleine.session.JavaArguments;
import io.madeleine.session.LaunchPlan;
import io.madeleine.session.Launcher;
import io.madeleine.session.SessionInfo.Protocol;
import io.madeleine.switching.SelectionTable;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One of our networks, in a session of two processes that has nothing else open.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
class ProtocolSubject extends ResidentSubject {
    /** How long the processes may take to end by themselves. */
    private static final long END_S = 5;

    private final Protocol protocol;
    private final Setup setup;
    private final Conditions conditions;
    private final PrintWriter err;

    /**
     * How the user wants sessions to be.
     *
     * @param settings key=value each
     * @param configuration the configuration file
     * @param nativeAccess whether modules that want native access get it
     */
    record Setup(List<String> settings, Optional<Path> configuration, boolean nativeAccess) {
        /** What a JVM is given that measures one of our networks, up to its main class. */
        List<String> java(Conditions conditions, Class<?> main) {
            List<String> java = new ArrayList<>(conditions.javaOptions());
            java.addAll(List.of("--illegal-native-access=deny", "--sun-misc-unsafe-memory-access=deny"));
            java.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
            return java;
        }

        /** With Madeleine's modules. */
        List<String> withMadeleine(List<String> java, Protocol protocol) {
            return JavaArguments.withMadeleine(java, nativeAccess ? protocol.nativeModules() : List.of());
        }
    }

    ProtocolSubject(Protocol protocol, Setup setup, Conditions conditions, Variant variant, PrintWriter err) {
        super(Kind.PROTOCOL, protocol.name(), variant);
        this.protocol = protocol;
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
        return true;
    }

    @Override
    public Optional<String> transmissionModule(long bytes) {
        return Optional.of(moduleFor(protocol, bytes));
    }

    /** Which transmission module of a network takes a block of this size. */
    static String moduleFor(Protocol protocol, long bytes) {
        SelectionTable table = protocol.selection().orElseThrow();
        return table.modules()
                .get(table.select(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER))
                .id();
    }

    @Override
    protected Running start(Map<String, String> environment) {
        LaunchPlan plan = plan().withEnvironment(environment);
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
        List<String> settings = new ArrayList<>(setup.settings());
        settings.add("networks=[" + protocol.name() + "]");
        settings.add("channels." + PerfProcess.CHANNEL + ".network=" + protocol.name());
        settings.add("wait.mode=" + conditions.waiting().name().toLowerCase(Locale.ROOT));
        LaunchPlan plan = LaunchPlan.of(
                        2,
                        JavaArguments.withMadeleine(java, setup.nativeAccess() ? protocol.nativeModules() : List.of()))
                .withSettings(settings)
                .withConduct(new LaunchPlan.Conduct(
                        LaunchPlan.Conduct.DEFAULT.onFailure(), false, false, LaunchPlan.Conduct.DEFAULT.grace()));
        return setup.configuration().map(plan::withConfiguration).orElse(plan);
    }
}
