package io.madeleine.session;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Identifies hosts: by the boot id where the system has one, else by the host's name. Containers of one host have the
 * same key: they share its processors. Each may have a network namespace of its own, whose links can fail.
 *
 * <p>Threading: stateless.
 */
final class HostKey {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private static final Path NETWORK_NAMESPACE = Path.of("/proc/self/ns/net");

    private HostKey() {}

    /** The key of this host and its network namespace. No link can fail between processes with equal keys. */
    static String ofThisNetwork() {
        try {
            return ofThisHost() + " " + Files.readSymbolicLink(NETWORK_NAMESPACE);
        } catch (IOException _) {
            return ofThisHost(); // not Linux: one network per host
        }
    }

    /** The key of this host. */
    static String ofThisHost() {
        try {
            return Files.readString(BOOT_ID).strip();
        } catch (IOException _) {
            // not Linux
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (IOException _) {
            return "unknown";
        }
    }
}
