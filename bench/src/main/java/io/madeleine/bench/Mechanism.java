package io.madeleine.bench;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.ProtocolModule;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * A transmission module as {@code mad tune} measures it: by settings that send all blocks its way. The driver says so
 * in its {@code reference.conf}, {@code madeleine.tm.FAMILY.tuning}, in the order of selection.
 *
 * <p>Threading: immutable.
 *
 * @param id the transmission module
 * @param sendMode the mode of the blocks for which it is measured; those of each mode are measured against each other
 * @param settings what makes it take every block of its sizes, key=value each
 * @param sizes the messages with which it is measured
 * @param single whether it needs an engine for single copies
 * @param keys the settings by which it takes blocks over from the module before it
 */
record Mechanism(String id, SendMode sendMode, List<String> settings, SizeRange sizes, boolean single, Keys keys) {
    private static final long EVERY_POWER_TO_BYTES = 1 << 15;

    /**
     * The settings that say which blocks a module takes over.
     *
     * @param before the full key of the largest block that is left to the module before; empty if it does not end there
     * @param from the full key of the smallest block taken over
     * @param to the full key of the largest block taken over
     * @param with further settings if any are taken over, in full
     */
    record Keys(Optional<String> before, Optional<String> from, Optional<String> to, List<String> with) {}

    /** Those of a family; empty if its driver describes none. */
    static List<Mechanism> of(String family) {
        return of(
                family,
                ConfigFactory.parseResources(ProtocolModule.class.getClassLoader(), "reference.conf")
                        .resolve());
    }

    static List<Mechanism> of(String family, Config root) {
        String path = "madeleine.tm." + family + ".tuning";
        return root.hasPath(path)
                ? root.getConfigList(path).stream()
                        .map(described -> read(family, described))
                        .toList()
                : List.of();
    }

    private static Mechanism read(String family, Config described) {
        String prefix = "tm." + family + ".";
        return new Mechanism(
                described.getString("module"),
                described.hasPath("send-mode") ? described.getEnum(SendMode.class, "send-mode") : SendMode.CHEAPER,
                settings(described, "alone", prefix, "="),
                new SizeRange(described.getBytes("sizes.from"), described.getBytes("sizes.to")),
                described.hasPath("copy-engine") && described.getBoolean("copy-engine"),
                new Keys(
                        key(described, "before-key", family),
                        key(described, "from-key", family),
                        key(described, "to-key", family),
                        settings(described, "with", "madeleine." + prefix, " = ")));
    }

    private static Optional<String> key(Config described, String name, String family) {
        return described.hasPath(name)
                ? Optional.of("madeleine.tm." + family + "." + described.getString(name))
                : Optional.empty();
    }

    private static List<String> settings(Config described, String name, String prefix, String equal) {
        return described.hasPath(name)
                ? described.getConfig(name).entrySet().stream()
                        .map(entry -> prefix
                                + entry.getKey()
                                + equal
                                + entry.getValue().unwrapped())
                        .sorted()
                        .toList()
                : List.of();
    }

    /** Whether messages of this size are measured. */
    boolean has(long bytes) {
        return bytes >= sizes.fromBytes() && bytes <= sizes.toBytes();
    }

    /** All sizes that some of these are measured at: powers of two, of large ones every other. */
    static List<Long> sizes(List<Mechanism> mechanisms) {
        return LongStream.range(0, Long.SIZE - 1)
                .filter(power -> 1L << power <= EVERY_POWER_TO_BYTES || power % 2 == 0)
                .map(power -> 1L << power)
                .filter(bytes -> mechanisms.stream().anyMatch(mechanism -> mechanism.has(bytes)))
                .boxed()
                .toList();
    }
}
