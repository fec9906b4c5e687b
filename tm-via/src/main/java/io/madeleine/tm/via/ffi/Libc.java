package io.madeleine.tm.via.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * The calls of the C library that libfabric's users need. Do not initialise this class without native access.
 *
 * <p>Threading: stateless.
 */
final class Libc {
    private static final MemorySegment SIGACTION = find("sigaction");
    private static final MemorySegment SETENV = find("setenv");
    private static final MemorySegment STRDUP = find("strdup");
    private static final MemorySegment FREE = find("free");
    private static final MemorySegment MLOCK = find("mlock");
    private static final MemorySegment MUNLOCK = find("munlock");
    private static final MemorySegment GETRLIMIT = find("getrlimit");

    /** The size of struct sigaction on Linux with glibc; musl's is as large. */
    private static final int SIGACTION_BYTES = 152;

    /** RLIMIT_MEMLOCK on the machines that libfabric runs on. */
    private static final int LOCKED_MEMORY = 8;

    /** The size of struct rlimit; the first word is the limit in force. */
    private static final int RLIMIT_BYTES = 16;

    private static final int SIGINT = 2;
    private static final int SIGBUS = 7;
    private static final int SIGSEGV = 11;
    private static final int SIGTERM = 15;
    private static final List<Integer> TAKEN = List.of(SIGSEGV, SIGBUS, SIGTERM, SIGINT);

    private Libc() {}

    private static MemorySegment find(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }

    /** Sets a variable of the C environment unless it has a value. */
    static void setEnvironmentDefault(String name, String value) {
        try (Arena arena = Arena.ofConfined()) {
            int _ = Downcalls.of2AndInt(
                    SETENV,
                    arena.allocateFrom(name).address(),
                    arena.allocateFrom(value).address(),
                    0);
        }
    }

    /** A copy of a text that {@code free} can free. */
    static long duplicate(String text) {
        try (Arena arena = Arena.ofConfined()) {
            return Downcalls.longOf1(STRDUP, arena.allocateFrom(text).address());
        }
    }

    static void free(long address) {
        long _ = Downcalls.longOf1(FREE, address);
    }

    /** Whether the pages of a range are locked in memory now. */
    static boolean lockPages(long address, long bytes) {
        return Downcalls.intOf2(MLOCK, address, bytes) == 0;
    }

    static void unlockPages(long address, long bytes) {
        int _ = Downcalls.intOf2(MUNLOCK, address, bytes);
    }

    /** How many bytes this process may lock in memory; below 0 if there is no limit. */
    static long lockLimitBytes() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limit = arena.allocate(RLIMIT_BYTES, Long.BYTES);
            int _ = Downcalls.ofIntAnd1(GETRLIMIT, LOCKED_MEMORY, limit.address());
            return limit.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /**
     * Runs an action that may install signal handlers, and restores those from before. A provider's handler of SIGSEGV
     * kills the JVM at its first implicit null check, or unlinks the provider's files. Meanwhile no other thread runs
     * an action of this kind.
     */
    static synchronized void keepingSignalHandlers(Runnable action) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment saved = arena.allocate((long) SIGACTION_BYTES * TAKEN.size(), 16);
            for (int i = 0; i < TAKEN.size(); i++) {
                int _ = Downcalls.ofIntAnd2(SIGACTION, TAKEN.get(i), 0, saved.address() + (long) i * SIGACTION_BYTES);
            }
            try {
                action.run();
            } finally {
                for (int i = 0; i < TAKEN.size(); i++) {
                    int _ = Downcalls.ofIntAnd2(
                            SIGACTION, TAKEN.get(i), saved.address() + (long) i * SIGACTION_BYTES, 0);
                }
            }
        }
    }
}
