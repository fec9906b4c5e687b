package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ArrivalQueueTest {
    @Test
    void shouldServeInTheOrderOfArrival() {
        ArrivalQueue<String> queue = new ArrivalQueue<>(3);
        assertTrue(queue.isEmpty());
        queue.add("a");
        queue.add("b");
        assertFalse(queue.isEmpty());
        assertEquals("a", queue.poll());
        queue.add("c");
        assertEquals("b", queue.poll());
        assertEquals("c", queue.poll());
        assertNull(queue.poll());
    }

    @Test
    void shouldHoldAsManyAsThereCanBeAndNoMore() {
        ArrivalQueue<Integer> queue = new ArrivalQueue<>(1);
        queue.add(1);
        queue.add(2);
        assertThrows(IllegalStateException.class, () -> queue.add(3));
    }
}
