package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.session.config.ChannelSettings;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.ProcessEnvironment;
import io.madeleine.session.config.SessionConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The profiles in conf/ as far as the session reads them; the families' own keys are checked where the families are.
 */
class ProfilesTest {
    private static final Map<String, String> LAUNCHED = Map.of(
            "MADELEINE_LAUNCHER", "127.0.0.1:4711",
            "MADELEINE_RANK", "0",
            "MADELEINE_SIZE", "2",
            "MADELEINE_SECRET", "s");

    private static Path profile(String name) {
        return Path.of("..", "conf", name);
    }

    private static SessionConfig read(Map<String, String> environment, Path file, String... more) {
        List<String> arguments =
                Stream.concat(Stream.of("--conf=" + file), Stream.of(more)).toList();
        return SessionConfig.from(
                ConfigSources.ofArguments(arguments, new ProcessEnvironment(environment, new Properties())));
    }

    @Test
    void shouldAllBeValidUnderALauncher() throws IOException {
        try (Stream<Path> files = Files.list(profile(""))) {
            List<Path> profiles =
                    files.filter(file -> file.toString().endsWith(".conf")).toList();
            assertTrue(profiles.size() >= 4, "" + profiles);
            profiles.forEach(
                    file -> assertEquals(2, read(LAUNCHED, file).membership().size(), file.toString()));
        }
    }

    @Test
    void shouldDescribeAClusterByItsHosts() {
        SessionConfig config =
                read(Map.of(), profile("tcp-cluster.conf"), "session.rank=2", "session.secret=from elsewhere");
        assertEquals(3, config.membership().size());
        assertEquals(
                7000,
                ((Membership.Contact.StaticHosts) config.membership().contact())
                        .hosts()
                        .getFirst()
                        .port());
    }

    @Test
    void shouldSayWhatTheirNamesPromise() {
        assertTrue(read(Map.of(), profile("debug.conf")).selfDescribed());
        SessionConfig loopback = read(Map.of(), profile("loopback-tcp.conf"));
        assertEquals(List.of(new ChannelSettings("default", "tcp", "auto")), loopback.channels());
        assertFalse(loopback.families().stream()
                .filter(family -> family.name().equals("sci"))
                .findFirst()
                .orElseThrow()
                .enabled());
        assertEquals(
                List.of("sci", "tcp"), read(Map.of(), profile("one-host.conf")).networks());
    }
}
