package io.madeleine.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Whether Linux permits processes of one user to read each other's memory, as far as files show. By default it does.
 * The security module Yama may restrict it to descendants, and ranks do not descend from each other
 * (Documentation/admin-guide/LSM/Yama.rst of the kernel). What a system call filter forbids shows only at the first
 * read.
 *
 * <p>Threading: immutable.
 *
 * @param scopeFile Yama's setting; the file is missing without Yama
 * @param statusFile the status of this process, with its capabilities
 */
record TracePermission(Path scopeFile, Path statusFile) {
    /** The files of this system. */
    static final TracePermission SYSTEM =
            new TracePermission(Path.of("/proc/sys/kernel/yama/ptrace_scope"), Path.of("/proc/self/status"));

    private static final int NO_ATTACH = 3;
    private static final int CAP_SYS_PTRACE = 19;
    private static final String EFFECTIVE = "CapEff:";
    private static final int HEX = 16;

    /** Why reading is forbidden; empty if it is permitted. */
    Optional<String> forbidden() {
        int scope = scope();
        if (scope == 0 || scope < NO_ATTACH && isCapable()) {
            return Optional.empty();
        }
        return Optional.of(scopeFile + " is " + scope + ", which forbids processes to read each other's memory:"
                + " 0 permits it to processes of one user");
    }

    private int scope() {
        try {
            return Integer.parseInt(Files.readString(scopeFile).strip());
        } catch (IOException | NumberFormatException _) {
            return 0; // no Yama
        }
    }

    private boolean isCapable() {
        try {
            return Files.readAllLines(statusFile).stream()
                    .filter(line -> line.startsWith(EFFECTIVE))
                    .map(line -> line.substring(EFFECTIVE.length()).strip())
                    .anyMatch(mask -> (Long.parseUnsignedLong(mask, HEX) >> CAP_SYS_PTRACE & 1) != 0);
        } catch (IOException | NumberFormatException _) {
            return false;
        }
    }
}
