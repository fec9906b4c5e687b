package io.madeleine.session.config;

import io.madeleine.pmm.WaitHint;

/**
 * The settings of one channel.
 *
 * <p>Threading: immutable.
 *
 * @param name the channel's name
 * @param network a network's name, or "auto"
 * @param adapter the name of one of the network's adapters, or "auto"
 * @param hint what counts most for threads of this process that wait on the channel
 */
public record ChannelSettings(String name, String network, String adapter, WaitHint hint) {
    /** The channel of another process. Its hint is not transmitted, since it concerns that process only. */
    public ChannelSettings(String name, String network, String adapter) {
        this(name, network, adapter, WaitHint.AUTO);
    }

    /** Whether each pair of processes uses the best network that both have. */
    public boolean automatic() {
        return network.equals(ConfigReader.AUTO);
    }
}
