package io.madeleine.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * Options that say which configuration counts.
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
            description = "Sets one key, for instance wait.mode=spin; counts more than the file. May be repeated.")
    List<String> settings = new ArrayList<>();

    /** In the form which {@code Session.open} takes. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        conf.ifPresent(file -> arguments.add("--conf=" + file));
        arguments.addAll(settings);
        return arguments;
    }
}
