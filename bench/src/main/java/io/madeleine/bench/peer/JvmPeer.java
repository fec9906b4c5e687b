package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.LocalProcesses;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.ResidentSubject;
import io.madeleine.bench.measure.Wire;
import io.madeleine.bench.peer.Peer.Asked;
import io.madeleine.pmm.WaitMode;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * A peer that runs in two JVMs.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
final class JvmPeer extends ResidentSubject {
    /** Nothing special. */
    static final Library PLAIN = new Library(List.of(), Optional.empty());

    /** The options that make Netty fast. */
    static final Library NETTY = new Library(
            List.of(
                    "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow",
                    "-Dio.netty.noUnsafe=false",
                    "-Dio.netty.leakDetection.level=disabled",
                    "-Dio.netty.buffer.checkBounds=false",
                    "-Dio.netty.buffer.checkAccessible=false"),
            Optional.empty());

    /** The options of gRPC's Netty: native access for epoll. */
    static final Library GRPC = new Library(
            List.of(
                    "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow",
                    "-Dio.grpc.netty.shaded.io.netty.leakDetection.level=disabled"),
            Optional.empty());

    /** The options that Aeron and Agrona need to run, and to be fast. */
    static final Library AERON = new Library(
            List.of(
                    "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow",
                    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
                    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                    "--add-opens=java.base/java.util.zip=ALL-UNNAMED",
                    "-Dagrona.disable.bounds.checks=true",
                    "-Dagrona.strict.alignment.checks=false",
                    "-Daeron.print.configuration=false"),
            Optional.of(new Space(Path.of("/dev/shm"), 2L << 30)));

    private final Asked asked;
    private final Kit kit;
    private final Conditions conditions;
    private final PrintWriter err;
    private final String folder = "/dev/shm/madeleine-perf-" + UUID.randomUUID();

    /**
     * What it takes.
     *
     * @param summary what it is, in a few words
     * @param library what its JVMs are given
     * @param arguments what may stand behind its name
     * @param patterns which it has
     * @param pinned whether each process has one thread that is busy, which can be tied to a processor
     * @param opener opens its ends
     */
    record Kit(
            String summary,
            Library library,
            List<String> arguments,
            Predicate<Pattern> patterns,
            boolean pinned,
            Opener opener) {}

    /** Opens an end. */
    @FunctionalInterface
    interface Opener {
        /** What the ends have to know of each other goes over the line. */
        Wire open(End end, ControlLine line) throws Exception;
    }

    /**
     * One of the two processes.
     *
     * @param rank which one
     * @param waiting how it waits
     * @param folder the name of a folder that it may make
     * @param argument what stood behind the peer's name
     */
    record End(int rank, WaitMode waiting, String folder, String argument) {}

    /** What the JVMs of a library are given, and what it needs. */
    record Library(List<String> javaOptions, Optional<Space> space) {}

    /** The room that a folder must have. */
    record Space(Path folder, long bytes) {
        Optional<String> missing() {
            try {
                if (Files.getFileStore(folder).getUsableSpace() >= bytes) {
                    return Optional.empty();
                }
                return Optional.of("it needs " + (bytes >> 20) + " MiB free in " + folder);
            } catch (IOException _) {
                return Optional.of("it needs the folder " + folder + ", which is not there");
            }
        }
    }

    JvmPeer(Asked asked, Kit kit, Conditions conditions, Variant variant, PrintWriter err) {
        super(Kind.PEER, asked.word(), variant);
        this.asked = asked;
        this.kit = kit;
        this.conditions = conditions;
        this.err = err;
    }

    @Override
    public Optional<String> absence() {
        return kit.library().space().flatMap(Space::missing);
    }

    @Override
    public boolean has(Pattern pattern, long bytes) {
        return kit.patterns().test(pattern);
    }

    @Override
    protected Running start(Map<String, String> environment) {
        return LocalProcesses.start(
                IntStream.range(0, 2).mapToObj(this::command).toList(), environment, folders(), err);
    }

    /** What the processes may leave behind: they delete it themselves, unless they are killed. */
    private List<Path> folders() {
        return kit.library().space().isEmpty() ? List.of() : List.of(Path.of(folder + "-0"), Path.of(folder + "-1"));
    }

    private List<String> command(int rank) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(conditions.javaOptions());
        command.addAll(kit.library().javaOptions());
        command.addAll(List.of("-cp", classPath(), PeerProcess.class.getName()));
        command.addAll(List.of(
                asked.word(),
                Integer.toString(rank),
                conditions.waiting().name(),
                Boolean.toString(conditions.pin()),
                folder));
        return command;
    }

    /** Everything this JVM has, modules or not. */
    private static String classPath() {
        String classes = System.getProperty("java.class.path");
        String modules =
                Optional.ofNullable(System.getProperty("jdk.module.path")).orElse("");
        List<String> entries = new ArrayList<>(List.of(classes));
        for (String entry : modules.split(File.pathSeparator, -1)) {
            if (!entry.isEmpty()) {
                entries.add(Files.isDirectory(Path.of(entry)) ? entry + File.separator + "*" : entry);
            }
        }
        return String.join(File.pathSeparator, entries);
    }
}
