package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostKeyTest {
    @TempDir
    private Path folder;

    @Test
    void shouldBeTheBootIdOrElseTheName() throws IOException {
        Path bootId = folder.resolve("boot_id");
        assertEquals("name", HostKey.read(bootId, () -> "name"));
        Files.writeString(bootId, "b-1\n");
        assertEquals("b-1", HostKey.read(bootId, () -> "name"));
        assertEquals(HostKey.ofThisHost(), HostKey.ofThisHost());
    }

    @Test
    void shouldTakeNoTwoProcessesForNeighboursWhoseHostsAreUnknown() {
        Path none = folder.resolve("none");
        HostKey.Naming unknown = () -> {
            throw new UnknownHostException("no name");
        };
        assertNotEquals(HostKey.read(none, unknown), HostKey.read(none, unknown));
    }
}
