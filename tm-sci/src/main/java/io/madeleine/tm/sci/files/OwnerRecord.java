package io.madeleine.tm.sci.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The record of the process that owns files, with enough detail to tell for certain whether it still lives: its pid
 * alone may belong to another process by now, or to another pid namespace (container). A process that cannot be judged
 * from here counts as alive: above all one of another host, with which this one may share a directory. A process of
 * another boot has ended only if it was a boot of this host.
 *
 * <p>Threading: immutable.
 *
 * @param pid the process
 * @param start its start time, in a form that differs between processes with the same pid
 * @param host the host: its name and its machine id
 * @param bootId the kernel's boot id
 * @param pidNamespace the namespace of the pid
 */
record OwnerRecord(long pid, String start, String host, String bootId, String pidNamespace) {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final Path MACHINE_ID = Path.of("/etc/machine-id");
    private static final Path PID_NAMESPACE = Path.of("/proc/self/ns/pid");
    private static final String UNKNOWN = "unknown";
    private static final String ENDED = "ended";
    private static final String FORMAT = "madeleine-sci-owner 2";
    private static final int LINES = 6;

    /**
     * Indices of the state, and of the start in ticks since boot, in /proc/PID/stat after the command's closing
     * parenthesis.
     */
    private static final int STATE_FIELD = 0;

    private static final int START_FIELD = 19;

    /** The record of this process. */
    static OwnerRecord current() {
        long pid = ProcessHandle.current().pid();
        return new OwnerRecord(pid, startOf(pid), currentHost(), currentBootId(), currentPidNamespace());
    }

    /** Identifies the current boot of this host's kernel, if the system tells it. */
    static String currentBootId() {
        return text(BOOT_ID);
    }

    private static String currentHost() {
        String name = text(HOST_NAME);
        String machine = text(MACHINE_ID);
        return name.equals(UNKNOWN) || machine.equals(UNKNOWN) ? UNKNOWN : name + " " + machine;
    }

    private static String text(Path file) {
        try {
            String text = Files.readString(file).strip();
            return text.isEmpty() ? UNKNOWN : text;
        } catch (IOException _) {
            return UNKNOWN;
        }
    }

    private static String currentPidNamespace() {
        try {
            return Files.readSymbolicLink(PID_NAMESPACE).toString();
        } catch (IOException _) {
            return UNKNOWN;
        }
    }

    private static String startOf(long pid) {
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        if (process.isEmpty() || !process.get().isAlive()) {
            return ENDED;
        }
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            String state = fields[STATE_FIELD];
            return state.equals("Z") || state.equals("X") ? ENDED : "ticks " + fields[START_FIELD];
        } catch (IOException | IndexOutOfBoundsException _) {
            return process.get().info().startInstant().map(Object::toString).orElse(UNKNOWN);
        }
    }

    /** Whether the process has certainly ended. */
    boolean isDead() {
        if (!pidNamespace.equals(currentPidNamespace())) {
            return false;
        }
        String boot = currentBootId();
        if (!bootId.equals(boot)) {
            return !bootId.equals(UNKNOWN)
                    && !boot.equals(UNKNOWN)
                    && !host.equals(UNKNOWN)
                    && host.equals(currentHost());
        }
        String now = startOf(pid);
        return now.equals(ENDED) || !now.equals(UNKNOWN) && !start.equals(UNKNOWN) && !now.equals(start);
    }

    /** The record as the lines of its file. */
    List<String> toLines() {
        return List.of(FORMAT, Long.toString(pid), start, host, bootId, pidNamespace);
    }

    /** Reads a record from its file; empty if the file is not a record. */
    static Optional<OwnerRecord> read(Path file) {
        try {
            List<String> lines = Files.readAllLines(file);
            if (lines.size() != LINES || !lines.getFirst().equals(FORMAT)) {
                return Optional.empty();
            }
            return Optional.of(new OwnerRecord(
                    Long.parseLong(lines.get(1)), lines.get(2), lines.get(3), lines.get(4), lines.get(5)));
        } catch (IOException | NumberFormatException _) {
            return Optional.empty();
        }
    }
}
