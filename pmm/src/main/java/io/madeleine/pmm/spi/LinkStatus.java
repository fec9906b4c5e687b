package io.madeleine.pmm.spi;

/** What links answer on the data path, where exceptions would be too dear. */
public final class LinkStatus {
    /** Done: the memory may be reused. */
    public static final int COMPLETE = 0;

    /** Not all of it yet: call again, with the same arguments, when there has been progress. */
    public static final int PENDING = -1;

    /** The connection is gone: the listener has been or will be told why. */
    public static final int CLOSED = -2;

    private LinkStatus() {}
}
