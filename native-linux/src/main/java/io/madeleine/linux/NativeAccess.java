package io.madeleine.linux;

import io.madeleine.pmm.spi.Availability;

/**
 * Checks whether this module may make downcalls to Linux.
 *
 * <p>Threading: stateless.
 */
final class NativeAccess {
    /** The module that needs native access. */
    static final String MODULE = "io.madeleine.linux";

    private NativeAccess() {}

    static Availability availability() {
        if (!System.getProperty("os.name", "").equals("Linux")) {
            return Availability.off("it needs Linux, this system is " + System.getProperty("os.name"));
        }
        return io.madeleine.pmm.spi.NativeAccess.missing(NativeAccess.class.getModule())
                .map(Availability::off)
                .orElseGet(() -> Availability.on("native access is granted"));
    }
}
