/** A program on the module path. */
module app {
    requires io.madeleine.api;
    requires io.madeleine.nexus;

    opens app to
            io.madeleine.nexus; // which calls the interfaces of services
}
