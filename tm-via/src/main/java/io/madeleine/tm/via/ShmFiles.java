package io.madeleine.tm.via;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The files of the provider shm in /dev/shm. Each has the name of its endpoint, which names its process, so that the
 * files of dead processes can be told from those of living ones.
 *
 * <p>Threading: stateless.
 */
final class ShmFiles {
    private static final Path DIRECTORY = Path.of("/dev/shm");
    private static final String SCHEME_END = "://";
    private static final String KEPT = ".kept";
    private static final String PREFIX = "madeleine-via-";
    private static final Pattern NAME = Pattern.compile("madeleine-via-([0-9a-f]+)-([0-9]+)-([0-9]+)-([0-9]+)-.*");

    private ShmFiles() {}

    /** A name for a new endpoint of this process: pid namespace, pid, start, number. */
    static String newName(String sessionId, int number) {
        ViaAddress own = ViaAddress.own(Providers.SHM, new byte[0]);
        return PREFIX + namespace(own) + "-" + own.pid() + "-" + own.startTicks() + "-" + number + "-"
                + Integer.toHexString(sessionId.hashCode());
    }

    private static String namespace(ViaAddress own) {
        return Integer.toHexString((own.host() + own.pidNamespace()).hashCode());
    }

    /**
     * Closes an endpoint and keeps its file. A peer that has a message of it, but has not looked at it yet, opens the
     * file then; the provider of libfabric 1.17 ends the process if there is none. A later {@link #sweep} removes the
     * file.
     */
    static void closeButKeep(byte[] endpoint, Runnable closing) {
        String name = fileName(endpoint);
        Path file = DIRECTORY.resolve(name);
        Path kept = DIRECTORY.resolve(name + KEPT);
        try {
            Files.createLink(kept, file);
            closing.run();
            Files.move(kept, file);
        } catch (IOException | UnsupportedOperationException e) {
            System.getLogger("io.madeleine.tm.via").log(System.Logger.Level.DEBUG, "cannot keep " + file, e);
            closing.run(); // closing twice does nothing
        }
    }

    /** The file of an endpoint with this name. */
    static Path of(byte[] endpoint) {
        return DIRECTORY.resolve(fileName(endpoint));
    }

    private static String fileName(byte[] endpoint) {
        String text = new String(endpoint, StandardCharsets.UTF_8);
        int begin = text.indexOf(SCHEME_END);
        return begin < 0 ? "" : text.substring(begin + SCHEME_END.length()).replace("\0", "");
    }

    /**
     * Whether an endpoint with this name has its file. A peer without one must not get into the address vector: the
     * provider of libfabric 1.17 gives the next peer the same number, and removes both when one of them goes.
     */
    static boolean isThere(byte[] endpoint) {
        String name = fileName(endpoint);
        return !name.isEmpty() && name.indexOf('/') < 0 && Files.isRegularFile(DIRECTORY.resolve(name));
    }

    /** Removes the files of processes that have ended. */
    static void sweep() {
        ViaAddress own = ViaAddress.own(Providers.SHM, new byte[0]);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(DIRECTORY, PREFIX + "*")) {
            for (Path file : files) {
                if (isOfDeadProcess(file.getFileName().toString(), own)) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException _) {
            // no such directory, or not ours: nothing was left by this user
        }
    }

    private static boolean isOfDeadProcess(String name, ViaAddress own) {
        return process(name, own).filter(process -> process.isDead(own)).isPresent();
    }

    /** The address of an endpoint; empty if the process with the address {@code own} cannot see that one's process. */
    static Optional<ViaAddress> address(byte[] endpoint, ViaAddress own) {
        return process(fileName(endpoint), own).map(process -> process.ofEndpoint(endpoint));
    }

    private static Optional<ViaAddress> process(String name, ViaAddress own) {
        Matcher parts = NAME.matcher(name);
        if (!parts.matches() || !parts.group(1).equals(namespace(own))) {
            return Optional.empty();
        }
        try {
            return Optional.of(own.ofProcess(Long.parseLong(parts.group(2)), Long.parseLong(parts.group(3))));
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }
}
