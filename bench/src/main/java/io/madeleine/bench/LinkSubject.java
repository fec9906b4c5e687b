package io.madeleine.bench;

import io.madeleine.api.SendMode;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.LocalProcesses;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.ResidentSubject;
import io.madeleine.pmm.spi.PacketHeader;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * One of our networks without a session: its links.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
class LinkSubject extends ResidentSubject {
    final Network network;
    final ProtocolSubject.Setup setup;
    final Conditions conditions;
    final PrintWriter err;

    LinkSubject(Network network, ProtocolSubject.Setup setup, Conditions conditions, Variant variant, PrintWriter err) {
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
        return pattern.isOfMessages() && bytes <= PacketHeader.MAX_PAYLOAD_BYTES;
    }

    @Override
    public Optional<String> transmissionModule(long bytes) {
        return Optional.of(ProtocolSubject.moduleFor(network, bytes, SendMode.CHEAPER));
    }

    @Override
    protected Running start(Map<String, String> environment) {
        return LocalProcesses.start(
                IntStream.range(0, ranks())
                        .mapToObj(rank -> command(program(), arguments(rank)))
                        .toList(),
                setup.environment(withConfiguration(environment)),
                List.of(),
                err);
    }

    /** The program that the processes run. */
    Class<?> program() {
        return LinkProcess.class;
    }

    /** Its arguments before the settings. */
    List<String> arguments(int rank) {
        return List.of(
                network.family(),
                Integer.toString(rank),
                conditions.waiting().name(),
                Boolean.toString(conditions.pin()));
    }

    /** The environment, with the configuration file that the user has named. */
    final Map<String, String> withConfiguration(Map<String, String> environment) {
        Map<String, String> all = new HashMap<>(environment);
        setup.sessions()
                .configuration()
                .map(Path::toAbsolutePath)
                .ifPresent(file -> all.put(BareNetwork.FILE, file.toString()));
        return all;
    }

    /** The command of a process; the settings follow its arguments. */
    final List<String> command(Class<?> program, List<String> arguments) {
        List<String> java = setup.java(conditions, program);
        java.addAll(arguments);
        java.addAll(setup.sessions().settings());
        java.addAll(network.settings());
        java.addAll(network.ofChannel(PerfProcess.CHANNEL));
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(setup.withMadeleine(java, network));
        return command;
    }
}
