package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class StrangersTest {
    @Test
    void shouldKnowWhoHasBeenThereAndWhoHasBeenSilentForLongest() {
        Strangers<String> strangers = new Strangers<>(3);
        strangers.enter("a");
        strangers.enter("b");
        assertFalse(strangers.isFull());
        strangers.enter("c");
        assertTrue(strangers.isFull());
        strangers.spoke("a");
        assertEquals("a", strangers.oldest().orElseThrow());
        assertEquals("b", strangers.mostSilent().orElseThrow());
        strangers.leave("b");
        strangers.spoke("b");
        assertEquals("c", strangers.mostSilent().orElseThrow());
        strangers.leave("a");
        strangers.leave("c");
        assertEquals(0, strangers.count());
        assertTrue(strangers.oldest().isEmpty() && strangers.mostSilent().isEmpty());
    }

    @Test
    void shouldMakeDoWithLessRoomButNotWithNone() {
        Strangers<Integer> strangers = new Strangers<>(100);
        for (int i = 0; i < 60; i++) {
            strangers.enter(i);
        }
        strangers.halve();
        assertTrue(strangers.isFull());
        while (strangers.isFull()) {
            strangers.leave(strangers.mostSilent().orElseThrow());
        }
        assertEquals(29, strangers.count());
        strangers.halve();
        strangers.halve();
        while (strangers.isFull()) {
            strangers.leave(strangers.mostSilent().orElseThrow());
        }
        assertEquals(15, strangers.count());
    }
}
