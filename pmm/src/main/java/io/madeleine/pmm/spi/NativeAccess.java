package io.madeleine.pmm.spi;

import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Tells whether Java modules may call native code. The check loads nothing and prints no warning.
 *
 * <p>Threading: stateless.
 */
public final class NativeAccess {
    private NativeAccess() {}

    /** Returns why these modules may not call native code, and which flag permits it; empty if all may. */
    public static Optional<String> missing(Module... needed) {
        if (Stream.of(needed).allMatch(Module::isNativeAccessEnabled)) {
            return Optional.empty();
        }
        String names = Stream.of(needed)
                .map(module -> module.isNamed() ? module.getName() : "ALL-UNNAMED")
                .distinct()
                .collect(Collectors.joining(","));
        return Optional.of("native access is not granted; run java with --enable-native-access=" + names
                + " (\"mad run\" does it by itself, unless told --no-native)");
    }
}
