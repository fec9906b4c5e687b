/** A program on the module path. */
module app {
    requires io.madeleine;

    opens app to
            io.madeleine.nexus; // which calls the interfaces of services
}
