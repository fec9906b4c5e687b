package io.madeleine.bench;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.CopyEngine;
import java.util.ServiceLoader;

/**
 * Whether this system has what single copy needs.
 *
 * <p>Threading: stateless.
 */
final class SingleCopyEngines {
    private SingleCopyEngines() {}

    /** The availability of the first engine that is found, as far as this process can tell. */
    static Availability availability() {
        return ServiceLoader.load(CopyEngine.class)
                .findFirst()
                .map(CopyEngine::availability)
                .orElseGet(() -> Availability.off("no copy engine is on the path"));
    }
}
