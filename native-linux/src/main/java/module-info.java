/** What Linux offers beyond the JDK, by downcalls: reading the memory of another process. */
module io.madeleine.linux {
    requires static org.jspecify;
    requires transitive io.madeleine.pmm;

    exports io.madeleine.linux;

    provides io.madeleine.pmm.spi.CopyEngine with
            io.madeleine.linux.ProcessVmEngine;
}
