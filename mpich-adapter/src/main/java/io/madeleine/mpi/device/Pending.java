package io.madeleine.mpi.device;

/**
 * An operation that has not ended.
 *
 * <p>Threading: immutable.
 *
 * @param rank the session rank whose message ends it; -1 for any
 * @param context the context of its messages
 * @param what what it is, for people; one line
 */
public record Pending(int rank, long context, String what) {
    @Override
    public String toString() {
        return what;
    }
}
