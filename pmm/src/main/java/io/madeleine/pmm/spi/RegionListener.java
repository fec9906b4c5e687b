package io.madeleine.pmm.spi;

/**
 * Tells a module that registers memory about regions. No call is made after {@link SessionMemory#forget} has returned.
 * The methods do not throw.
 *
 * <p>Threading: one call of {@link #added} at a time, before anybody has the memory; {@link #removed} and {@link
 * #freed} may run in parallel to each other and to everything else.
 */
public interface RegionListener {
    /** There is a new region. The session uses it even if the module could not register it. */
    void added(Region region);

    /**
     * A region is about to be freed. When this method returns, the module's network no longer reads or writes it, and
     * no peer can access it.
     *
     * @param deadlineNs how long the module may wait for peers that access the region, in {@link System#nanoTime()}
     *     terms
     */
    void removed(Region region, long deadlineNs);

    /**
     * A removed region has been freed: no thread of this process can touch its memory, so its maker may reuse it. Not
     * called for a region that cannot be freed because a system call holds it.
     */
    default void freed(Region region) {
        // optional: most modules forget the region in removed
    }
}
