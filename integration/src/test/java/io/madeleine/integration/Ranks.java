package io.madeleine.integration;

import io.madeleine.session.OnFailure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * What is to run: a program (a class with a {@code main}) as so many processes, which find each other through a list of
 * hosts or, with {@link #launched}, through a launcher. Start from {@link #of} and change what is to differ.
 *
 * <p>Threading: immutable.
 *
 * @param count how many processes
 * @param program the class with the main method
 * @param arguments what is given to it
 * @param settings {@code key=value} of the session
 * @param javaOptions options of the JVMs, in addition to those that shut the restricted doors
 * @param onFailure of the launcher; empty for a list of hosts
 * @param hosts the list of hosts; empty for a free port of the loopback interface, "none" for no session at all
 * @param prefix what stands before {@code java} on the command line, by rank
 * @param classPath the class path
 */
record Ranks(
        int count,
        Class<?> program,
        List<String> arguments,
        List<String> settings,
        List<String> javaOptions,
        Optional<OnFailure> onFailure,
        List<String> hosts,
        IntFunction<List<String>> prefix,
        String classPath) {
    private static final List<String> CORE_FLAGS =
            List.of("--illegal-native-access=deny", "--sun-misc-unsafe-memory-access=deny");

    /**
     * The serial collector and one compiler: several JVMs that start at once leave the two processors to the program.
     */
    private static final List<String> LIGHT = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private static final List<String> OPTIMIZING = List.of("-XX:+UseSerialGC");

    /** So many processes of a program. */
    static Ranks of(int count, Class<?> program) {
        return new Ranks(
                count,
                program,
                List.of(),
                List.of(),
                LIGHT,
                Optional.empty(),
                List.of(),
                _ -> List.<String>of(),
                ClassArchive.OWN.classPath());
    }

    /** The same with these arguments, as text. */
    Ranks arguments(Object... values) {
        List<String> texts = new ArrayList<>();
        for (Object value : values) {
            texts.add(value.toString());
        }
        return new Ranks(count, program, texts, settings, javaOptions, onFailure, hosts, prefix, classPath);
    }

    /** The same with these settings added. */
    Ranks with(String... keyValues) {
        List<String> all = new ArrayList<>(settings);
        all.addAll(List.of(keyValues));
        return new Ranks(count, program, arguments, all, javaOptions, onFailure, hosts, prefix, classPath);
    }

    /**
     * The same with the default channel on this network; "dma" is sci with single copy, for blocks of 4 KiB and more.
     */
    Ranks over(String network) {
        return network.equals("dma")
                ? over("sci")
                        .with(
                                "tm.sci.short.max-block=1 KiB",
                                "tm.sci.dma.single-copy=on",
                                "tm.sci.dma.from=4 KiB",
                                "tm.sci.dma.to=unlimited")
                        .java("--enable-native-access=ALL-UNNAMED")
                : with("channels.default.network=" + network);
    }

    /** The same with all compilers, for what has to be fast. */
    Ranks optimizing() {
        List<String> all = new ArrayList<>(OPTIMIZING);
        javaOptions.stream().filter(option -> !LIGHT.contains(option)).forEach(all::add);
        return new Ranks(count, program, arguments, settings, all, onFailure, hosts, prefix, classPath);
    }

    /** The same with these options of the JVM added. */
    Ranks java(String... options) {
        List<String> all = new ArrayList<>(javaOptions);
        all.addAll(List.of(options));
        return new Ranks(count, program, arguments, settings, all, onFailure, hosts, prefix, classPath);
    }

    /** The same without an option of the JVM. */
    Ranks withoutJava(String option) {
        List<String> all = new ArrayList<>(javaOptions);
        boolean _ = all.remove(option);
        return new Ranks(count, program, arguments, settings, all, onFailure, hosts, prefix, classPath);
    }

    /** The same under a launcher. */
    Ranks launched(OnFailure conduct) {
        return new Ranks(
                count, program, arguments, settings, javaOptions, Optional.of(conduct), hosts, prefix, classPath);
    }

    /** The same with this list of hosts. */
    Ranks hosts(List<String> list) {
        return new Ranks(count, program, arguments, settings, javaOptions, onFailure, list, prefix, classPath);
    }

    /** The same without anything that leads to a session: the program sees to it. */
    Ranks withoutSession() {
        return hosts(List.of("none"));
    }

    /** The same with a command that runs each JVM. */
    Ranks prefixed(IntFunction<List<String>> command) {
        return new Ranks(count, program, arguments, settings, javaOptions, onFailure, hosts, command, classPath);
    }

    /** The same with this class path. */
    Ranks classPath(String path) {
        return new Ranks(count, program, arguments, settings, javaOptions, onFailure, hosts, prefix, path);
    }

    /** Starts the processes. */
    Processes start() {
        return onFailure.isPresent() ? LaunchedProcesses.start(this, onFailure.get()) : HostedProcesses.start(this);
    }

    /** What stands behind {@code java}, with these options in front. */
    List<String> javaArguments(List<String> more) {
        List<String> all = new ArrayList<>(CORE_FLAGS);
        if (classPath.equals(ClassArchive.OWN.classPath())) {
            all.addAll(ClassArchive.OWN.options());
        }
        all.addAll(javaOptions);
        all.addAll(more);
        all.addAll(List.of("-cp", classPath, program.getName()));
        all.addAll(arguments);
        return all;
    }

    static String javaExecutable() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    @Override
    public String toString() {
        return count + " x " + program.getSimpleName() + arguments + " " + settings;
    }
}
