package io.madeleine.pmm.spi;

import java.util.List;
import java.util.Optional;

/**
 * A protocol management module: the driver of one family of NICs (paper, section 3.3, {@code mad_driver_t}). One
 * instance serves one session.
 *
 * <p>Threading: called by the thread that opens or closes the session, or that asks for information.
 */
public interface ProtocolModule {
    /** The family's name in the configuration: {@code tcp}, {@code sci}. */
    String name();

    /**
     * Whether the protocol works on this host; never throws, changes nothing, and is fast: see {@link Availability}.
     */
    Availability availability();

    /**
     * As {@link #availability()}, for {@code mad info}: asks the system as the opening of an adapter does.
     * That may take a second, and load a native library if this process may call native code. Never throws.
     */
    default Availability examine() {
        return availability();
    }

    /**
     * The family's transmission modules with their configured thresholds; if adapters differ, those of the default
     * adapter. The first is the primary module: it accepts the smallest blocks and carries the first packet of every
     * message. A block goes to the first module that accepts its size, so the last one must accept every size.
     */
    List<TransmissionCapabilities> transmissionModules();

    /**
     * The transmission modules of one adapter, for a family whose adapters differ in thresholds and buffers. By default
     * those of the family.
     *
     * @param adapter one of {@link #adapterNames()}
     */
    default List<TransmissionCapabilities> transmissionModules(String adapter) {
        return transmissionModules();
    }

    /**
     * The full configuration keys of the selection thresholds, which a measurement on a machine may set. Reports show
     * where their values come from.
     */
    default List<String> thresholdKeys() {
        return List.of();
    }

    /**
     * The adapters that are configured or found, at least one if the protocol is available; the first is the default.
     */
    List<String> adapterNames();

    /**
     * Opens an adapter.
     *
     * @throws io.madeleine.api.MadeleineException if that fails; the text names the key that mends it
     */
    Adapter openAdapter(String name, ProcessContext context);

    /**
     * The Java modules that need native access for this configuration, whether they have it or not; empty if the JDK
     * suffices. {@code mad run} grants native access to exactly these modules.
     */
    default List<String> nativeModules() {
        return List.of();
    }

    /**
     * What this host offers the driver, for {@code mad info}: one line each, such as the devices that a library lists.
     * The driver may load that library if this process may call native code. Never throws.
     */
    default List<String> inventory() {
        return List.of();
    }

    /**
     * A reactor in which the engine has to sleep because no other one can watch this family's events. The session uses
     * the first one offered, or else its own.
     */
    default Optional<Reactor> offerReactor() {
        return Optional.empty();
    }

    /**
     * Removes what dead processes of any session left on this host, such as files, and keeps what belongs to living
     * ones. A launcher calls this after it had to kill a process.
     */
    default void removeLeftovers() {}
}
