package io.madeleine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.session.SessionInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The profiles in conf/, read by everybody whom they configure. */
class ProfilesTest {
    private static final Path CONF = Path.of("..", "conf");

    private static SessionInfo read(Path file) {
        return SessionInfo.of(List.of("--conf=" + file));
    }

    @Test
    void shouldBeAcceptedByAllFamilies() throws IOException {
        try (Stream<Path> files = Files.list(CONF)) {
            List<Path> profiles =
                    files.filter(file -> file.toString().endsWith(".conf")).toList();
            assertTrue(profiles.size() >= 4, "" + profiles);
            for (Path profile : profiles) {
                assertTrue(read(profile).protocol("tcp").orElseThrow().on(), profile.toString());
            }
        }
    }

    @Test
    void shouldTurnSharedMemoryOffWhereTheNameSaysSo() {
        SessionInfo info = read(CONF.resolve("loopback-tcp.conf"));
        SessionInfo.Protocol sci = info.protocol("sci").orElseThrow();
        assertTrue(sci.availability().reason().contains("loopback-tcp.conf: "), sci.toString());
        assertEquals(
                "tcp", info.protocolOf(info.channels().getFirst()).orElseThrow().name());
    }
}
