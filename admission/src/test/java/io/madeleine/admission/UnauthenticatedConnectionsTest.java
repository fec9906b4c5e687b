package io.madeleine.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class UnauthenticatedConnectionsTest {
    @Test
    void shouldKnowWhoHasBeenThereAndWhoHasBeenSilentForLongest() {
        UnauthenticatedConnections<String> connections = new UnauthenticatedConnections<>(3);
        connections.add("a");
        connections.add("b");
        assertFalse(connections.isFull());
        connections.add("c");
        assertTrue(connections.isFull());
        connections.heard("a");
        assertEquals("a", connections.oldest().orElseThrow());
        assertEquals("b", connections.mostSilent().orElseThrow());
        assertTrue(connections.remove("b"));
        assertFalse(connections.remove("b"));
        connections.heard("b");
        assertEquals("c", connections.mostSilent().orElseThrow());
        connections.remove("a");
        connections.remove("c");
        assertEquals(0, connections.count());
        assertTrue(connections.oldest().isEmpty() && connections.mostSilent().isEmpty());
    }

    @Test
    void shouldMakeDoWithLessRoomButNotWithNone() {
        UnauthenticatedConnections<Integer> connections = new UnauthenticatedConnections<>(100);
        for (int i = 0; i < 60; i++) {
            connections.add(i);
        }
        connections.halve();
        assertTrue(connections.isFull());
        while (connections.isFull()) {
            connections.remove(connections.mostSilent().orElseThrow());
        }
        assertEquals(29, connections.count());
        connections.halve();
        connections.halve();
        while (connections.isFull()) {
            connections.remove(connections.mostSilent().orElseThrow());
        }
        assertEquals(15, connections.count());
    }

    @Test
    void shouldHaveItsRoomBackStepByStep() {
        UnauthenticatedConnections<Integer> connections = new UnauthenticatedConnections<>(100);
        connections.halve();
        assertTrue(connections.isReduced());
        assertEquals(16, connections.maxCount());
        connections.grow();
        assertEquals(32, connections.maxCount());
        connections.grow();
        connections.grow();
        assertEquals(100, connections.maxCount());
        assertFalse(connections.isReduced());
    }
}
