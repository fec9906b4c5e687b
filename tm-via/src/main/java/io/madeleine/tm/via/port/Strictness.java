package io.madeleine.tm.via.port;

/**
 * Restrictions that hardware has and software providers do not have, so that tests can impose them.
 *
 * <p>Threading: immutable.
 *
 * @param registersLocal whether local memory is registered
 * @param contextsInMemory whether each operation gets memory for its context
 * @param maxSends how many sends and writes may be outstanding, at most
 * @param failsEvery one in this many registrations of blocks fails; 0 for none
 * @param choosesKeys whether the provider chooses the keys of registrations, and takes none from the caller
 * @param maxRanges how many ranges of memory a message may have, at most
 * @param immediateBytes how many bytes of immediate data a write may carry, at most
 * @param virtualAddresses whether peers name memory by virtual addresses, not by offsets
 * @param writableBytes how many bytes can be registered for writes, at both ends, at most; a closed registration does
 *     not count as freed
 */
public record Strictness(
        boolean registersLocal,
        boolean contextsInMemory,
        int maxSends,
        int failsEvery,
        boolean choosesKeys,
        int maxRanges,
        int immediateBytes,
        boolean virtualAddresses,
        long writableBytes) {
    /** No further restrictions. */
    public static final Strictness NONE = new Strictness(
            false, false, Integer.MAX_VALUE, 0, false, Integer.MAX_VALUE, Integer.MAX_VALUE, false, Long.MAX_VALUE);

    /** The same, with another rate of failed registrations. */
    public Strictness failingEvery(int count) {
        return new Strictness(
                registersLocal,
                contextsInMemory,
                maxSends,
                count,
                choosesKeys,
                maxRanges,
                immediateBytes,
                virtualAddresses,
                writableBytes);
    }

    /** The same, with virtual addresses. */
    public Strictness withVirtualAddresses() {
        return new Strictness(
                registersLocal,
                contextsInMemory,
                maxSends,
                failsEvery,
                choosesKeys,
                maxRanges,
                immediateBytes,
                true,
                writableBytes);
    }

    /** The same, without immediate data. */
    public Strictness withoutImmediateData() {
        return new Strictness(
                registersLocal,
                contextsInMemory,
                maxSends,
                failsEvery,
                choosesKeys,
                maxRanges,
                0,
                virtualAddresses,
                writableBytes);
    }

    /** The same, with a limit on the memory for writes. */
    public Strictness withWritableBytes(long bytes) {
        return new Strictness(
                registersLocal,
                contextsInMemory,
                maxSends,
                failsEvery,
                choosesKeys,
                maxRanges,
                immediateBytes,
                virtualAddresses,
                bytes);
    }
}
