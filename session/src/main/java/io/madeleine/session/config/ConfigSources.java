package io.madeleine.session.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigMemorySize;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigOriginFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueFactory;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.Suggestions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Combines a configuration from its sources. The {@code reference.conf} of this module states their precedence.
 *
 * <p>Threading: immutable.
 *
 * @param explicit the settings that the caller of {@code Session.open} passes
 * @param file the configuration file that the caller names
 * @param surroundings environment and system properties
 */
public record ConfigSources(Config explicit, Optional<Path> file, ProcessEnvironment surroundings) {
    /** Completes the text of an error where a network is expected and no module brings one. */
    public static final String NO_NETWORK =
            "and none is there: the class path needs the artifact io.madeleine:madeleine, a program on the module path "
                    + "\"requires io.madeleine\", and a fat jar joins the files reference.conf";

    private static final String ROOT = "madeleine";
    private static final String REFERENCE = "reference.conf";
    private static final String TUNED = "madeleine.tuned";
    private static final String FAMILIES = "madeleine.tm";

    /** The prefix of the origin of values that "mad tune" has measured. */
    private static final String MEASURED = "measured, ";

    private static final String CONF_OPTION = "--conf";

    /** Kept from the last reading of the defaults, which takes milliseconds. */
    private static volatile List<String> usualNetworks = List.of();

    /** Takes arguments of the forms {@code key=value}, {@code --conf=FILE} and {@code --conf FILE}. */
    public static ConfigSources ofArguments(List<String> arguments, ProcessEnvironment surroundings) {
        Config settings = ConfigFactory.empty();
        Optional<Path> file = Optional.empty();
        for (Iterator<String> rest = arguments.iterator(); rest.hasNext(); ) {
            String argument = rest.next();
            int equals = argument.indexOf('=');
            if (argument.equals(CONF_OPTION) && rest.hasNext()) {
                file = Optional.of(Path.of(rest.next()));
            } else if (argument.startsWith(CONF_OPTION + "=")) {
                file = Optional.of(Path.of(argument.substring(equals + 1)));
            } else if (equals > 0 && !argument.startsWith("-")) {
                settings = with(settings, argument.substring(0, equals), argument.substring(equals + 1), "argument");
            } else {
                throw new ConfigurationException(
                        "argument \"" + argument + "\": expected key=value, such as wait.mode=spin, or --conf=FILE");
            }
        }
        return new ConfigSources(settings, file, surroundings);
    }

    /** Takes settings by key. */
    public static ConfigSources ofSettings(Map<String, ?> settings, ProcessEnvironment surroundings) {
        Config config = ConfigFactory.empty();
        for (Map.Entry<String, ?> setting : settings.entrySet()) {
            config = with(config, setting.getKey(), setting.getValue(), "setting of Session.open");
        }
        return new ConfigSources(config, Optional.empty(), surroundings);
    }

    /**
     * Takes the settings of a Config. Drops values that come from a reference.conf, since defaults must not override
     * files.
     */
    public static ConfigSources ofConfig(Config settings, ProcessEnvironment surroundings) {
        Config explicit = settings;
        if (settings.isResolved()) {
            for (Map.Entry<String, ConfigValue> setting : settings.entrySet()) {
                if (REFERENCE.equals(setting.getValue().origin().resource())) {
                    explicit = explicit.withoutPath(setting.getKey());
                }
            }
        }
        return new ConfigSources(explicit, Optional.empty(), surroundings);
    }

    /** Merges and resolves all sources and checks that all keys are known. */
    Config load() {
        Config reference = reference();
        try {
            Config given = aboveEnvironment().withFallback(launcherSettings()).withFallback(fromFile());
            Config known = given.withFallback(reference).resolve();
            Config measured = tuned(known);
            Config all = measured.isEmpty()
                    ? known
                    : given.withFallback(measured).withFallback(reference).resolve();
            KnownKeys.check(all, reference);
            return all;
        } catch (ConfigException e) {
            throw new ConfigurationException("the configuration cannot be read: " + e.getMessage(), e);
        }
    }

