package io.madeleine.linux;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.DescriptorPoller;
import java.util.List;

/**
 * Waits for raw file descriptors with {@code poll(2)}, which has no limit on their number or kind.
 *
 * <p>Threading: thread-safe, immutable.
 */
public final class SystemPoller implements DescriptorPoller {
    /** For {@link java.util.ServiceLoader}. Makes no downcall. */
    public SystemPoller() {}

    @Override
    public Availability availability() {
        Availability access = NativeAccess.availability();
        return access.on() ? Availability.on("raw file descriptors by poll(2)") : access;
    }

    @Override
    public List<String> nativeModules() {
        return List.of(NativeAccess.MODULE);
    }

    @Override
    public Poll open() {
        Availability availability = availability();
        if (!availability.on()) {
            throw new IllegalStateException("poll(2) cannot be used: " + availability.reason());
        }
        return new PollSet();
    }
}
