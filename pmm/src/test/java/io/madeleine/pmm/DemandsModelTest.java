package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.madeleine.pmm.spi.Demand;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The demands of three adapters beside a model of them, over a clock that the test turns. */
class DemandsModelTest {
    private static final class Adapter {
        final Demand demand;
        int held;
        boolean closed;
        long dueNs = Demand.NONE;
        long servedNs = Demand.NONE;

        Adapter(Demand demand) {
            this.demand = demand;
        }

        boolean isDue() {
            return !closed && held > 0 && dueNs != Demand.NONE && dueNs != servedNs;
        }
    }

    private final Random random = new Random(17);
    private final Demands demands = new Demands();
    private final List<Adapter> adapters = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    private final List<String> expected = new ArrayList<>();
    private final Demands.Listener listener = new Demands.Listener() {
        @Override
        public void onHeld() {
            heard.add("held");
        }

        @Override
        public void onDue(long deadlineNs) {
            heard.add("due " + deadlineNs);
        }
    };
    private long nowNs = System.nanoTime();
    private long hastenedNs = nowNs - Demands.SHORTEST_PAUSE_NS;

    private void change(int kind, Adapter adapter) {
        boolean open = !adapter.closed;
        switch (kind) {
            case 0 -> {
                adapter.demand.hold();
                if (open && adapter.held++ == 0) {
                    expected.add("held");
                    if (adapter.dueNs != Demand.NONE) {
                        expected.add("due " + adapter.dueNs);
                    }
                }
            }
            case 1, 2 -> { // more often, so that often none is held
                if (open && adapter.held == 0) {
                    assertThrows(IllegalStateException.class, adapter.demand::release);
                } else {
                    adapter.demand.release();
                    adapter.held -= open ? 1 : 0;
                }
            }
            case 3, 4 -> {
                adapter.dueNs = random.nextInt(4) == 0
                        ? Demand.NONE
                        : nowNs + random.nextInt(-2, 6) * Demands.SHORTEST_PAUSE_NS / 2;
                adapter.servedNs = Demand.NONE;
                adapter.demand.dueAt(adapter.dueNs);
                if (adapter.dueNs != Demand.NONE && open && adapter.held > 0) {
                    expected.add("due " + adapter.dueNs);
                }
            }
            case 5 -> {
                if (random.nextInt(8) == 0) {
                    adapter.demand.close();
                    adapter.closed = true;
                    adapters.add(new Adapter(demands.newDemand()));
                }
            }
            case 6 -> {
                demands.listen(listener);
                if (isHeld()) {
                    expected.add("held");
                }
            }
            default -> {
                nowNs += random.nextInt(3) * Demands.SHORTEST_PAUSE_NS / 2;
                assertEquals(untilNextNs(), demands.untilNextNs(nowNs));
            }
        }
    }

    private boolean isHeld() {
        return adapters.stream().anyMatch(adapter -> !adapter.closed && adapter.held > 0);
    }

    private long untilNextNs() {
        long leftNs = Demand.NONE;
        boolean passed = false;
        for (Adapter adapter : adapters) {
            if (adapter.isDue() && adapter.dueNs - nowNs <= 0) {
                adapter.servedNs = adapter.dueNs;
                passed = true;
            } else if (adapter.isDue()) {
                leftNs = Math.min(leftNs, adapter.dueNs - nowNs);
            }
        }
        if (!passed) {
            return leftNs;
        }
        long pauseNs = Demands.SHORTEST_PAUSE_NS - (nowNs - hastenedNs);
        if (pauseNs > 0) {
            return Math.min(pauseNs, leftNs);
        }
        hastenedNs = nowNs;
        return 0;
    }

    @Test
    void shouldHoldTellAndBeDueAsTheModelSays() {
        for (int i = 0; i < 3; i++) {
            adapters.add(new Adapter(demands.newDemand()));
        }
        demands.untilNextNs(nowNs); // nothing, and nothing is hastened by it
        demands.listen(listener);
        for (int step = 0; step < 30_000; step++) {
            if (adapters.size() > 6) {
                adapters.removeIf(adapter -> adapter.closed && random.nextBoolean());
            }
            change(random.nextInt(9), adapters.get(random.nextInt(adapters.size())));
            assertEquals(expected, heard);
            assertEquals(isHeld(), demands.isHeld());
            for (int half = -2; half < 6; half++) {
                long timeNs = nowNs + half * Demands.SHORTEST_PAUSE_NS / 2;
                boolean before = adapters.stream().anyMatch(adapter -> adapter.isDue() && adapter.dueNs - timeNs < 0);
                assertEquals(before, demands.isDueBefore(timeNs));
            }
            heard.clear();
            expected.clear();
        }
    }
}
