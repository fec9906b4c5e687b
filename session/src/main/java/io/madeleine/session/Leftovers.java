package io.madeleine.session;

import io.madeleine.pmm.spi.ProtocolModule;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * What killed processes may have left on this host. Each family knows what that can be; wiring them costs time, so they
 * are only asked if a process did not end by itself.
 *
 * <p>Threading: thread-safe.
 */
final class Leftovers {
    private static final Logger LOGGER = System.getLogger(Leftovers.class.getName());

    private final SessionConfig config;
    private volatile boolean expected;

    Leftovers(SessionConfig config) {
        this.config = config;
    }

    /** A process could not clean up. */
    void expect() {
        expected = true;
    }

    /** Removes what is there, if anything is expected. */
    void remove() {
        if (!expected) {
            return;
        }
        expected = false;
        try {
            for (Family family : Families.wire(config).all()) {
                if (family.availability().on()) {
                    family.module().ifPresent(ProtocolModule::removeLeftovers);
                }
            }
        } catch (RuntimeException e) {
            LOGGER.log(Level.WARNING, "removing what killed processes left behind failed", e);
        }
    }
}
