/** The switch: which transmission module takes a block, in which order blocks leave, and the messages users see. */
module io.madeleine.switching {
    requires transitive io.madeleine.bmm;
    requires static transitive org.jspecify;

    exports io.madeleine.switching;
}
