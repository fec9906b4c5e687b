package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The hash table of posted receives and unexpected messages. */
class MatchTableTest {
    private record Key(long context, int source, int tag) {}

    @Test
    void shouldFindTheOldestEntryOfEachKeyHoweverItGrows() {
        MatchTable<Integer> table = new MatchTable<>();
        Map<Key, Queue<Link<Integer>>> expected = new HashMap<>();
        Random random = new Random(1);
        int count = 0;
        for (int i = 0; i < 100_000; i++) {
            Key key = new Key(random.nextInt(3), random.nextInt(5) - 1, random.nextInt(500) - 1);
            Queue<Link<Integer>> queue = expected.computeIfAbsent(key, _ -> new ArrayDeque<>());
            if (random.nextInt(3) > 0) {
                Link<Integer> link = new Link<>(i);
                table.add(link, key.context(), key.source(), key.tag(), i);
                queue.add(link);
                count++;
            } else {
                Link<Integer> first = table.first(key.context(), key.source(), key.tag());
                Link<Integer> wanted = queue.poll();
                if (wanted == null) {
                    assertNull(first);
                } else {
                    assertNotNull(first);
                    assertEquals(wanted.owner, first.owner);
                    Link<Integer> next = table.after(first);
                    assertEquals(queue.peek() == null ? null : queue.peek().owner, next == null ? null : next.owner);
                    table.remove(first);
                    count--;
                }
            }
            assertEquals(count, table.count());
        }
    }
}
