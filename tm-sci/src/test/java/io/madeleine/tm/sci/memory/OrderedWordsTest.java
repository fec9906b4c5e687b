package io.madeleine.tm.sci.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class OrderedWordsTest {
    @Test
    void shouldRaiseAWordAndNeverLowerIt() {
        MemorySegment memory = Arena.ofAuto().allocate(2 * Long.BYTES, Long.BYTES);
        assertTrue(OrderedWords.raise(memory, Long.BYTES, 3));
        assertFalse(OrderedWords.raise(memory, Long.BYTES, 1));
        assertFalse(OrderedWords.raise(memory, Long.BYTES, 3));
        assertTrue(OrderedWords.raise(memory, Long.BYTES, 4));
        assertEquals(4, OrderedWords.plain(memory, Long.BYTES));
        assertEquals(0, OrderedWords.plain(memory, 0));
    }
}
