/** The switch: selects the transmission module for each block, orders blocks, and implements messages and channels. */
module io.madeleine.switching {
    requires transitive io.madeleine.bmm;
    requires static transitive org.jspecify;

    exports io.madeleine.switching;
}
