package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;

/**
 * A launcher in a process of its own, and the two processes it has started, which print their numbers. Whoever waits in
 * vain for its end is shown where all their threads are.
 *
 * <p>Threading: confined to the test.
 */
final class LauncherProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int PROCESSES = 2;

    private final Process process;
    private final List<ProcessHandle> children = new ArrayList<>();

    private LauncherProcess(Process process) {
        this.process = process;
    }

    /** Starts a launcher of this program, and waits until both processes have said their number. */
    static LauncherProcess of(List<String> program) throws IOException {
        List<String> command = new ArrayList<>(List.of(LauncherIT.javaExecutable()));
        command.addAll(LauncherIT.java(Program.class, program.toArray(String[]::new)));
        LauncherProcess started = new LauncherProcess(
                new ProcessBuilder(command).redirectErrorStream(true).start());
        try {
            started.readNumbers();
            return started;
        } catch (IOException | RuntimeException | AssertionError e) {
            started.close();
            throw e;
        }
    }

    private void readNumbers() throws IOException {
        BufferedReader reader = process.inputReader();
        while (children.size() < PROCESSES) {
            String line = reader.readLine();
            assertTrue(line != null && line.contains("pid "), "expected a process number, found " + line);
            long pid = Long.parseLong(line.substring(line.indexOf("pid ") + 4));
            children.add(ProcessHandle.of(pid).orElseThrow());
        }
    }

    Process process() {
        return process;
    }

    /** The processes it has started. */
    List<ProcessHandle> children() {
        return children;
    }

    /** The launcher's exit code. */
    int awaitEnd() throws IOException, InterruptedException {
        return awaitEnd(PATIENCE);
    }

    int awaitEnd(Duration patience) throws IOException, InterruptedException {
        if (!process.waitFor(patience.toNanos(), TimeUnit.NANOSECONDS)) {
            Assertions.fail("the launcher has not ended within " + patience + "\n" + threads());
        }
        return process.exitValue();
    }

    /** What all processes are doing. */
    private String threads() throws IOException, InterruptedException {
        StringBuilder all = new StringBuilder();
        for (ProcessHandle one : family()) {
            all.append("--- process ")
                    .append(one.pid())
                    .append(' ')
                    .append(one.info())
                    .append('\n');
            if (isJvm(one)) {
                all.append(Jstack.of(one));
            }
        }
        return all.toString();
    }

    /** The guard is a shell, for which jstack's signal is deadly. */
    private static boolean isJvm(ProcessHandle process) {
        return process.info().command().filter(file -> file.endsWith("java")).isPresent();
    }

    /** The launcher, its descendants, and those of them that it has lost. */
    private List<ProcessHandle> family() {
        return Stream.of(Stream.of(process.toHandle()), process.descendants(), children.stream())
                .flatMap(handles -> handles)
                .distinct()
                .toList();
    }

    /** Kills what still runs. */
    @Override
    public void close() {
        family().forEach(ProcessHandle::destroyForcibly);
    }

    /** Prints the threads of a JVM. */
    private static final class Jstack {
        private static final long PATIENCE_S = 10;

        static String of(ProcessHandle jvm) throws IOException, InterruptedException {
            Path jstack = Path.of(System.getProperty("java.home"), "bin", "jstack");
            Path printed = Files.createTempFile("jstack", ".txt");
            try {
                Process process = new ProcessBuilder(jstack.toString(), Long.toString(jvm.pid()))
                        .redirectErrorStream(true)
                        .redirectOutput(printed.toFile())
                        .start();
                if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    return "jstack gets no answer\n";
                }
                return Files.readString(printed);
            } finally {
                Files.delete(printed);
            }
        }
    }

    /** A launcher. */
    static final class Program {
        public static void main(String[] args) {
            System.exit(Launcher.run(LaunchPlan.of(PROCESSES, List.of(args))));
        }
    }
}
