package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Operations that messages of peers name. */
class OperationTableTest {
    @Test
    void shouldTakeAllThatAreWantedAndKeepTheOthers() {
        OperationTable<String> table = new OperationTable<>();
        int first = table.add("to 1, first");
        int other = table.add("to 2");
        int second = table.add("to 1, second");
        assertEquals(List.of("to 1, first", "to 1, second"), table.takeAll(each -> each.startsWith("to 1")));
        assertNull(table.get(first));
        assertNull(table.remove(second), "nobody else ends it");
        assertEquals("to 2", table.get(other));
        assertEquals(List.of(), table.takeAll(each -> each.startsWith("to 1")));
        assertEquals(List.of("to 2"), table.all(_ -> true));
    }

    /** A place serves one operation after the other, of which each has a name of its own. */
    @Test
    void shouldUsePlacesAgainThatWereTaken() {
        OperationTable<Integer> table = new OperationTable<>();
        Set<Integer> before = new HashSet<>();
        for (int i = 0; i < 64; i++) {
            before.add(table.add(i));
        }
        assertEquals(64, table.takeAll(_ -> true).size());
        Set<Integer> places = new HashSet<>();
        for (int i = 0; i < 64; i++) {
            int identity = table.add(i);
            assertEquals(i, table.get(identity));
            assertEquals(false, before.contains(identity), "a late message would meet it");
            places.add(identity & 63);
        }
        assertEquals(64, places.size());
        assertNotEquals(0, table.add(64));
        assertEquals(65, table.all(_ -> true).size());
    }
}
