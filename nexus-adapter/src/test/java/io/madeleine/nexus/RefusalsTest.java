package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.nexus.Refusal.Reason;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Refusals of many kinds. */
class RefusalsTest {
    @Test
    void shouldNotCountFurtherKindsUnderAnEndpointThatHasNotRefusedThem() {
        Refusals refusals = new Refusals();
        assertFalse(refusals.any());
        for (int i = 0; i < 64; i++) {
            refusals.add(new Refusals.Kind(7, i, Reason.NO_SUCH_HANDLER));
        }
        for (int i = 0; i < 10; i++) {
            refusals.add(new Refusals.Kind(8, i, Reason.OVERLOADED));
            refusals.add(new Refusals.Kind(9, i, Reason.CLOSING));
        }
        refusals.add(new Refusals.Kind(7, 0, Reason.NO_SUCH_HANDLER));
        assertTrue(refusals.any());
        Map<Refusals.Kind, Long> counts = refusals.take();
        assertFalse(refusals.any());
        assertEquals(Map.of(), refusals.take(), "each is told once");
        assertEquals(66, counts.size());
        assertEquals(2, counts.get(new Refusals.Kind(7, 0, Reason.NO_SUCH_HANDLER)));
        assertEquals(10, counts.get(new Refusals.Kind(0, 0, Reason.OVERLOADED)));
        assertEquals(10, counts.get(new Refusals.Kind(0, 0, Reason.CLOSING)));
        assertTrue(
                new Refusal(1, 0, 0, Reason.CLOSING, 10).toString().contains("10 requests to several endpoints"),
                "the text names no endpoint");
    }

    @Test
    void shouldNameTheBoundsThatARefusalForOverloadStandsFor() {
        String text = new Refusal(1, 0, 0, Reason.OVERLOADED, 1).toString();
        assertTrue(text.contains("ContextOptions.maxReceivedBytes, a quarter of which"), text);
    }
}
