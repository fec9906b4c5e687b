package io.madeleine.linux;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.DatagramEngine;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * Datagrams by segmentation offload: one system call hands the system a block that it cuts into datagrams of one size
 * ({@code UDP_SEGMENT}), and another takes datagrams of one sender that the system has put together ({@code UDP_GRO}).
 * Since Linux 5.0.
 *
 * <p>Threading: thread-safe, immutable.
 */
public final class SegmentationEngine implements DatagramEngine {
    /** For {@link java.util.ServiceLoader}. Makes no downcall. */
    public SegmentationEngine() {}

    @Override
    public Availability availability() {
        Availability access = NativeAccess.availability();
        return access.on() ? Availability.on("segmentation offload (UDP_SEGMENT, UDP_GRO)") : access;
    }

    @Override
    public List<String> nativeModules() {
        return List.of(NativeAccess.MODULE);
    }

    @Override
    public Batches open(InetSocketAddress local) {
        Availability availability = availability();
        if (!availability.on()) {
            throw new IllegalStateException("segmentation offload cannot be used: " + availability.reason());
        }
        return new SegmentedDatagrams(SocketSearch.find(local));
    }
}
