package io.madeleine.mpi.report;

/**
 * Something that a process waits for, or that waits in it.
 *
 * <p>Threading: immutable.
 *
 * @param rank the rank whose message ends it; {@link #ANY} for any rank, {@link #NOBODY} if nobody's does
 * @param what what it is, for people; one line
 */
public record Awaited(int rank, String what) {
    /** A message of any rank. */
    public static final int ANY = -1;

    /** A remark: nothing waits. */
    public static final int NOBODY = -2;

    /** The last line of an answer, without which the answer is not whole. */
    static final String END = "end\n";

    String line() {
        return rank + " " + what;
    }

    static Awaited of(String line) {
        int end = line.indexOf(' ');
        return new Awaited(Integer.parseInt(line.substring(0, end)), line.substring(end + 1));
    }
}
