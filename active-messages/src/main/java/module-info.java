/** Active messages: messages that name the handler which receives them, run by the thread that drives the networks. */
@SuppressWarnings("module") // it is for modules that are compiled later
module io.madeleine.am {
    requires static transitive org.jspecify;
    requires transitive io.madeleine.api;

    exports io.madeleine.am to
            io.madeleine.nexus;
}
