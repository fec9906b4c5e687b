/** The BIP network family, reliable messages over datagrams: its driver and its transmission modules. */
module io.madeleine.tm.bip {
    requires static org.jspecify;
    requires transitive io.madeleine.pmm;
    requires transitive com.google.guice;
    requires transitive typesafe.config;

    uses io.madeleine.pmm.spi.DatagramEngine;

    exports io.madeleine.tm.bip;
}
