package io.madeleine.session.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import io.madeleine.api.ConfigurationException;
import io.madeleine.api.SessionRequest;
import io.madeleine.pmm.WaitHint;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.faults.Faults;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The validated configuration of a session.
 *
 * <p>Threading: immutable.
 *
 * @param membership the place of this process in the session, and how it finds the others
 * @param timeouts the time limits
 * @param waiting how threads wait
 * @param channels the channels, ordered by name
 * @param networks the networks that "auto" chooses from, best first
 * @param families the families of networks, ordered by name
 * @param selfDescribed whether blocks carry a description
 * @param faults the faults to inject into what arrives, for tests
 * @param root the whole configuration, from which the families read their keys
 */
public record SessionConfig(
        Membership membership,
        Timeouts timeouts,
        WaitPolicy waiting,
        List<ChannelSettings> channels,
        List<String> networks,
        List<FamilyConfig> families,
        boolean selfDescribed,
        Faults faults,
        Config root) {
    /** The key of {@link #selfDescribed}. */
    static final String SELF_DESCRIBED = "madeleine.debug.self-described";

    private static final long MILLISECOND_NS = 1_000_000;

    /** Reads and checks the whole configuration. */
    public static SessionConfig from(ConfigSources sources) {
        ConfigReader reader = new ConfigReader(sources.load());
        return from(reader, Membership.from(reader, sources));
    }

    /**
     * Reads and checks the whole configuration for a session that a request opens.
     *
     * @param here whether this process already listens at the request's address
     */
    public static SessionConfig of(SessionRequest request, boolean here, ConfigSources sources) {
        for (String key : Membership.KEYS) {
            if (sources.explicit().hasPathOrNull(key)) {
                throw new ConfigurationException(request + ": its settings have " + key + ": expected none of "
                        + String.join(", ", Membership.KEYS) + ", since the request itself says that");
            }
        }
        SessionConfig config = from(new ConfigReader(sources.load()), Membership.of(request, here));
        return request.channels().isEmpty() ? config : config.withChannels(request.channels());
    }

    private SessionConfig withChannels(Set<String> names) {
        List<ChannelSettings> chosen = new ArrayList<>();
        for (String name : new TreeSet<>(names)) {
            chosen.add(channels.stream()
                    .filter(channel -> channel.name().equals(name))
                    .findFirst()
                    .orElseGet(() -> new ChannelSettings(name, ConfigReader.AUTO, ConfigReader.AUTO)));
        }
        return new SessionConfig(
                membership, timeouts, waiting, List.copyOf(chosen), networks, families, selfDescribed, faults, root);
    }

    /**
     * Reads and checks the configuration without determining the membership, whose values may be missing here. Checks
     * each of its values by itself.
     */
    public static SessionConfig ofAnyProcess(ConfigSources sources) {
        ConfigReader reader = new ConfigReader(sources.load());
        Membership.check(reader, sources.surroundings());
        return from(reader, Membership.alone(reader.name("madeleine.session.name")));
    }

    private static SessionConfig from(ConfigReader reader, Membership membership) {
        return new SessionConfig(
                membership,
                new Timeouts(
                        reader.durationNs("madeleine.session.open-timeout", MILLISECOND_NS),
                        reader.durationNs("madeleine.session.close-timeout", 0),
                        reader.durationNs("madeleine.session.abort-timeout", 0),
                        reader.durationNs("madeleine.peer-timeout", 100 * MILLISECOND_NS)),
                new WaitPolicy(
                        reader.choice("madeleine.wait.mode", WaitMode.class),
                        reader.durationNs("madeleine.wait.spin", 0),
                        reader.number("madeleine.wait.yields", 0, 1_000_000),
                        reader.durationNs("madeleine.wait.in-handlers", 0)),
                channels(reader),
                reader.texts("madeleine.networks"),
                families(reader),
                reader.flag(SELF_DESCRIBED),
                FaultSettings.from(reader),
                reader.config());
    }

    private static List<ChannelSettings> channels(ConfigReader reader) {
        List<ChannelSettings> channels = new ArrayList<>();
        ConfigObject configured = reader.config().getObject("madeleine.channels");
        for (String name : new TreeSet<>(configured.keySet())) {
            ConfigReader channel = new ConfigReader(reader.config());
            String path = ConfigUtil.joinPath("madeleine", "channels", name);
            if (!name.matches("[A-Za-z0-9._-]{1,64}")) {
                throw channel.wrong(path, "a channel name of 1 to 64 letters, digits, dots, dashes and underscores");
            }
            String network = optional(channel, path + ".network");
            String adapter = optional(channel, path + ".adapter");
            if (network.equals(ConfigReader.AUTO) && !adapter.equals(ConfigReader.AUTO)) {
                throw channel.wrong(
                        path + ".adapter", "auto, since " + path + ".network is auto; or name the network too");
            }
            WaitHint hint = reader.config().hasPath(path + ".hint")
                    ? channel.choice(path + ".hint", WaitHint.class)
                    : WaitHint.AUTO;
            channels.add(new ChannelSettings(name, network, adapter, hint));
        }
        return List.copyOf(channels);
    }

    private static String optional(ConfigReader reader, String path) {
        return reader.config().hasPath(path) ? reader.name(path) : ConfigReader.AUTO;
    }

    private static List<FamilyConfig> families(ConfigReader reader) {
        List<FamilyConfig> families = new ArrayList<>();
        for (String name :
                new TreeSet<>(reader.config().getObject("madeleine.tm").keySet())) {
            String path = ConfigUtil.joinPath("madeleine", "tm", name);
            boolean enabled = !reader.config().hasPath(path + ".enabled") || reader.flag(path + ".enabled");
            Optional<String> module = reader.config().hasPath(path + ".guice-module")
                    ? Optional.of(reader.text(path + ".guice-module"))
                    : Optional.empty();
            families.add(new FamilyConfig(name, enabled, module, reader.origin(path + ".enabled")));
        }
        return List.copyOf(families);
    }
}
