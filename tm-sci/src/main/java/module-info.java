/** The SCI network family, shared memory inside one host: its driver and its transmission modules. */
module io.madeleine.tm.sci {
    requires static org.jspecify;
    requires transitive io.madeleine.pmm;
    requires transitive com.google.guice;
    requires transitive typesafe.config;

    uses io.madeleine.pmm.spi.CopyEngine;

    exports io.madeleine.tm.sci;
}
