package io.madeleine.session.launch;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Ends a launcher's processes when the launcher cannot, for instance after SIGKILL. The guard is a small shell process:
 * it reads process ids from a pipe and acts when the pipe ends. The processes need not cooperate, so it also serves
 * programs that have not opened a session.
 *
 * <p>Without {@code /bin/sh} there is no guard.
 *
 * <p>Threading: thread-safe.
 */
public final class OrphanGuard implements AutoCloseable {
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            tenths=$1
            pids=
            while read -r change pid; do
              case $change in
                +) pids="$pids $pid" ;;
                -) left=
                   for p in $pids; do [ "$p" = "$pid" ] || left="$left $p"; done
                   pids=$left ;;
                .) exit 0 ;;
              esac
            done
            [ -n "$pids" ] || exit 0
            kill -TERM $pids
            while [ "$tenths" -gt 0 ]; do
              kill -0 $pids || exit 0
              sleep 0.1
              tenths=$((tenths - 1))
            done
            kill -KILL $pids
            """;

    private final ReentrantLock lock = new ReentrantLock();
    private final @Nullable Process shell;

    /**
     * Starts the guard.
     *
     * @param graceMs the time between the request to end and the kill
     */
    public OrphanGuard(long graceMs) {
        this.shell = start(graceMs);
    }

    private static @Nullable Process start(long graceMs) {
        try {
            return new ProcessBuilder("/bin/sh", "-c", SCRIPT, "madeleine-guard", Long.toString(graceMs / 100 + 1))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException _) {
            return null;
        }
    }

    /** Adds a process to those that the guard ends. */
    public void started(long pid) {
        tell("+ " + pid);
    }

    /** Removes a process: it has ended, and the system may reuse its id. */
    public void ended(long pid) {
        tell("- " + pid);
    }

    private void tell(String line) {
        if (shell == null) {
            return;
        }
        lock.lock();
        try {
            OutputStream pipe = shell.getOutputStream();
            pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException _) {
            // the guard was killed; the launcher goes on without it
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        tell(".");
        try {
            if (shell != null && !shell.waitFor(1, TimeUnit.SECONDS)) {
                shell.destroyForcibly();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
