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
        Module own = NativeAccess.class.getModule();
        if (!own.isNativeAccessEnabled()) {
            return Availability.off("native access is not granted; run java with --enable-native-access="
                    + (own.isNamed() ? MODULE : "ALL-UNNAMED")
                    + " (\"mad run\" does it by itself, unless told --no-native)");
        }
        return Availability.on("native access is granted");
    }
}
