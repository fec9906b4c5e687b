/** Opens sessions: reads the configuration, wires the modules, finds the other processes and launches local ones. */
module io.madeleine.session {
    requires static org.jspecify;
    requires io.madeleine.admission;
    requires transitive io.madeleine.switching;
    requires com.google.guice;
    // Guice is an automatic module: it needs these two and cannot require them itself.
    requires jakarta.inject;
    requires com.google.common;
    requires transitive typesafe.config;

    uses io.madeleine.pmm.spi.LargePages;

    exports io.madeleine.session;

    provides io.madeleine.api.spi.SessionProvider with
            io.madeleine.session.MadeleineSessionProvider;
}
