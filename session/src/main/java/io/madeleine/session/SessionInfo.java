package io.madeleine.session;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigValue;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.ProcessEnvironment;
import io.madeleine.session.config.SessionConfig;
import io.madeleine.session.network.Families;
import io.madeleine.session.network.Family;
import io.madeleine.session.network.NamedNetworks;
import io.madeleine.switching.SelectionTable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Describes the networks, transmission modules and channels that a session with this configuration would have in this
 * process. Opens nothing.
 *
 * <p>Threading: immutable.
 *
 * @param protocols the families of networks, in the order in which "auto" prefers them, then all others
 * @param channels the configured channels, ordered by name
 * @param waiting how threads wait
 */
public record SessionInfo(List<Protocol> protocols, List<ChannelConfig> channels, WaitPolicy waiting) {
    /**
     * A setting that determines the selection of transmission modules.
     *
     * @param key its full key
     * @param value its value as configured
     * @param source "default", or where the value was measured or set
     */
    public record Threshold(String key, String value, String source) {}

    /**
     * A family of networks.
     *
     * @param name its name
     * @param availability whether it can be used, and why or why not
     * @param preferred whether {@code madeleine.networks}, from which "auto" chooses, contains it
     * @param adapters its adapters, the default one first; empty if the family is off
     * @param modules the transmission modules of its default adapter, in the order of selection; empty if the family
     *     could not be loaded
     * @param modulesByAdapter the transmission modules of each adapter, in the order of {@code adapters}; empty if the
     *     family is off
     * @param nativeModules the Java modules that need native access for this family
     * @param thresholds the settings that determine the selection
     * @param examination asks the driver more thoroughly whether the family can be used, which may load a native
     *     library: see {@link ProtocolModule#examine()}
     * @param inventory asks the driver what this host offers it, which may load a native library: see {@link
     *     ProtocolModule#inventory()}
     */
    public record Protocol(
            String name,
            Availability availability,
            boolean preferred,
            List<String> adapters,
            List<TransmissionCapabilities> modules,
            Map<String, List<TransmissionCapabilities>> modulesByAdapter,
            List<String> nativeModules,
            List<Threshold> thresholds,
            Supplier<Availability> examination,
            Supplier<List<String>> inventory) {
        public boolean on() {
            return availability.on();
        }

        /**
         * Which transmission module carries which block between two processes with the same configuration; empty
         * without modules.
         */
        public Optional<SelectionTable> selection() {
            return modules.isEmpty() ? Optional.empty() : Optional.of(SelectionTable.of(modules));
        }

        /** As {@link #selection()}, for one adapter; empty if the family has no such adapter. */
        public Optional<SelectionTable> selection(String adapter) {
            return Optional.ofNullable(modulesByAdapter.get(adapter)).map(SelectionTable::of);
        }

        /** The adapters whose transmission modules differ from those of the default adapter. */
        public List<String> adaptersApart() {
            return adapters.stream()
                    .filter(adapter -> !modules.equals(modulesByAdapter.get(adapter)))
                    .toList();
        }
    }

    /**
     * Describes a session with these arguments; see {@link io.madeleine.api.Session#open(String...)}.
     *
     * @throws io.madeleine.api.ConfigurationException if a key or a value is wrong, or names an unknown network or
     *     adapter
     */
    public static SessionInfo of(List<String> arguments) {
        return of(SessionConfig.ofAnyProcess(ConfigSources.ofArguments(arguments, ProcessEnvironment.ofThisProcess())));
    }

    /**
     * Describes the session of another program, as far as this process knows it. Accepts networks that are unknown
     * here, because the other program's classes may contain their drivers.
     *
     * @throws io.madeleine.api.ConfigurationException if a key or a value is wrong
     */
    public static SessionInfo ofOtherProgram(List<String> arguments) {
        SessionConfig config =
                SessionConfig.ofAnyProcess(ConfigSources.ofArguments(arguments, ProcessEnvironment.ofThisProcess()));
        return describe(config, Families.wire(config));
    }

    /** Describes a session with these settings; see {@link Sessions#open(Config)}. */
    public static SessionInfo of(Config settings) {
        return of(SessionConfig.ofAnyProcess(ConfigSources.ofConfig(settings, ProcessEnvironment.ofThisProcess())));
    }

    static SessionInfo of(SessionConfig config) {
        Families families = Families.wire(config);
        NamedNetworks.checkKnown(config, families);
        return describe(config, families);
    }

    private static SessionInfo describe(SessionConfig config, Families families) {
        Set<Family> bestFirst = new LinkedHashSet<>();
        config.networks().forEach(network -> families.family(network).ifPresent(bestFirst::add));
        bestFirst.addAll(families.all());
        List<Protocol> protocols = bestFirst.stream()
                .map(family -> describe(family, config.networks().contains(family.name()), config.root()))
                .toList();
        return new SessionInfo(
                protocols, config.channels().stream().map(ChannelConfig::new).toList(), config.waiting());
    }

    private static Protocol describe(Family family, boolean preferred, Config root) {
        List<String> adapters = family.availability().on()
                ? family.module().map(ProtocolModule::adapterNames).orElse(List.of())
                : List.of();
        Map<String, List<TransmissionCapabilities>> modules = new LinkedHashMap<>();
        family.module()
                .ifPresent(module ->
                        adapters.forEach(adapter -> modules.put(adapter, module.transmissionModules(adapter))));
        return new Protocol(
                family.name(),
                family.availability(),
                preferred,
                List.copyOf(adapters),
                adapters.isEmpty()
                        ? family.module()
                                .map(ProtocolModule::transmissionModules)
                                .orElse(List.of())
                        : List.copyOf(modules.values()).getFirst(),
                Collections.unmodifiableMap(modules),
                family.module().map(ProtocolModule::nativeModules).orElse(List.of()),
                family.module().map(ProtocolModule::thresholdKeys).orElse(List.of()).stream()
                        .filter(root::hasPath)
                        .map(key -> threshold(key, root.getValue(key)))
                        .toList(),
                () -> family.availability().on()
                        ? family.module().map(ProtocolModule::examine).orElse(family.availability())
                        : family.availability(),
                () -> family.module().map(ProtocolModule::inventory).orElse(List.of()));
    }

    private static Threshold threshold(String key, ConfigValue value) {
        return new Threshold(key, value.unwrapped().toString(), ConfigSources.sourceOf(value));
    }

    /** The Java modules that need native access for the networks that this configuration names. */
    public List<String> nativeModules() {
        return protocols.stream()
                .filter(this::isNamed)
                .flatMap(protocol -> protocol.nativeModules().stream())
                .distinct()
                .toList();
    }

    private boolean isNamed(Protocol protocol) {
        return protocol.preferred()
                || channels.stream().anyMatch(channel -> channel.network().equals(protocol.name()));
    }

    /** The family with this name; empty if there is none. */
    public Optional<Protocol> protocol(String name) {
        return protocols.stream()
                .filter(protocol -> protocol.name().equals(name))
                .findFirst();
    }

    /**
     * The network that a channel would use between two processes with the same configuration; empty if there is none.
     */
    public Optional<Protocol> protocolOf(ChannelConfig channel) {
        return protocols.stream()
                .filter(Protocol::on)
                .filter(protocol -> channel.automatic()
                        ? protocol.preferred()
                        : protocol.name().equals(channel.network()))
                .findFirst();
    }
}
