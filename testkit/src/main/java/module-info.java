/** Contract tests of the SPI and stand-ins for those who write transmission modules. */
module io.madeleine.testkit {
    requires static org.jspecify;
    requires transitive io.madeleine.pmm;
    requires transitive org.junit.jupiter.api;
    requires transitive org.junit.jupiter.params;

    exports io.madeleine.testkit;
    exports io.madeleine.testkit.heap;
}
