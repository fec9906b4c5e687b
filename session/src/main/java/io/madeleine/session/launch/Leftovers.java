package io.madeleine.session.launch;

import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.session.config.SessionConfig;
import io.madeleine.session.network.Families;
import io.madeleine.session.network.Family;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Removes what killed processes may have left on this host. Each family knows its own leftovers. Wiring the families
 * takes time, so this happens only if a process did not end by itself.
 *
 * <p>Threading: thread-safe.
 */
public final class Leftovers {
    private static final Logger LOGGER = System.getLogger(Leftovers.class.getName());

    private final SessionConfig config;
    private volatile boolean expected;

    public Leftovers(SessionConfig config) {
        this.config = config;
    }

    /** Notes that a process may not have cleaned up. */
    public void expect() {
        expected = true;
    }

    /** Removes leftovers if any are expected. */
    public void remove() {
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
            LOGGER.log(Level.WARNING, "removing the leftovers of killed processes failed", e);
        }
    }
}