    /** Whether the caller or the system properties set the session's hosts. */
    boolean namesHosts() {
        Config above = aboveEnvironment();
        return above.hasPath("madeleine.session.hosts")
                && !new ConfigReader(above).texts("madeleine.session.hosts").isEmpty();
    }

    /** Whether nobody has given a setting, a file of settings or a launcher. */
    public boolean areEmpty() {
        return aboveEnvironment().isEmpty()
                && file.isEmpty()
                && Stream.of(ProcessEnvironment.SETTINGS, ProcessEnvironment.CONF, ProcessEnvironment.LAUNCHER)
                        .allMatch(name -> surroundings.variable(name).isEmpty());
    }

    /** The defaults of all modules on the class path. */
    private static Config reference() {
        try {
            Config found = ConfigFactory.parseResources(ConfigSources.class.getClassLoader(), REFERENCE);
            usualNetworks = List.copyOf(found.getStringList("madeleine.networks"));
            return found;
        } catch (ConfigException e) {
            throw new ConfigurationException("a reference.conf cannot be read: " + e.getMessage(), e);
        }
    }

    /**
     * The default of the networks that "auto" chooses from. It includes networks without a module on the class path.
     */
    public static List<String> usualNetworks() {
        if (usualNetworks.isEmpty()) {
            Config _ = reference();
        }
        return usualNetworks;
    }

    /** The measured thresholds from the file that the other sources name; empty if they name none. */
    private static Config tuned(Config known) {
        String file = known.getString(TUNED);
        if (file.isEmpty()) {
            return ConfigFactory.empty();
        }
        Path path = Path.of(file);
        if (!Files.isReadable(path) || Files.isDirectory(path)) {
            throw new ConfigurationException(TUNED + " = " + file + " cannot be read: expected a file that \"mad tune"
                    + " --write\" has made, looked in " + Path.of("").toAbsolutePath());
        }
        Config measured = ConfigFactory.parseFile(
                path.toFile(), ConfigParseOptions.defaults().setOriginDescription(MEASURED + file));
        checkOnly(measured.root(), "", ROOT);
        if (measured.root().get(ROOT) instanceof ConfigObject own) {
            checkOnly(own, ROOT + ".", "tm");
        }
        return measured;
    }

    /** Refuses other keys in a file of measured thresholds, where they would have no effect. */
    private static void checkOnly(ConfigObject found, String prefix, String expected) {
        found.forEach((key, value) -> {
            if (!key.equals(expected)) {
                throw new ConfigurationException("key " + prefix + key + " ("
                        + value.origin().description() + "): expected only thresholds, below " + FAMILIES
                        + ", in the file that " + TUNED
                        + " names, as \"mad tune --write\" makes it; other settings belong"
                        + " in a file of their own (--conf)");
            }
        });
    }

    /** Describes the source of a value: measured, default, or the place that sets it. */
    public static String sourceOf(ConfigValue value) {
        String place = value.origin().description();
        if (place.startsWith(MEASURED)) {
            return place;
        }
        return REFERENCE.equals(value.origin().resource()) ? "default" : "set by " + place;
    }

    private Config aboveEnvironment() {
        return explicit.withFallback(systemProperties());
    }

    private Config systemProperties() {
        Config config = ConfigFactory.empty();
        for (String name : surroundings.properties().stringPropertyNames()) {
            if (name.startsWith(ROOT + ".")) {
                config = with(config, name, surroundings.properties().getProperty(name), "system property");
            }
        }
        return config;
    }

    private Config launcherSettings() {
        Config config = ConfigFactory.empty();
        String lines = surroundings.variable(ProcessEnvironment.SETTINGS).orElse("");
        for (String line : lines.lines().toList()) {
            int equals = line.indexOf('=');
            if (equals <= 0) {
                throw new ConfigurationException(
                        ProcessEnvironment.SETTINGS + " of the environment holds \"" + line + "\": expected key=value");
            }
            config = with(config, line.substring(0, equals), line.substring(equals + 1), "setting of the launcher");
        }
        return config;
    }

