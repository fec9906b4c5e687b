package io.madeleine.pmm.spi;

/** Results of link calls on the data path, where an exception would cost too much. */
public final class LinkStatus {
    /** Done: the memory may be reused. */
    public static final int COMPLETE = 0;

    /** Not complete: call again with the same arguments when there has been progress. */
    public static final int PENDING = -1;

    /** The connection is gone: its listener has been told why, or will be. */
    public static final int CLOSED = -2;

    private LinkStatus() {}
}
