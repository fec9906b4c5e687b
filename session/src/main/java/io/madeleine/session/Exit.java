package io.madeleine.session;

import java.util.OptionalInt;

/**
 * How a process has ended that had not left its session, as far as that is known.
 *
 * <p>Threading: immutable.
 *
 * @param pid the process's number
 * @param host where it ran
 * @param announced whether it has said that it exits, as a process does that is not killed
 * @param code its exit code, if this process's launcher has started it
 */
record Exit(long pid, String host, boolean announced, OptionalInt code) {
    private static final String WITHOUT_CLOSING = "exited without closing its session";
    private static final int SIGNAL_BASE = 128;

    /** Whether it has come to its end by itself, which is a failure of its program. */
    boolean byItself() {
        return code.isPresent() ? code.getAsInt() <= SIGNAL_BASE : announced;
    }

    /** What has become of it, in words that follow "rank N is gone:". */
    String reason() {
        String who = " (process " + pid + " on " + host;
        if (byItself()) {
            return "it " + WITHOUT_CLOSING + who + (code.isPresent() ? ", exit code " + code.getAsInt() : "") + ")";
        }
        return "its process ended" + (code.isPresent() ? " by signal " + (code.getAsInt() - SIGNAL_BASE) : "") + who
                + ")";
    }

    /** A sentence about a process that is gone for a reason: that it has exited says all. */
    static String sentence(int rank, String otherwise, String reason) {
        return "rank " + rank
                + (reason.startsWith("it " + WITHOUT_CLOSING)
                        ? reason.substring("it".length())
                        : " " + otherwise + ": " + reason);
    }
}
