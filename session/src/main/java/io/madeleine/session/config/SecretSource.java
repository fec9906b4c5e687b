package io.madeleine.session.config;

import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Finds the secret that a process was given: in the configuration, in a file of its own, or in the environment. Refuses
 * a secret on the command line, which every user of the machine can read, and a secret file that others can read.
 *
 * <p>Threading: stateless.
 */
final class SecretSource {
    static final String KEY = "madeleine.session.secret";
    static final String FILE_KEY = "madeleine.session.secret-file";

    private static final Logger LOGGER = System.getLogger(SecretSource.class.getName());
    private static final int MAX_BYTES = 64 * 1024;

    /** The permissions that a secret file must not grant. A reader learns the secret, a writer chooses it. */
    private static final Set<PosixFilePermission> TOO_MUCH = EnumSet.of(
            PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE, PosixFilePermission.GROUP_WRITE);

    private SecretSource() {}

    /**
     * Returns the secret, empty if none is given. Warns if it can be guessed, or if others can read the configuration
     * file that contains it.
     */
    static String of(ConfigReader reader, ProcessEnvironment given) {
        String secret = check(reader, given);
        if (!reader.text(KEY).isEmpty()) {
            warnOfReaders(reader);
        }
        SecretStrength.warnIfWeak(secret, source(reader));
        return secret;
    }

    private static String source(ConfigReader reader) {
        if (!reader.text(KEY).isEmpty()) {
            return KEY + " (" + reader.origin(KEY) + ")";
        }
        String file = reader.text(FILE_KEY);
        return file.isEmpty()
                ? "the secret in " + ProcessEnvironment.SECRET + " of the environment"
                : "the secret in the file " + file + ", which " + FILE_KEY + " names,";
    }

    /** Returns the secret as {@link #of} does, without that warning. */
    static String check(ConfigReader reader, ProcessEnvironment given) {
        String secret = reader.text(KEY);
        String file = reader.text(FILE_KEY);
        if (secret.isEmpty()) {
            return file.isEmpty() ? given.variable(ProcessEnvironment.SECRET).orElse("") : inFile(file, reader);
        }
        if (!file.isEmpty()) {
            throw reader.wrong(FILE_KEY, "one of " + FILE_KEY + " and " + KEY + ", and both are set");
        }
        if (isOnCommandLine(secret, given)) {
            throw reader.wrong(
                    KEY,
                    "not to be on a command line, which every user of this machine can read; give it in a file with "
                            + FILE_KEY + " or by " + ProcessEnvironment.SECRET + " of the environment");
        }
        if (secret.indexOf('\0') >= 0) { // the environment, by which processes get it, cannot hold it
            throw reader.wrong(KEY, "a text without zero characters");
        }
        return secret;
    }

    private static boolean isOnCommandLine(String secret, ProcessEnvironment given) {
        Pattern setting = Pattern.compile("secret\"?\\s*[=:]\\s*\"?" + Pattern.quote(secret));
        return given.commandLine().stream()
                .anyMatch(argument -> setting.matcher(argument).find());
    }

    private static String inFile(String name, ConfigReader reader) {
        byte[] content;
        try {
            Path file = Path.of(name);
            if (Files.exists(file) && !Files.isRegularFile(file)) {
                throw reader.wrong(
                        FILE_KEY,
                        "a regular file; this is "
                                + (Files.isDirectory(file) ? "a directory" : "a pipe, a device or a socket"));
            }
            excess(file).ifPresent(mode -> {
                throw reader.wrong(
                        FILE_KEY,
                        "a file that only its owner, and perhaps its group, can read; its mode is " + mode
                                + ": chmod 600 " + name);
            });
            try (InputStream in = Files.newInputStream(file)) {
                content = in.readNBytes(MAX_BYTES + 1);
            }
        } catch (IOException | InvalidPathException e) {
            throw reader.wrong(
                    FILE_KEY, "a readable file, looked in " + Path.of("").toAbsolutePath() + "; found " + e);
        }
        String secret = new String(content, StandardCharsets.UTF_8).strip();
        if (secret.isEmpty() || content.length > MAX_BYTES) {
            throw reader.wrong(
                    FILE_KEY,
                    "a file with a secret of 1 to " + MAX_BYTES + " bytes; it has "
                            + (secret.isEmpty() ? "none" : "more"));
        }
        if (secret.chars().anyMatch(Character::isISOControl)) {
            throw reader.wrong(
                    FILE_KEY,
                    "a file with a secret of one line without control characters, such as \"mad secret FILE\" makes");
        }
        return secret;
    }

    /**
     * Warns if others can read a configuration file that contains the secret. It is not refused, since such a file has
     * other purposes and may have to be readable.
     */
    private static void warnOfReaders(ConfigReader reader) {
        String name = reader.config().getValue(KEY).origin().filename();
        if (name == null) {
            return;
        }
        try {
            excess(Path.of(name))
                    .ifPresent(mode -> LOGGER.log(
                            Level.WARNING,
                            "{0} ({1}): the file''s mode is {2}, so others can read or change the secret:"
                                    + " chmod 600 {3}, or put the secret into a file of its own with {4}",
                            KEY,
                            reader.origin(KEY),
                            mode,
                            name,
                            FILE_KEY));
        } catch (IOException | InvalidPathException _) {
            // the file was readable a moment ago; without its mode there is nothing to warn of
        }
    }

    /** The mode of a file that grants too much; empty if it does not, or if its file system has no modes. */
    private static Optional<String> excess(Path file) throws IOException {
        try {
            Set<PosixFilePermission> granted = Files.getPosixFilePermissions(file);
            return TOO_MUCH.stream().anyMatch(granted::contains)
                    ? Optional.of(PosixFilePermissions.toString(granted))
                    : Optional.empty();
        } catch (UnsupportedOperationException _) {
            return Optional.empty();
        }
    }
}
