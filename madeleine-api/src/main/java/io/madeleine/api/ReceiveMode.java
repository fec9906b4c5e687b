package io.madeleine.api;

/** When the receiver needs a block (paper, section 2.2). */
public enum ReceiveMode {
    /**
     * The block is there when {@code unpack} returns. Needed where the data decides what to unpack next. Its
     * sender is promised no more: like any other block it may leave as late as {@link OutgoingMessage#endPacking}.
     */
    EXPRESS,

    /** The default: the block may arrive as late as {@code endUnpacking}; until then its content is undefined. */
    CHEAPER
}
