/** The VIA network family, RDMA through libfabric: its driver and its transmission modules. */
module io.madeleine.tm.via {
    requires static org.jspecify;
    requires transitive io.madeleine.pmm;
    requires transitive com.google.guice;
    requires transitive typesafe.config;

    uses io.madeleine.pmm.spi.DescriptorPoller;

    exports io.madeleine.tm.via;
}
