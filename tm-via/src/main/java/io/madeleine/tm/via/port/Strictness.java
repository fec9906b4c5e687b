package io.madeleine.tm.via.port;

/**
 * Restrictions that hardware has and software providers do not have, so that tests can impose them.
 *
 * <p>Threading: immutable.
 *
 * @param registersLocal whether local memory is registered
 * @param contextsInMemory whether each operation gets memory for its context
 * @param maxSends how many sends and writes may be outstanding, at most
 * @param failsEvery every so many registrations of blocks fail; 0 for none
 * @param choosesKeys whether the provider chooses the keys of registrations, and takes none from the caller
 */
public record Strictness(
        boolean registersLocal, boolean contextsInMemory, int maxSends, int failsEvery, boolean choosesKeys) {
    /** No further restrictions. */
    public static final Strictness NONE = new Strictness(false, false, Integer.MAX_VALUE, 0, false);
}
