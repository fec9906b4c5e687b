package io.madeleine.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Whether Linux lets processes of one user read each other's memory, as far as files tell: by itself it does; its security
 * module Yama may restrict it to descendants, which ranks are not of each other (Documentation/admin-guide/LSM/Yama.rst of the
 * kernel). What a filter of system calls forbids shows at the first read only.
 *
 * <p>Threading: immutable.
 *
 * @param scopeFile where Yama says how much it restricts; it is not there without Yama
 * @param statusFile what this process may do
 */
record TracePermission(Path scopeFile, Path statusFile) {
    /** Of this system. */
    static final TracePermission SYSTEM =
            new TracePermission(Path.of("/proc/sys/kernel/yama/ptrace_scope"), Path.of("/proc/self/status"));

    private static final int NO_ATTACH = 3;
    private static final int CAP_SYS_PTRACE = 19;
    private static final String EFFECTIVE = "CapEff:";
    private static final int HEX = 16;

    /** Why they may not, or empty. */
    Optional<String> forbidden() {
        int scope = scope();
        if (scope == 0 || scope < NO_ATTACH && isCapable()) {
            return Optional.empty();
        }
        return Optional.of(scopeFile + " is " + scope + ", which keeps processes from reading each other's memory;"
                + " 0 lets those of one user");
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
