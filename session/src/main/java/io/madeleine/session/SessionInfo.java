package io.madeleine.session;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigValue;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.switching.SelectionTable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a session with this configuration would have in this process: networks, transmission modules, channels. Nothing
 * is opened to find out.
 *
 * <p>Threading: immutable.
 *
 * @param protocols the families of networks, those that "auto" prefers first
 * @param channels the channels as configured, ordered by name
 * @param waiting how threads wait
 */
public record SessionInfo(List<Protocol> protocols, List<ChannelConfig> channels, WaitPolicy waiting) {
    /**
     * A setting by which the selection is made.
     *
     * @param key its full key
     * @param value its value as configured
     * @param source "default", or where it was measured or set
     */
    public record Threshold(String key, String value, String source) {}

    /**
     * A family of networks.
     *
     * @param name its name
     * @param availability whether it can be used, and why or why not
     * @param preferred whether it is in {@code madeleine.networks}, from which "auto" chooses
     * @param adapters its adapters, the default one first; empty if it is off
     * @param modules the transmission modules of its default adapter in the order of selection; empty if it could not be loaded
     * @param modulesByAdapter the same of each adapter, in their order; empty if it is off
     * @param nativeModules the Java modules that need native access for it
     * @param thresholds the settings by which the selection is made
     */
    public record Protocol(
            String name,
            Availability availability,
            boolean preferred,
            List<String> adapters,
            List<TransmissionCapabilities> modules,
            Map<String, List<TransmissionCapabilities>> modulesByAdapter,
            List<String> nativeModules,
            List<Threshold> thresholds) {
        /** Whether it can be used. */
        public boolean on() {
            return availability.on();
        }

        /** Which transmission module takes which block, between two processes configured alike; empty without modules. */
        public Optional<SelectionTable> selection() {
            return modules.isEmpty() ? Optional.empty() : Optional.of(SelectionTable.of(modules));
        }

        /** The same over one adapter; empty if the family has no such adapter. */
        public Optional<SelectionTable> selection(String adapter) {
            return Optional.ofNullable(modulesByAdapter.get(adapter)).map(SelectionTable::of);
        }

        /** The adapters whose transmission modules are not those of the default one. */
        public List<String> adaptersApart() {
            return adapters.stream()
                    .filter(adapter -> !modules.equals(modulesByAdapter.get(adapter)))
                    .toList();
        }
    }

    /**
     * Describes a session opened with these arguments; see {@link io.madeleine.api.Session#open(String...)}.
     *
     * @throws io.madeleine.api.ConfigurationException if a key or a value is wrong, or a network or adapter is named that
     *     there is not
     */
    public static SessionInfo of(List<String> arguments) {
        return of(SessionConfig.ofAnyProcess(ConfigSources.ofArguments(arguments, Surroundings.ofThisProcess())));
    }

    /**
     * Describes what this process knows of the session of another program: networks that it names and this process does not know may
     * have their drivers among that program's classes.
     *
     * @throws io.madeleine.api.ConfigurationException if a key or a value is wrong
     */
    public static SessionInfo ofOtherProgram(List<String> arguments) {
        SessionConfig config =
                SessionConfig.ofAnyProcess(ConfigSources.ofArguments(arguments, Surroundings.ofThisProcess()));
        return describe(config, Families.wire(config));
    }

    /** Describes a session opened with these settings; see {@link Sessions#open(Config)}. */
    public static SessionInfo of(Config settings) {
        return of(SessionConfig.ofAnyProcess(ConfigSources.ofConfig(settings, Surroundings.ofThisProcess())));
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
        return new SessionInfo(protocols, config.channels(), config.waiting());
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
                        .toList());
    }

    private static Threshold threshold(String key, ConfigValue value) {
        return new Threshold(key, value.unwrapped().toString(), ConfigSources.sourceOf(value));
    }

    /** The Java modules that need native access for what this configuration enables. */
    public List<String> nativeModules() {
        return protocols.stream()
                .flatMap(protocol -> protocol.nativeModules().stream())
                .distinct()
                .toList();
    }

    /** The family of that name. */
    public Optional<Protocol> protocol(String name) {
        return protocols.stream()
                .filter(protocol -> protocol.name().equals(name))
                .findFirst();
    }

    /** The network that a channel would take to a process configured alike; empty if there is none. */
    public Optional<Protocol> protocolOf(ChannelConfig channel) {
        return protocols.stream()
                .filter(Protocol::on)
                .filter(protocol -> channel.automatic()
                        ? protocol.preferred()
                        : protocol.name().equals(channel.network()))
                .findFirst();
    }
}
