package io.madeleine.integration;

import io.madeleine.session.LaunchPlan;
import io.madeleine.session.Launcher;
import io.madeleine.session.OnFailure;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Processes of a launcher, which runs in the JVM of the test and tells their output apart by its prefix.
 *
 * <p>Threading: confined to the test.
 */
final class LaunchedProcesses extends Processes {
    private static final Duration GRACE = Duration.ofSeconds(3);

    private final Launcher launcher;
    private final Output words = new Output();
    private final CompletableFuture<Integer> code;

    private LaunchedProcesses(Ranks ranks, OnFailure onFailure) {
        super(ranks);
        List<Output> outs = new ArrayList<>();
        List<Output> errs = new ArrayList<>();
        for (int rank = 0; rank < ranks.count(); rank++) {
            outs.add(new Output());
            errs.add(new Output());
        }
        LaunchPlan plan = LaunchPlan.of(ranks.count(), ranks.javaArguments(List.of()))
                .withSettings(settings())
                .withConduct(new LaunchPlan.Conduct(onFailure, true, false, GRACE));
        launcher =
                Launcher.start(plan, new PrintStream(new Sorter(outs), true), new PrintStream(new Sorter(errs), true));
        for (int rank = 0; rank < ranks.count(); rank++) {
            // a process that has ended already has no handle any more
            Optional<ProcessHandle> process = ProcessHandle.of(launcher.pids().get(rank));
            add(new Member(process.orElseThrow(), outs.get(rank), errs.get(rank)));
        }
        code = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return launcher.await();
                    } catch (InterruptedException e) {
                        throw new CompletionException(e);
                    } finally {
                        outs.forEach(Output::end);
                        errs.forEach(Output::end);
                    }
                },
                task -> Thread.ofPlatform().daemon().name("launcher").start(task));
    }

    static LaunchedProcesses start(Ranks ranks, OnFailure onFailure) {
        return new LaunchedProcesses(ranks, onFailure);
    }

    /** What the launcher itself said. */
    Output words() {
        return words;
    }

    @Override
    int exitCode() {
        return code.join();
    }

    @Override
    public void close() throws IOException {
        launcher.close();
        super.close();
    }

    @Override
    public String toString() {
        return super.toString() + "\n--- the launcher\n" + words;
    }

    /** Takes whole lines apart by the rank in front. */
    private final class Sorter extends OutputStream {
        private final List<Output> outputs;
        private byte[] bytes = new byte[256];
        private int count;

        Sorter(List<Output> outputs) {
            this.outputs = outputs;
        }

        @Override
        public void write(int b) {
            if (b == '\n') {
                sort(new String(bytes, 0, count, StandardCharsets.UTF_8));
                count = 0;
                return;
            }
            if (count == bytes.length) {
                bytes = java.util.Arrays.copyOf(bytes, 2 * count);
            }
            bytes[count++] = (byte) b;
        }

        private void sort(String text) {
            for (int rank = 0; rank < outputs.size(); rank++) {
                String prefix = "[" + rank + "] ";
                if (text.startsWith(prefix)) {
                    outputs.get(rank).add(text.substring(prefix.length()));
                    return;
                }
            }
            words.add(text);
        }
    }
}
