package io.madeleine.session.bootstrap;

import io.madeleine.admission.Proofs;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Identifies hosts: by the boot id where the system has one, else by the host's name. Containers of one host have the
 * same key: they share its processors. Each may have a network namespace of its own, whose links can fail.
 *
 * <p>Threading: stateless.
 */
public final class HostKey {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private static final Path NETWORK_NAMESPACE = Path.of("/proc/self/ns/net");

    private static final String THIS_HOST =
            read(BOOT_ID, () -> InetAddress.getLocalHost().getHostName());

    private HostKey() {}

    /** Finds the name of this host. */
    interface Naming {
        String name() throws IOException;
    }

    /** The key of this host and its network namespace. No link can fail between processes with equal keys. */
    static String ofThisNetwork() {
        try {
            return ofThisHost() + " " + Files.readSymbolicLink(NETWORK_NAMESPACE);
        } catch (IOException _) {
            return ofThisHost(); // not Linux: one network per host
        }
    }

    /** The key of this host. */
    public static String ofThisHost() {
        return THIS_HOST;
    }

    /**
     * The key of the host with this boot id, or else of this name. If neither can be read, the key is random: a process
     * whose host is not known counts as alone on it, and its silence as its death.
     */
    static String read(Path bootId, Naming naming) {
        try {
            return Files.readString(bootId).strip();
        } catch (IOException _) {
            // not Linux
        }
        try {
            return naming.name();
        } catch (IOException _) {
            return "unknown " + HexFormat.of().formatHex(Proofs.nonce());
        }
    }
}
