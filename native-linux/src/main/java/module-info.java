/** What Linux offers beyond the JDK, by downcalls: reading the memory of another process, huge pages, waiting for descriptors. */
module io.madeleine.linux {
    requires static org.jspecify;
    requires transitive io.madeleine.pmm;

    exports io.madeleine.linux;

    provides io.madeleine.pmm.spi.CopyEngine with
            io.madeleine.linux.ProcessVmEngine;
    provides io.madeleine.pmm.spi.DescriptorPoller with
            io.madeleine.linux.SystemPoller;
    provides io.madeleine.pmm.spi.LargePages with
            io.madeleine.linux.HugePages;
}
