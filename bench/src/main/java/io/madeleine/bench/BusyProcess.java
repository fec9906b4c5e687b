package io.madeleine.bench;

import io.madeleine.bench.measure.MeasuringException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Another program of the machine that is at work, in the processor and its caches, while something is measured. It ends
 * with the process that started it, even if that is killed.
 *
 * <p>Threading: confined to caller.
 */
public final class BusyProcess implements AutoCloseable {
    private static final int WORDS = 1 << 20;
    private static final int LINE_WORDS = 8;
    private static final long END_S = 5;

    private final Process process;

    private BusyProcess(Process process) {
        this.process = process;
    }

    /** Starts one, on the second of two processors if they are known, and waits until it is at work. */
    static BusyProcess start(Optional<Cores> cores) {
        List<String> command = new ArrayList<>();
        cores.ifPresent(pair -> command.addAll(List.of("taskset", "-c", Integer.toString(pair.second()))));
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                BusyProcess.class.getName()));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            if (process.getInputStream().read() < 0) {
                throw new MeasuringException("the busy process has ended");
            }
            return new BusyProcess(process);
        } catch (IOException e) {
            throw new MeasuringException("the busy process cannot be started: " + e.getMessage(), e);
        }
    }

    /** Works until standard input ends. */
    public static void main(String[] arguments) {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (System.in.read() >= 0) {
                    // goes on
                }
            } catch (IOException _) {
                // that is an end, too
            }
            Runtime.getRuntime().halt(0);
        });
        System.out.write(1);
        System.out.flush();
        long[] memory = new long[WORDS];
        for (long sum = 1; ; sum = sum * 31 + 1) {
            for (int i = 0; i < WORDS; i += LINE_WORDS) {
                memory[i] += sum;
            }
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(END_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException _) {
            process.destroyForcibly();
        } catch (InterruptedException _) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
