/** Active messages: messages that name their handler, which the thread that drives the networks runs. */
@SuppressWarnings("module") // the module it exports to is compiled later
module io.madeleine.am {
    requires static transitive org.jspecify;
    requires transitive io.madeleine.api;

    exports io.madeleine.am to
            io.madeleine.nexus;
}
