package io.madeleine.tm.via;

import com.typesafe.config.Config;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.ConfigReader;
import io.madeleine.tm.via.link.ConnectionSizes;
import io.madeleine.tm.via.link.RdmaSizes;
import io.madeleine.tm.via.link.RegisteredSizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The settings of libfabric networks, {@code madeleine.tm.via}. {@code reference.conf} describes the keys.
 *
 * <p>Threading: immutable.
 *
 * @param enabled whether sessions may use libfabric
 * @param library the file of libfabric; empty for the usual names
 * @param pins whether registrations pin their pages, as with hardware
 * @param adapters the adapters; the first is the default
 */
record ViaConfig(boolean enabled, Optional<String> library, boolean pins, List<AdapterConfig> adapters) {
    /** The path of the settings in the configuration. */
    static final String ROOT = "madeleine.tm.via";

    static final String AUTO = "auto";
    private static final String OFF = "off";
    private static final String AUTO_OR_OFF = AUTO + ", " + OFF;
    private static final int MIN_MESSAGE_BYTES = 4096;
    private static final int MAX_MESSAGE_BYTES = 1 << 20;
    private static final int MAX_COUNT = 1024;
    private static final int MIN_CHUNK_BYTES = 4096;
    private static final int MAX_CHUNK_BYTES = 1 << 24;
    private static final int MAX_GRANTS = 32;
    private static final int MAX_HEADERS = 64;
    private static final int MAX_KEPT = 1 << 20;
    private static final int MAX_WINDOW = 64;

    /** Copies the list. */
    ViaConfig {
        adapters = List.copyOf(adapters);
    }

    /**
     * One adapter.
     *
     * @param name its name
     * @param provider libfabric's provider; empty for the best provider of an RDMA device
     * @param domain the domain; empty for the provider's choice
     * @param address the own address; empty for the default
     * @param sizes the sizes of its connections
     */
    record AdapterConfig(
            String name,
            Optional<String> provider,
            Optional<String> domain,
            Optional<String> address,
            ConnectionSizes sizes) {
        /** The path of its settings in the configuration. */
        String key() {
            return ROOT + ".adapters." + name;
        }
    }

    /**
     * Reads the settings.
     *
     * @param root the whole configuration
     * @throws ConfigurationException if a value is wrong; the message names the key, its origin and the accepted values
     */
    static ViaConfig from(Config root) {
        ConfigReader via = new ConfigReader(root, ROOT);
        via.onlyKeys(
                "enabled", "guice-module", "providers", "library", "pin", "adapters", "pool", "registered", "rdma");
        ConfigReader pool = via.at("pool");
        pool.onlyKeys("message", "packets");
        ConfigReader rdma = via.at("rdma");
        rdma.onlyKeys("from", "chunk", "first-chunk", "grants", "headers", "keep", "keep-count", "trust-native");
        ConfigReader registered = via.at("registered");
        registered.onlyKeys("from", "message", "window");
        return new ViaConfig(
                via.bool("enabled"),
                named(via, "library"),
                via.oneOf("pin", List.of(OFF, "mlock")).equals("mlock"),
                adapters(via.at("adapters"), pool, registered, rdma));
    }

    private static ConnectionSizes sizes(
            Optional<String> provider, ConfigReader pool, ConfigReader registered, ConfigReader rdma) {
        BestSizes best = BestSizes.of(provider);
        RdmaSizes large = rdma(best, rdma);
        return new ConnectionSizes(
                pool.is("message", AUTO)
                        ? best.messageBytes()
                        : size(pool, "message", AUTO, MIN_MESSAGE_BYTES, MAX_MESSAGE_BYTES),
                pool.integer("packets", 2, MAX_COUNT),
                large,
                registered(best, registered, large.fromBytes()));
    }

