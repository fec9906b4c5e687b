package io.madeleine.session.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigValue;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.Suggestions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Refuses unknown keys. A key is known if a {@code reference.conf} names it. There are three exceptions: channels can
 * have any name, each family checks its own keys, and {@link FaultSettings} those of faults.
 *
 * <p>Threading: stateless.
 */
final class KnownKeys {
    private static final String CHANNELS = "madeleine.channels";
    private static final String FAMILIES = "madeleine.tm";

    private KnownKeys() {}

    /** Checks all keys under {@code madeleine}. */
    static void check(Config actual, Config reference) {
        checkObject("madeleine", actual.getObject("madeleine"), reference.getObject("madeleine"), reference);
    }

    private static void checkObject(String path, ConfigObject actual, ConfigObject known, Config reference) {
        for (Map.Entry<String, ConfigValue> entry : new TreeMap<>(actual).entrySet()) {
            String key = entry.getKey();
            ConfigValue value = entry.getValue();
            ConfigValue expected = known.get(key);
            String here = path + "." + key;
            if (expected == null) {
                throw unknown(here, key, value, known.keySet());
            }
            switch (here) {
                case CHANNELS -> checkChannels(object(here, value), reference);
                case FaultSettings.LINKS -> object(here, value); // FaultSettings checks what is inside
                case FAMILIES -> checkFamilies(object(here, value), object(here, expected), actual);
                default -> {
                    if (expected instanceof ConfigObject inner) {
                        checkObject(here, object(here, value), inner, reference);
                    }
                }
            }
        }
    }

    private static void checkChannels(ConfigObject channels, Config reference) {
        ConfigObject pattern = reference.getObject(CHANNELS + ".default");
        channels.forEach((name, value) -> {
            String here = CHANNELS + "." + name;
            checkObject(here, object(here, value), pattern, reference);
        });
    }

    /**
     * Accepts a family if a module on the class path brings it, if {@code networks} contains it, or if it sets a {@code
     * guice-module}.
     */
    private static void checkFamilies(ConfigObject families, ConfigObject known, ConfigObject madeleine) {
        Set<String> names = new TreeSet<>(known.keySet());
        if (madeleine.get("networks") instanceof List<?> networks) {
            networks.forEach(name -> names.add(((ConfigValue) name).unwrapped().toString()));
        }
        families.forEach((name, value) -> {
            String here = FAMILIES + "." + name;
            ConfigObject family = object(here, value);
            if (!names.contains(name) && !family.containsKey("guice-module")) {
                throw unknown(here, name, family, existing(families), names);
            }
        });
    }

    /** The families that have a driver. */
    private static Set<String> existing(ConfigObject families) {
        Set<String> names = new TreeSet<>();
        families.forEach((name, value) -> {
            if (value instanceof ConfigObject family && family.containsKey("guice-module")) {
                names.add(name);
            }
        });
        return names;
    }

    private static ConfigObject object(String path, ConfigValue value) {
        if (value instanceof ConfigObject object) {
            return object;
        }
        throw new ConfigurationException(path + " = " + value.unwrapped() + " ("
                + value.origin().description() + "): expected an object, {...}");
    }

    private static ConfigurationException unknown(String path, String key, ConfigValue value, Set<String> known) {
        return unknown(path, key, value, known, known);
    }

    private static ConfigurationException unknown(
            String path, String key, ConfigValue value, Set<String> listed, Set<String> near) {
        return new ConfigurationException("unknown key " + path + " ("
                + value.origin().description() + "): expected "
                + (listed.isEmpty() ? "a network, " + ConfigSources.NO_NETWORK : "one of ")
                + String.join(", ", new TreeSet<>(listed))
                + Suggestions.didYouMean(key, new TreeSet<>(near)));
    }
}
