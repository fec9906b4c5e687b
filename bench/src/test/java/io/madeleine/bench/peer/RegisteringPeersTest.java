package io.madeleine.bench.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Subject.Variant;
import io.madeleine.pmm.WaitMode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class RegisteringPeersTest {
    private static final Conditions CONDITIONS = new Conditions(WaitMode.SPIN, false);

    private static Subject peer(String word, Conditions conditions) {
        return Peers.subject(word, conditions, Variant.PLAIN, new PrintWriter(new StringWriter()));
    }

    @Test
    void shouldRegisterMemoryByLibfabricOnly() {
        assertEquals(
                List.of("fabric"),
                Peers.words().stream()
                        .filter(word -> peer(word, CONDITIONS).has(Pattern.REGISTER, 4096))
                        .toList());
        assertTrue(peer("fabric:shm", CONDITIONS).has(Pattern.LATENCY, 4096));
    }

    /** Its other patterns would be measured twice. */
    @Test
    void shouldMeasureNothingElseWhereItLocksPages() {
        Subject locking = peer("fabric:shm", CONDITIONS.locking());
        assertTrue(locking.has(Pattern.REGISTER, 4096));
        assertFalse(locking.has(Pattern.LATENCY, 4096) || locking.has(Pattern.RATE, 4096));
        assertFalse(peer("c-tcp", CONDITIONS.locking()).has(Pattern.LATENCY, 4096));
    }
}
