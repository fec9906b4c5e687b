package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Proofs;
import io.madeleine.session.config.SecretStrength;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "s1",
                "between-friends",
                "known to both programs",
                "correct horse battery staple correct horse",
                "Correct-Horse-Battery-Staple-2026-Correct",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "abababababababababababababababababababababababababab",
                "12345678901234567890123456789012345678901234567890",
                "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"
            })
    void shouldFindWeakWhatCanBeGuessed(String secret) {
        assertTrue(SecretStrength.bits(secret) < SecretStrength.ENOUGH_BITS, secret);
    }

    @Test
    void shouldFindStrongWhatIsRandom() {
        Random random = new Random(1);
        int weak = 0;
        for (int i = 0; i < 200; i++) {
            byte[] bytes = new byte[32];
            random.nextBytes(bytes);
            weak += isWeak(Base64.getEncoder().encodeToString(bytes)) ? 1 : 0;
            weak += isWeak(Secrets.generate()) ? 1 : 0;
            weak += isWeak(new UUID(random.nextLong(), random.nextLong()) + ":" + i + new UUID(i, random.nextLong()))
                    ? 1
                    : 0;
        }
        assertEquals(0, weak);
        Set<String> made = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            assertTrue(made.add(Secrets.generate()));
        }
    }

    private static boolean isWeak(String secret) {
        return SecretStrength.bits(secret) < SecretStrength.ENOUGH_BITS;
    }

    /** Who tries secrets through pays for each one. */
    @Test
    @Tag("measures")
    void shouldStretchWeakSecretsAndNoOthers() throws Exception {
        byte[] weak = hash("s1");
        assertFalse(Arrays.equals(Proofs.proof(weak, "madeleine user 1 x"), Secrets.userKey("s1", "x")));
        String strong = Secrets.generate();
        assertArrayEquals(Proofs.proof(hash(strong), "madeleine user 1 x"), Secrets.userKey(strong, "x"));
        assertArrayEquals(Secrets.userKey("s1", "x"), Secrets.userKey("s1", "x"));
        long firstNs = timeNs(() -> Secrets.userKey("never seen before", "x"));
        assertFalse(Arrays.equals(Secrets.userKey("s1", "x"), Secrets.userKey("never seen before", "x")));
        long againNs = Long.MAX_VALUE; // the least of some: a thread may lose its processor
        for (int i = 0; i < 10; i++) {
            againNs = Math.min(againNs, timeNs(() -> Secrets.controlKey("never seen before")));
        }
        assertTrue(againNs < firstNs / 10 + 1_000_000, "once is enough: " + firstNs + " ns, then " + againNs + " ns");
    }

    private static long timeNs(Runnable action) {
        long beganNs = System.nanoTime();
        action.run();
        return System.nanoTime() - beganNs;
    }

    private static byte[] hash(String secret) throws Exception {
        return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
    }
}
