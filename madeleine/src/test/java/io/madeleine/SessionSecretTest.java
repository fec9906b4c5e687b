package io.madeleine;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.Session;
import io.madeleine.api.SessionException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ranks with different secrets. One of them waits for the other in vain, so this class runs beside the others. */
@Timeout(60)
class SessionSecretTest {
    @Test
    void shouldRefuseAnotherSecret() throws Exception {
        int port = Ports.free();
        List<Callable<Void>> ranks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Map<String, Object> settings = SessionOverNetworksTest.settings(i, 2, port);
            settings.put("session.secret", i + SessionOverNetworksTest.SECRET);
            settings.put("session.open-timeout", "5s");
            ranks.add(() -> {
                MadeleineException refused = assertThrows(SessionException.class, () -> Session.open(settings));
                assertTrue(
                        refused.getMessage().contains("madeleine.session.secret")
                                || refused.getMessage().contains("rank 1 has not joined"),
                        refused.getMessage());
                return null;
            });
        }
        SessionOverNetworksTest.all(ranks);
    }
}
