package io.madeleine.session.network;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProtocolModule;
import java.util.Optional;

/**
 * A family of networks in this process.
 *
 * <p>Threading: immutable.
 *
 * @param name the family's name
 * @param module its protocol module; empty if the family is disabled or could not be loaded
 * @param availability whether the family can be used, and why or why not
 */
public record Family(String name, Optional<ProtocolModule> module, Availability availability) {
    /** A family that cannot be used, for this reason. */
    static Family off(String name, String reason) {
        return new Family(name, Optional.empty(), Availability.off(reason));
    }
}
