package io.madeleine.pmm.spi;

import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Whether Java modules may call native code. Asking loads nothing and warns nobody.
 *
 * <p>Threading: stateless.
 */
public final class NativeAccess {
    private NativeAccess() {}

    /** Why they may not, and which flag mends it; empty if all may. */
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
