package io.madeleine.session.network;

import com.typesafe.config.ConfigUtil;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.Suggestions;
import io.madeleine.session.config.ChannelSettings;
import io.madeleine.session.config.ConfigReader;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.FamilyConfig;
import io.madeleine.session.config.SessionConfig;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Checks the networks and adapters that the configuration names. A channel's network and adapter must exist; a network
 * in {@code madeleine.networks} needs only a known name.
 *
 * <p>Threading: stateless.
 */
public final class NamedNetworks {
    private static final String NETWORKS = "madeleine.networks";

    private NamedNetworks() {}

    /**
     * Checks that the names are known. The networks need not be usable here.
     *
     * @throws io.madeleine.api.ConfigurationException if a name is unknown
     */
    public static void checkKnown(SessionConfig config, Families families) {
        ConfigReader reader = new ConfigReader(config.root());
        List<String> known = families.all().stream().map(Family::name).toList();
        List<String> existing = config.families().stream()
                .filter(family -> family.guiceModule().isPresent())
                .map(FamilyConfig::name)
                .toList();
        checkPreferred(config, known, existing, reader);
        for (ChannelSettings channel : config.channels()) {
            if (channel.automatic()) {
                continue;
            }
            if (!known.contains(channel.network())) {
                throw reader.wrong(
                        key(channel, "network"),
                        "auto or a network of madeleine.tm, " + anyOf(existing)
                                + Suggestions.didYouMean(channel.network(), known));
            }
            Optional<ProtocolModule> module = families.module(channel.network());
            List<String> adapters = module.map(ProtocolModule::adapterNames).orElse(List.of());
            if (module.isPresent()
                    && !channel.adapter().equals(ConfigReader.AUTO)
                    && !adapters.contains(channel.adapter())) {
                throw reader.wrong(
                        key(channel, "adapter"),
                        "auto or an adapter of " + channel.network() + ", " + Suggestions.anyOf(adapters)
                                + Suggestions.didYouMean(channel.adapter(), adapters));
            }
        }
    }

    private static String anyOf(List<String> existing) {
        return existing.isEmpty() ? ConfigSources.NO_NETWORK : Suggestions.anyOf(existing);
    }

    private static void checkPreferred(
            SessionConfig config, List<String> known, List<String> existing, ConfigReader reader) {
        Set<String> named = new TreeSet<>(known);
        named.addAll(ConfigSources.usualNetworks());
        Set<String> seen = new TreeSet<>();
        for (String network : config.networks()) {
            if (!seen.add(network)) {
                throw reader.wrong(NETWORKS, "each network once; " + network + " is there twice");
            }
            if (!named.contains(network)) {
                throw reader.wrong(
                        NETWORKS,
                        "names of networks, " + anyOf(existing) + "; there is no " + network
                                + Suggestions.didYouMean(network, named));
            }
        }
        Optional<ChannelSettings> automatic =
                config.channels().stream().filter(ChannelSettings::automatic).findFirst();
        if (config.networks().isEmpty() && automatic.isPresent()) {
            throw reader.wrong(
                    NETWORKS,
                    "one network or more, since " + key(automatic.get(), "network") + " is auto; the list is empty");
        }
    }

    /**
     * Checks that the names are known, and that the networks of channels can be used.
     *
     * @throws io.madeleine.api.ConfigurationException if a name is unknown or a channel's network is off
     */
    public static void checkUsable(SessionConfig config, Families families) {
        checkKnown(config, families);
        for (ChannelSettings channel : config.channels()) {
            if (!channel.automatic() && families.module(channel.network()).isEmpty()) {
                throw new ConfigReader(config.root())
                        .wrong(
                                key(channel, "network"),
                                "auto or a network that is on; this one is off: "
                                        + families.availability(channel.network())
                                                .text() + "; networks: " + families.summary());
            }
        }
    }

    private static String key(ChannelSettings channel, String last) {
        return ConfigUtil.joinPath("madeleine", "channels", channel.name(), last);
    }
}
