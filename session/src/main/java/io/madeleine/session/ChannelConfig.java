package io.madeleine.session;

/**
 * One channel as configured.
 *
 * <p>Threading: immutable.
 *
 * @param name its name
 * @param network a network's name, or "auto"
 * @param adapter one of the network's adapters, or "auto"
 */
public record ChannelConfig(String name, String network, String adapter) {
    /** Whether each pair of processes uses the best network it shares. */
    public boolean automatic() {
        return network.equals(ConfigReader.AUTO);
    }
}
