package io.madeleine.pmm.spi;

/**
 * What a module that registers memory is told. No call is made after {@link SessionMemory#forget} has returned.
 *
 * <p>Threading: {@link #added} one call at a time, before anybody has the memory; {@link #removed} and {@link #freed} beside
 * anything, also several at once. Nothing here throws.
 */
public interface RegionListener {
    /** There is a new region. It is used whether or not it could be registered. */
    void added(Region region);

    /**
     * A region is about to be freed. When this returns no network reads or writes it on this module's account, and no peer can
     * reach it any more.
     *
     * @param deadlineNs until when peers may be waited for that are reading or writing it, in {@link System#nanoTime()} terms
     */
    void removed(Region region, long deadlineNs);

    /**
     * A region that was removed has been freed: nobody of this process can touch its memory any more, so that who made it may give
     * it to somebody else. Not told of one that cannot be freed, as a system call has it to the last.
     */
    default void freed(Region region) {
        // most have let go of it by now
    }
}
