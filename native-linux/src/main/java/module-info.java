/**
 * Linux system calls that the JDK does not offer: reading another process's memory, huge pages, polling
 * descriptors, and many datagrams by one call.
 */
module io.madeleine.linux {
    requires static org.jspecify;
    requires transitive io.madeleine.pmm;

    exports io.madeleine.linux;

    provides io.madeleine.pmm.spi.CopyEngine with
            io.madeleine.linux.ProcessVmEngine;
    provides io.madeleine.pmm.spi.DatagramEngine with
            io.madeleine.linux.SegmentationEngine;
    provides io.madeleine.pmm.spi.DescriptorPoller with
            io.madeleine.linux.SystemPoller;
    provides io.madeleine.pmm.spi.LargePages with
            io.madeleine.linux.HugePages;
}
