package io.madeleine.session;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells one host from another: the boot id where the system has one, else the host's name. Containers of one host share
 * its processors, and each may have a network of its own, which can be cut.
 *
 * <p>Threading: stateless.
 */
final class HostKey {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private static final Path NETWORK_NAMESPACE = Path.of("/proc/self/ns/net");

    private HostKey() {}

    /** This host's, and its network's: between processes of equal ones no link can be cut. */
    static String ofThisNetwork() {
        try {
            return ofThisHost() + " " + Files.readSymbolicLink(NETWORK_NAMESPACE);
        } catch (IOException _) {
            return ofThisHost(); // not Linux: one network per host
        }
    }

    /** This host's. */
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
