package io.madeleine.linux;

import io.madeleine.pmm.spi.Availability;

/**
 * Whether downcalls to Linux may be made.
 *
 * <p>Threading: stateless.
 */
final class NativeAccess {
    /** The module that has to be granted it. */
    static final String MODULE = "io.madeleine.linux";

    private NativeAccess() {}

    static Availability availability() {
        if (!System.getProperty("os.name", "").equals("Linux")) {
            return Availability.off("it is a call of Linux, and this is " + System.getProperty("os.name"));
        }
        return io.madeleine.pmm.spi.NativeAccess.missing(NativeAccess.class.getModule())
                .map(Availability::off)
                .orElseGet(() -> Availability.on("native access is granted"));
    }
}