    private Config fromFile() {
        Optional<Path> path =
                file.or(() -> surroundings.variable(ProcessEnvironment.CONF).map(Path::of));
        if (path.isEmpty()) {
            return ConfigFactory.empty();
        }
        String givenBy = file.isPresent() ? "" : ", named by " + ProcessEnvironment.CONF + " of the environment,";
        if (!Files.isReadable(path.get()) || Files.isDirectory(path.get())) {
            throw new ConfigurationException("configuration file " + path.get() + givenBy
                    + " cannot be read: expected a readable HOCON file, looked in "
                    + Path.of("").toAbsolutePath());
        }
        Config config = ConfigFactory.parseFile(path.get().toFile());
        for (String key : config.root().keySet()) {
            if (!key.equals(ROOT) && Suggestions.nearest(key, List.of(ROOT)).isPresent()) {
                throw new ConfigurationException("unknown key " + key + " ("
                        + config.root().get(key).origin().description() + "); did you mean " + ROOT + "?");
            }
        }
        if (!config.isEmpty() && !config.root().containsKey(ROOT)) {
            throw new ConfigurationException(
                    "configuration file " + path.get() + givenBy + " sets nothing of Madeleine: it has "
                            + String.join(", ", new TreeSet<>(config.root().keySet())) + ": expected keys under " + ROOT
                            + ", as in " + ROOT + ".wait.mode = spin");
        }
        return config;
    }

    private static Config with(Config config, String key, Object value, String source) {
        String path = key.equals(ROOT) || key.startsWith(ROOT + ".") ? key : ROOT + "." + key;
        List<String> names;
        try {
            names = ConfigUtil.splitPath(path);
        } catch (ConfigException e) {
            throw new ConfigurationException(source + " \"" + key + "\": expected a key such as wait.mode", e);
        }
        String origin = source + " " + key;
        ConfigValue around = valueOf(value, origin);
        // give the enclosing objects the same origin, since an error may name one of them
        for (String name : names.reversed()) {
            around = ConfigValueFactory.fromMap(Map.of(name, around), origin);
        }
        return ((ConfigObject) around).toConfig().withFallback(config.withoutPath(path));
    }

    /**
     * Keeps a text as text unless it is written as a list, an object or a quoted text. The reader converts texts to
     * numbers.
     */
    private static ConfigValue valueOf(Object value, String origin) {
        return switch (value) {
            case String text
            when text.startsWith("[") || text.startsWith("{") || text.startsWith("\"") -> parsed(text, origin);
            case Boolean _, Number _, Map<?, ?> _, Iterable<?> _, ConfigValue _, ConfigMemorySize _ ->
                ConfigValueFactory.fromAnyRef(value, origin);
            case Duration duration -> ConfigValueFactory.fromAnyRef(text(duration), origin);
            default -> ConfigValueFactory.fromAnyRef(value.toString(), origin);
        };
    }

    /** Formats a duration with its unit, without loss. */
    private static String text(Duration duration) {
        return duration.getNano() == 0 ? duration.getSeconds() + "s" : duration.toNanos() + "ns";
    }

    private static ConfigValue parsed(String text, String origin) {
        try {
            return withOrigin(ConfigFactory.parseString("value = " + text).getValue("value"), origin);
        } catch (ConfigException e) {
            throw new ConfigurationException(
                    origin + " = " + text + ": expected a list, object or text"
                            + (text.indexOf(':') < 0
                                    ? ""
                                    : "; a text with a colon in a list needs quotes, as in [\"127.0.0.1:9000\"]"),
                    e);
        }
    }

    /** Gives the parts of a value the same origin, since an error may name one of them. */
    private static ConfigValue withOrigin(ConfigValue value, String origin) {
        return switch (value) {
            case ConfigObject object
            when object.toConfig().isResolved() -> {
                Map<String, ConfigValue> members = new LinkedHashMap<>();
                object.forEach((key, member) -> members.put(key, withOrigin(member, origin)));
                yield ConfigValueFactory.fromMap(members, origin);
            }
            case ConfigList list ->
                ConfigValueFactory.fromIterable(
                        list.stream().map(item -> withOrigin(item, origin)).toList(), origin);
            default -> value.withOrigin(ConfigOriginFactory.newSimple(origin));
        };
    }
}
