package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RangeSetTest {
    @Test
    void shouldHoldTheSameNumbersAsABitSetAfterAnySeriesOfCalls() {
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            RangeSet set = new RangeSet();
            BitSet model = new BitSet();
            for (int i = 0; i < 60; i++) {
                int start = random.nextInt(100);
                int end = start + random.nextInt(20);
                switch (random.nextInt(4)) {
                    case 0 -> {
                        set.remove(start, end);
                        model.clear(start, end);
                    }
                    case 1 -> {
                        set.removeBelow(start / 4);
                        model.clear(0, start / 4);
                    }
                    default -> {
                        set.add(start, end);
                        model.set(start, end);
                    }
                }
                check(set, model);
            }
        }
    }

    private static void check(RangeSet set, BitSet model) {
        BitSet found = new BitSet();
        for (int i = 0; i < set.count(); i++) {
            assertTrue(set.start(i) < set.end(i), set.toString());
            assertTrue(i == 0 || set.end(i - 1) < set.start(i), set.toString());
            found.set((int) set.start(i), (int) set.end(i));
        }
        assertEquals(model, found);
        for (int number = 0; number < 125; number++) {
            assertEquals(model.get(number), set.contains(number), number + " in " + set);
            int run = model.get(number) ? Math.min(124, model.nextClearBit(number)) - number : 0;
            assertEquals(Math.max(0, run), set.runFrom(number, 124), number + " in " + set);
            int next = model.nextSetBit(number);
            assertEquals(next < 0 ? 124 : Math.min(124, next), set.nextFrom(number, 124), number + " in " + set);
        }
    }
}
