package io.madeleine.pmm.spi;

import java.util.List;
import java.util.Optional;

/**
 * A protocol management module: the driver of one NIC family (paper, section 3.3, {@code mad_driver_t}). One instance
 * serves one session.
 *
 * <p>Threading: called by the thread that opens or closes the session, or that asks for information.
 */
public interface ProtocolModule {
    /** The family's name, as in configuration: {@code tcp}, {@code sci}. */
    String name();

    /** Whether the protocol works here; never throws, does not change anything, and is quick, as {@link Availability} says. */
    Availability availability();

    /**
     * The family's transmission modules with the thresholds configured here, those of the default adapter if adapters differ. The first is the primary one: it accepts
     * the smallest blocks and carries the first packet of every message. A block goes to the first module that accepts
     * its size, so the last one must accept any.
     */
    List<TransmissionCapabilities> transmissionModules();

    /**
     * The transmission modules of one adapter, where adapters differ: providers of one family have thresholds and buffers of
     * their own. The family's, unless the driver says otherwise.
     *
     * @param adapter one of {@link #adapterNames()}
     */
    default List<TransmissionCapabilities> transmissionModules(String adapter) {
        return transmissionModules();
    }

    /**
     * The full keys of the settings by which the selection is made, and which may be measured on a machine; for information
     * on where they come from.
     */
    default List<String> thresholdKeys() {
        return List.of();
    }

    /** The adapters configured or found, at least one when the protocol is available; the first is the default. */
    List<String> adapterNames();

    /**
     * Opens an adapter.
     *
     * @throws io.madeleine.api.MadeleineException if that fails, naming the key that mends it
     */
    Adapter openAdapter(String name, ProcessContext context);

    /**
     * The names of the Java modules that need native access for what is configured here, also where they have not got
     * it; empty for what the JDK does by itself. "mad run" grants it to exactly these.
     */
    default List<String> nativeModules() {
        return List.of();
    }

    /**
     * A reactor that this family needs the engine to sleep in, because its events cannot be registered in another; the
     * session uses the first one offered and else one of its own.
     */
    default Optional<Reactor> offerReactor() {
        return Optional.empty();
    }

    /**
     * Removes what processes of any session that are dead left behind on this host, such as files; what belongs to
     * living ones stays. A launcher calls it when it had to kill a process.
     */
    default void removeLeftovers() {}
}
