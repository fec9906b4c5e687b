package io.madeleine.bench.measure;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Processes of this machine without input; one stream collects what they print.
 *
 * <p>Threading: thread-safe.
 */
public final class LocalProcesses implements ResidentSubject.Running {
    /** How long they may take to end by themselves, and as long again after they were asked to. */
    private static final long GRACE_S = 3;

    private final List<Process> processes = new ArrayList<>();

    private final List<Path> folders;

    private LocalProcesses(List<Path> folders) {
        this.folders = folders;
    }

    /** Starts one process per command; the folders are deleted when they have ended. */
    public static LocalProcesses start(
            List<List<String>> commands, Map<String, String> environment, List<Path> folders, PrintWriter err) {
        LocalProcesses started = new LocalProcesses(folders);
        try {
            for (List<String> command : commands) {
                ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
                builder.environment().putAll(environment);
                Process process = builder.start();
                process.getOutputStream().close();
                started.processes.add(process);
                Thread.ofVirtual().start(() -> pump(process, err));
            }
            return started;
        } catch (IOException e) {
            started.close();
            throw new MeasuringException(commands.getFirst().getFirst() + " cannot be started: " + e.getMessage(), e);
        }
    }

    private static void pump(Process process, PrintWriter err) {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            lines.lines().forEach(err::println);
        } catch (IOException | UncheckedIOException _) {
            // the process was killed
        }
    }

    @Override
    public boolean alive() {
        return processes.stream().allMatch(Process::isAlive);
    }

    @Override
    public void close() {
        List<ProcessHandle> all = new ArrayList<>();
        for (Process process : processes) {
            process.descendants().forEach(all::add);
            all.add(process.toHandle());
        }
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(GRACE_S);
        await(all, deadlineNs);
        all.forEach(ProcessHandle::destroy);
        await(all, deadlineNs + TimeUnit.SECONDS.toNanos(GRACE_S));
        all.forEach(ProcessHandle::destroyForcibly);
        folders.forEach(LocalProcesses::delete);
    }

    private static void delete(Path folder) {
        if (Files.notExists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException | UncheckedIOException _) {
            // somebody else is deleting it as well
        }
    }

    private static void await(List<ProcessHandle> handles, long deadlineNs) {
        try {
            while (handles.stream().anyMatch(ProcessHandle::isAlive) && deadlineNs - System.nanoTime() > 0) {
                Thread.sleep(5);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
