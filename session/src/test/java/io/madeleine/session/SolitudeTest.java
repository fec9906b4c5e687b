package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Session;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A session of one process, which nobody may have wanted. */
class SolitudeTest {
    @Test
    void shouldSayOnceThatASessionIsOfOneProcessIfNobodyHasGivenASetting() {
        try (LogLines heard = new LogLines(Sessions.class)) {
            Sessions.TOLD_OF_SOLITUDE.set(false);
            TestSessions.open(Map.of("wait.spin", "1us")).close();
            assertEquals(List.of(), heard.lines());
            for (int i = 0; i < 2; i++) {
                try (Session alone = TestSessions.open(Map.of())) {
                    assertEquals(1, alone.size());
                }
            }
            assertEquals(1, heard.lines().size(), heard.lines()::toString);
            String line = heard.lines().getFirst();
            assertTrue(line.startsWith("INFO a session of one process"), line);
            assertTrue(line.contains("mad run") && line.contains("madeleine.session.hosts"), line);
        }
    }
}
