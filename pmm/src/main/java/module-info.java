/** Protocol management: the driver SPI, and the progress engine that drives the drivers. */
module io.madeleine.pmm {
    requires io.madeleine.admission;
    requires transitive io.madeleine.api;
    requires org.jctools.core.jdk11;
    requires transitive typesafe.config;
    requires static transitive org.jspecify;

    exports io.madeleine.pmm;
    exports io.madeleine.pmm.faults;
    exports io.madeleine.pmm.handshake;
    exports io.madeleine.pmm.spi;
    exports io.madeleine.pmm.tls;

    uses io.madeleine.pmm.spi.DescriptorPoller;
}
