package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.SessionRequest;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.SessionArenas;
import io.madeleine.session.bootstrap.Resources;
import io.madeleine.session.bootstrap.SoloBootstrap;
import io.madeleine.session.config.SecretStrength;
import io.madeleine.session.config.SessionConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Warnings and refusals that name the right cause. */
@Timeout(60)
class MessagesTest {
    @TempDir
    Path directory;

    private static String refusal(Map<String, ?> settings) {
        return String.valueOf(assertThrows(ConfigurationException.class, () -> TestSessions.open(settings))
                .getMessage());
    }

    @Test
    void shouldSayThatASessionGoesOnWithoutNewsOnlyOnceItIsOpen() {
        SessionConfig config = TestSessions.config(Map.of());
        MemberKeys.Own keys = MemberKeys.generate();
        SelectorReactor reactor = new SelectorReactor();
        Resources resources = new Resources();
        resources.add(reactor);
        try (LogLines heard = new LogLines(MadeleineSession.class);
                MadeleineSession session = new MadeleineSession(
                        "id",
                        config,
                        keys.among(List.of(keys.part())),
                        resources.add(new ProgressEngine("news", reactor, config.waiting())),
                        resources,
                        resources.add(new PeerFailures("news")),
                        new SessionArenas(Optional.empty()),
                        new MadeleineSession.Ending(
                                new SoloBootstrap(), new SessionEnd(config, Optional.of((_, _) -> {}))))) {
            session.newsLost("rank 0 is gone");
            assertEquals(List.of(), heard.lines());
            session.opened();
            session.newsLost("rank 0 is gone");
            assertEquals(1, heard.lines().size(), heard.lines()::toString);
            assertTrue(
                    heard.lines().getFirst().contains("rank 0 is gone; the session goes on"), heard.lines()::toString);
        }
    }

    @Test
    void shouldSayOfAWeakSecretWhereItComesFrom() throws Exception {
        try (LogLines heard = new LogLines(SecretStrength.class)) {
            Path file = Files.writeString(directory.resolve("weak"), "weak in a file");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            TestSessions.open(Map.of("session.secret-file", file.toString())).close();
            TestSessions.open(Map.of("session.secret", "weak in a setting")).close();
            String address = "127.0.0.1:" + TestSessions.freePort();
            SessionRequest request = SessionRequest.of("weak", 1, 0, address, "weak in a request");
            Sessions.open(request, (_, _) -> {}).close();
            List<String> lines = heard.lines();
            assertEquals(3, lines.size(), lines::toString);
            assertTrue(lines.get(0).startsWith("WARNING the secret in the file " + file + ", which"), lines.get(0));
            assertTrue(lines.get(1).startsWith("WARNING madeleine.session.secret (setting of"), lines.get(1));
            assertTrue(lines.get(2).startsWith("WARNING the secret of the request for session weak is"), lines.get(2));
        }
    }

    @Test
    void shouldSayThatATextWithAColonNeedsQuotes() {
        String refusal = refusal(Map.of("session.hosts", "[127.0.0.1:9000]"));
        assertTrue(refusal.contains("a text with a colon in a list needs quotes, as in [\"127.0.0.1:9000\"]"), refusal);
        assertFalse(refusal(Map.of("networks", "[a")).contains("colon"));
    }

    @Test
    void shouldListTheNetworksThatExistWhereverOneIsUnknown() {
        for (Map.Entry<String, Object> wrong : Map.<String, Object>of(
                        "channels.x.network", "foo", "networks", List.of("foo"), "tm.foo.enabled", "true")
                .entrySet()) {
            Map<String, Object> settings = TestSessions.loop();
            settings.remove("networks");
            settings.put(wrong.getKey(), wrong.getValue());
            String refusal = refusal(settings);
            assertTrue(refusal.contains(wrong.getKey()) && refusal.contains("loop"), refusal);
            assertFalse(refusal.contains("bip") || refusal.contains("via"), refusal);
        }
    }
}
