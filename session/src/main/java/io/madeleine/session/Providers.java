package io.madeleine.session;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import io.madeleine.api.ConfigurationException;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.ProcessEnvironment;
import io.madeleine.session.config.SessionConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads the providers of families of networks. A provider is a named set of a family's settings, {@code
 * madeleine.tm.FAMILY.providers.NAME}; tools accept it as {@code FAMILY:NAME}.
 *
 * <p>Threading: stateless.
 */
public final class Providers {
    private Providers() {}

    /**
     * Returns the settings of each provider of a family, by the provider's name; empty if the family has none. Each
     * setting is a {@code key=value} in the form that {@link io.madeleine.api.Session#open(String...)} accepts.
     *
     * @param arguments the arguments of a session
     * @param family the family's name
     * @throws ConfigurationException if a key or a value is wrong
     */
    public static Map<String, List<String>> of(List<String> arguments, String family) {
        Config root = SessionConfig.ofAnyProcess(
                        ConfigSources.ofArguments(arguments, ProcessEnvironment.ofThisProcess()))
                .root();
        Map<String, List<String>> providers = new TreeMap<>();
        String path = ConfigUtil.joinPath("madeleine", "tm", family, "providers");
        if (root.hasPath(path)) {
            object(path, root.getValue(path)).forEach((name, value) -> {
                Config settings = object(ConfigUtil.joinPath(path, name), value).toConfig();
                List<String> lines = new ArrayList<>();
                settings.entrySet()
                        .forEach(entry -> lines.add(ConfigUtil.joinPath("tm", family) + "." + entry.getKey() + "="
                                + text(entry.getValue())));
                lines.sort(null);
                providers.put(name, List.copyOf(lines));
            });
        }
        return providers;
    }

    private static ConfigObject object(String path, ConfigValue value) {
        if (value instanceof ConfigObject object) {
            return object;
        }
        throw new ConfigurationException(path + " = " + value.unwrapped() + " ("
                + value.origin().description() + "): expected an object of settings, {...}");
    }

    private static String text(ConfigValue value) {
        return switch (value.valueType()) {
            case LIST, OBJECT -> value.render(ConfigRenderOptions.concise());
            default -> String.valueOf(value.unwrapped());
        };
    }
}
