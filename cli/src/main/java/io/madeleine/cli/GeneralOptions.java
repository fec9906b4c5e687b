package io.madeleine.cli;

import picocli.CommandLine.Option;

/**
 * The options of every command.
 *
 * <p>Threading: confined to caller.
 */
final class GeneralOptions {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this help.")
    boolean help;

    @Option(names = VERBOSE, description = "Shows the stack trace of an error, too.")
    boolean verbose;

    static final String VERBOSE = "--verbose";
}