    private static RegisteredSizes registered(BestSizes best, ConfigReader registered, long rdmaFromBytes) {
        int pieceBytes = registered.bytes("message", MIN_MESSAGE_BYTES, MAX_MESSAGE_BYTES);
        int window = registered.integer("window", 2, MAX_WINDOW);
        if (registered.is("from", OFF)) {
            return RegisteredSizes.OFF;
        }
        boolean isAuto = registered.is("from", AUTO);
        long fromBytes =
                isAuto ? best.registeredFromBytes() : size(registered, "from", AUTO_OR_OFF, 1, Integer.MAX_VALUE);
        if (isAuto && fromBytes >= rdmaFromBytes) {
            return RegisteredSizes.OFF; // via/rdma takes all of them
        }
        if (fromBytes >= rdmaFromBytes) {
            throw registered.wrong(
                    "from",
                    String.valueOf(fromBytes),
                    AUTO_OR_OFF + ", or less than " + ROOT + ".rdma.from, " + rdmaFromBytes);
        }
        return new RegisteredSizes(fromBytes, pieceBytes, window);
    }

    private static RdmaSizes rdma(BestSizes best, ConfigReader rdma) {
        long fromBytes = rdma.is("from", OFF)
                ? Long.MAX_VALUE
                : rdma.is("from", AUTO) ? best.rdmaFromBytes() : size(rdma, "from", AUTO_OR_OFF, 1, Integer.MAX_VALUE);
        return new RdmaSizes(
                fromBytes,
                rdma.bytes("chunk", MIN_CHUNK_BYTES, MAX_CHUNK_BYTES),
                rdma.bytes("first-chunk", MIN_CHUNK_BYTES, MAX_CHUNK_BYTES),
                rdma.integer("grants", 1, MAX_GRANTS),
                rdma.integer("headers", 1, MAX_HEADERS),
                rdma.is("keep", OFF) ? 0 : size(rdma, "keep", OFF, 0, Integer.MAX_VALUE),
                rdma.integer("keep-count", 0, MAX_KEPT),
                rdma.bool("trust-native"));
    }

    /** Reads a size in bytes; the error text names the words that the key accepts, too. */
    private static int size(ConfigReader reader, String key, String words, int least, int most) {
        return (int) reader.bytes(
                key, least, most, words + ", or a size from " + least + " B to " + most + " B, as in \"64 KiB\"");
    }

    private static Optional<String> named(ConfigReader reader, String key) {
        String value = reader.text(key);
        return value.equals(AUTO) ? Optional.empty() : Optional.of(value);
    }

    private static List<AdapterConfig> adapters(
            ConfigReader all, ConfigReader pool, ConfigReader registered, ConfigReader rdma) {
        List<AdapterConfig> adapters = new ArrayList<>();
        for (String name : all.keys().stream().sorted().toList()) {
            ConfigReader one = all.at(name);
            one.onlyKeys("provider", "domain", "address");
            Optional<String> provider = named(one, "provider");
            adapters.add(new AdapterConfig(
                    name,
                    provider,
                    one.has("domain") ? named(one, "domain") : Optional.empty(),
                    address(one, provider),
                    sizes(provider, pool, registered, rdma)));
        }
        if (adapters.isEmpty()) {
            throw all.wrong("", "empty", "at least one adapter, as in default { provider = auto }");
        }
        return adapters;
    }

    /** The own address: only a named provider has one, in its own form; shm has none. */
    private static Optional<String> address(ConfigReader adapter, Optional<String> provider) {
        Optional<String> address = adapter.has("address") ? named(adapter, "address") : Optional.empty();
        if (address.isPresent() && provider.filter(Providers.SHM::equals).isPresent()) {
            throw adapter.wrong("address", address.get(), "auto: the provider shm has no addresses");
        }
        if (address.isPresent() && provider.isEmpty()) {
            throw adapter.wrong(
                    "address", address.get(), "auto, unless provider names the provider that has this address");
        }
        return address;
    }

    /** The adapter with this name. */
    AdapterConfig adapter(String name) {
        return adapters.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigurationException("no adapter " + name + " in " + ROOT + ".adapters"));
    }
}
