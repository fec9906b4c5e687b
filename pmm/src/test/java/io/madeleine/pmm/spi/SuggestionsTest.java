package io.madeleine.pmm.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SuggestionsTest {
    @Test
    void shouldCountInsertionsDeletionsReplacementsAndSwaps() {
        assertEquals(0, Suggestions.distance("wait", "wait"));
        assertEquals(1, Suggestions.distance("wait", "waits"));
        assertEquals(1, Suggestions.distance("wait", "wit"));
        assertEquals(1, Suggestions.distance("wait", "bait"));
        assertEquals(1, Suggestions.distance("wait", "wiat"));
        assertEquals(4, Suggestions.distance("", "wait"));
    }

    @Test
    void shouldOfferTheNearestAndNothingThatIsFar() {
        assertEquals(Optional.of("network"), Suggestions.nearest("netwrok", List.of("adapter", "network", "networks")));
        assertEquals(Optional.empty(), Suggestions.nearest("tcp", List.of("sci", "via")));
        assertEquals(Optional.of("tcp"), Suggestions.nearest("tpc", List.of("sci", "tcp")));
    }

    @Test
    void shouldListAlternatives() {
        assertEquals("a", Suggestions.anyOf(List.of("a")));
        assertEquals("a, b or c", Suggestions.anyOf(List.of("a", "b", "c")));
    }
}
