/** Contract tests of the SPI and in-memory networks, for authors of transmission modules. */
module io.madeleine.testkit {
    requires static org.jspecify;
    requires transitive io.madeleine.pmm;
    requires transitive org.junit.jupiter.api;
    requires transitive org.junit.jupiter.params;

    exports io.madeleine.testkit;
    exports io.madeleine.testkit.heap;
}
