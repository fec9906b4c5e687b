package io.madeleine.bench.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.peer.Idling.Step;
import io.madeleine.pmm.WaitMode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdlingTest {
    private static List<Step> steps(WaitMode mode, int turns) {
        Idling idling = new Idling(mode);
        List<Step> steps = new ArrayList<>();
        for (int turn = 0; turn < turns; turn++) {
            steps.add(idling.next(turn));
        }
        return steps;
    }

    @Test
    void shouldOnlyPollWhileSpinning() {
        assertEquals(
                List.of(Step.POLL),
                steps(WaitMode.SPIN, 100_000).stream().distinct().toList());
    }

    @Test
    void shouldSleepAtOnceWhenBlocking() {
        assertEquals(
                List.of(Step.SLEEP),
                steps(WaitMode.BLOCK, 10).stream().distinct().toList());
    }

    @Test
    void shouldPollThenYieldThenSleepAndBeginAnewWithTheNextWait() {
        long beginNs = System.nanoTime();
        Idling idling = new Idling(WaitMode.ADAPTIVE);
        int turn = 0;
        int yields = 0;
        for (Step step = idling.next(turn); step != Step.SLEEP; step = idling.next(++turn)) {
            yields += step == Step.YIELD ? 1 : 0;
        }
        assertTrue(System.nanoTime() - beginNs >= 200_000);
        assertEquals(20, yields);
        assertEquals(Step.SLEEP, idling.next(turn + 1));
        assertEquals(Step.POLL, idling.next(0));
    }
}
