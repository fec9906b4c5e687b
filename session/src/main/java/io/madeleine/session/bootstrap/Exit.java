package io.madeleine.session.bootstrap;

import java.util.OptionalInt;

/**
 * How a process ended that had not left its session, as far as that is known.
 *
 * <p>Threading: immutable.
 *
 * @param pid the process id
 * @param host where it ran
 * @param announced whether the process announced its exit, which a killed process cannot do
 * @param code its exit code, if this process's launcher started it
 */
public record Exit(long pid, String host, boolean announced, OptionalInt code) {
    private static final String WITHOUT_CLOSING = "exited without closing its session";
    private static final int SIGNAL_BASE = 128;
    private static final int MOST_SIGNALS = 64;

    /** Whether the process ended by itself and not by a signal. That is a failure of its program. */
    boolean byItself() {
        return code.isPresent() ? !isSignal(code.getAsInt()) : announced;
    }

    /** Describes the end, in words that follow "rank N is gone:". */
    String reason() {
        String who = " (process " + pid + " on " + host;
        if (byItself()) {
            return "it " + WITHOUT_CLOSING + who + (code.isPresent() ? ", exit code " + code.getAsInt() : "") + ")";
        }
        return "its process ended" + (code.isPresent() ? " by signal " + (code.getAsInt() - SIGNAL_BASE) : "") + who
                + ")";
    }

    /**
     * A sentence about a process that is gone. An exit is told in a shorter form, without {@code otherwise}.
     *
     * @param otherwise what happened to the rank unless it exited, such as "died"
     * @param reason as from {@link #reason}, or any other
     */
    public static String sentence(int rank, String otherwise, String reason) {
        return "rank " + rank
                + (reason.startsWith("it " + WITHOUT_CLOSING)
                        ? reason.substring("it".length())
                        : " " + otherwise + ": " + reason);
    }

    /** Describes an exit code, in words that follow "its process ended". */
    public static String describe(int code) {
        return isSignal(code) ? "by signal " + (code - SIGNAL_BASE) : "with exit code " + code;
    }

    /** Whether an exit code says that a signal ended the process; 255, for instance, is that of {@code exit(-1)}. */
    private static boolean isSignal(int code) {
        return code > SIGNAL_BASE && code <= SIGNAL_BASE + MOST_SIGNALS;
    }
}
