package io.madeleine.session.launch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * Forwards a process's output in whole lines, so lines of different processes never mix.
 *
 * <p>Threading: one daemon thread each; the pumps of a terminal share its lock.
 */
public final class OutputPump {
    /** A longer line is forwarded in parts. */
    private static final int LONGEST_LINE_BYTES = 64 << 10;

    private final InputStream from;
    private final PrintStream to;
    private final Spawner.Terminal terminal;
    private final byte[] prefix;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final ByteArrayOutputStream whole = new ByteArrayOutputStream();
    private final Thread thread;

    public OutputPump(InputStream from, PrintStream to, Spawner.Terminal terminal, String prefix) {
        this.from = from;
        this.to = to;
        this.terminal = terminal;
        this.prefix = prefix.getBytes(StandardCharsets.UTF_8);
        this.thread = Thread.ofPlatform().daemon().name("madeleine-output").start(this::pump);
    }

    /**
     * Waits for the end of all outputs, at most until a deadline in {@link System#nanoTime} terms: processes that the
     * process has started may hold the pipe open. Returns whether all have ended.
     */
    public static boolean awaitAll(List<OutputPump> pumps, long deadlineNs) throws InterruptedException {
        boolean ended = true;
        for (OutputPump pump : pumps) {
            long leftNs = Math.max(0, deadlineNs - System.nanoTime());
            ended &= pump.thread.join(Duration.ofNanos(leftNs));
        }
        return ended;
    }

    private void pump() {
        byte[] buffer = new byte[8192];
        try (from) {
            for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
                for (int i = 0; i < count; i++) {
                    take(buffer[i]);
                }
                flush();
            }
        } catch (IOException _) {
            // the process is gone
        }
        if (line.size() > 0) {
            if (prefix.length > 0) { // so that another process's line does not continue this one
                line.write('\n');
            }
            whole.writeBytes(line.toByteArray());
            flush();
        }
    }

    private void take(byte next) {
        if (line.size() == 0) {
            line.writeBytes(prefix);
        }
        line.write(next);
        if (next == '\n' || line.size() >= LONGEST_LINE_BYTES) {
            whole.writeBytes(line.toByteArray());
            line.reset();
        }
    }

    private void flush() {
        if (whole.size() == 0) {
            return;
        }
        boolean written;
        terminal.lock().lock();
        try {
            to.writeBytes(whole.toByteArray());
            written = !to.checkError();
        } finally {
            terminal.lock().unlock();
            whole.reset();
        }
        if (!written) {
            // The pump goes on reading, so that the process does not block on a full pipe.
            terminal.unwritable().run();
        }
    }
}
