package io.madeleine.api;

/** When the receiver needs a block (paper, section 2.2). */
public enum ReceiveMode {
    /**
     * The data is in the block when {@code unpack} returns. Needed where the data decides what to unpack next. The mode
     * promises nothing about the sender: like any other block, this one may leave as late as
     * {@link OutgoingMessage#endPacking}.
     */
    EXPRESS,

    /** The default: the block may arrive as late as {@code endUnpacking}; until then its content is undefined. */
    CHEAPER
}
