package io.madeleine.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * The options that select the configuration.
 *
 * <p>Threading: confined to caller.
 */
final class ConfigurationOptions {
    @Option(
            names = "--conf",
            paramLabel = "FILE",
            description = "Reads the configuration from this HOCON file, for instance one of conf/."
                    + " Default: the file that MADELEINE_CONF names, if any.")
    Optional<Path> conf = Optional.empty();

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            converter = Setting.class,
            description = "Sets one key, for instance wait.mode=spin; counts more than the file. May be repeated.")
    List<String> settings = new ArrayList<>();

    /** Checks the form of one setting. Its key and value are checked when the whole configuration is read. */
    static final class Setting implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            if (text.indexOf('=') < 1 || text.startsWith("-")) {
                throw new TypeConversionException("'" + text + "': expected KEY=VALUE, such as wait.mode=spin");
            }
            return text;
        }
    }

    /** The options as arguments of {@code Session.open}. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        conf.ifPresent(file -> arguments.add("--conf=" + file));
        arguments.addAll(settings);
        return arguments;
    }
}
