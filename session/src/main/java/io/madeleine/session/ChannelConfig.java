package io.madeleine.session;

import io.madeleine.pmm.WaitHint;

/**
 * One channel as configured.
 *
 * <p>Threading: immutable.
 *
 * @param name its name
 * @param network a network's name, or "auto"
 * @param adapter one of the network's adapters, or "auto"
 * @param hint what counts for those who wait on it in this process
 */
public record ChannelConfig(String name, String network, String adapter, WaitHint hint) {
    /** As another process has it, whose way to wait is its own affair. */
    ChannelConfig(String name, String network, String adapter) {
        this(name, network, adapter, WaitHint.AUTO);
    }

    /** Whether each pair of processes uses the best network it shares. */
    public boolean automatic() {
        return network.equals(ConfigReader.AUTO);
    }
}
