package io.madeleine.integration;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The lines that a process has written to one of its streams so far.
 *
 * <p>Threading: thread-safe.
 */
final class Output {
    private static final int SHOWN_LINES = 400;

    private final List<String> lines = new ArrayList<>();
    private boolean ended;

    /** Reads a stream to its end, in a thread of its own. */
    static Output of(InputStream stream) {
        Output output = new Output();
        Thread.ofPlatform().daemon().name("output").start(() -> output.readAll(stream));
        return output;
    }

    private void readAll(InputStream stream) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                add(line);
            }
        } catch (IOException e) {
            add("(cannot be read: " + e.getMessage() + ")");
        } finally {
            end();
        }
    }

    synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** Waits until the process has closed the stream, so that all its lines are here; false at the end of the time. */
    synchronized boolean awaitEnd(Duration patience) throws InterruptedException {
        long deadlineNs = System.nanoTime() + patience.toNanos();
        while (!ended && waitUntil(deadlineNs)) {
            // looks again
        }
        return ended;
    }

    /** Waits for a line that starts so; empty if the stream or the time ends before. */
    synchronized Optional<String> await(String start, Duration patience) throws InterruptedException {
        long deadlineNs = System.nanoTime() + patience.toNanos();
        while (true) {
            for (String line : lines) {
                if (line.startsWith(start)) {
                    return Optional.of(line);
                }
            }
            if (ended || !waitUntil(deadlineNs)) {
                return Optional.empty();
            }
        }
    }

    private boolean waitUntil(long deadlineNs) throws InterruptedException {
        long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
        if (leftMs <= 0) {
            return false;
        }
        wait(leftMs);
        return true;
    }

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    /** The lines that start so, without that. */
    List<String> linesAfter(String start) {
        return lines().stream()
                .filter(line -> line.startsWith(start))
                .map(line -> line.substring(start.length()))
                .toList();
    }

    @Override
    public String toString() {
        List<String> all = lines();
        List<String> shown = all.subList(0, Math.min(all.size(), SHOWN_LINES));
        return String.join("\n", shown) + (shown.size() < all.size() ? "\n(" + all.size() + " lines)" : "");
    }
}
