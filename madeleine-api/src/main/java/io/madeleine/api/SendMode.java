package io.madeleine.api;

/** What the sender promises about a block between {@code pack} and the end of the message (paper, section 2.2). */
public enum SendMode {
    /**
     * The block may be changed as soon as {@code pack} returns; the message keeps the packed content. The receiver
     * names this mode for the block, too. A large block that does not leave at once is copied; such copies count
     * against the JVM's limit of direct memory ({@code -XX:MaxDirectMemorySize}, by default the largest heap).
     */
    SAFER,

    /**
     * The block is not read before {@code endPacking}: the message carries the content that the block has then. From
     * the first such block on the rest of the message is recorded and sent at {@code endPacking}.
     */
    LATER,

    /** The default: the block stays untouched until the end of packing, and may be read at any moment until then. */
    CHEAPER
}
