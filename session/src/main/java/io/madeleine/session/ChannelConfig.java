package io.madeleine.session;

import io.madeleine.pmm.WaitHint;
import io.madeleine.session.config.ChannelSettings;
import io.madeleine.session.config.ConfigReader;

/**
 * The configuration of one channel.
 *
 * <p>Threading: immutable.
 *
 * @param name the channel's name
 * @param network a network's name, or "auto"
 * @param adapter the name of one of the network's adapters, or "auto"
 * @param hint what counts most for threads of this process that wait on the channel
 */
public record ChannelConfig(String name, String network, String adapter, WaitHint hint) {
    ChannelConfig(ChannelSettings settings) {
        this(settings.name(), settings.network(), settings.adapter(), settings.hint());
    }

    /** Whether each pair of processes uses the best network that both have. */
    public boolean automatic() {
        return network.equals(ConfigReader.AUTO);
    }
}
