package io.madeleine.tm.via.port;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Operations to processes that have ended, with a provider that completes all in their order. */
class OperationTableTest {
    private final OperationTable table = new OperationTable(Arena.ofAuto(), false);
    private final Owner living = new Owner(false);
    private final Owner dead = new Owner(true);
    private final Provider provider = new Provider();

    /** Counts what has failed. */
    private static final class Owner implements Completion {
        final boolean isDead;
        int failed;

        Owner(boolean isDead) {
            this.isDead = isDead;
        }

        @Override
        public void completed(int tag, long bytes) {
            // of no interest
        }

        @Override
        public void failed(int tag, int code, String reason) {
            failed++;
        }

        @Override
        public boolean isPeerDead() {
            return isDead;
        }
    }

    /** Completes operations in their order. */
    private final class Provider implements WaitingOperations {
        final ArrayDeque<Long> waiting = new ArrayDeque<>();
        final List<Long> failing = new ArrayList<>();
        boolean isKnown = true;
        boolean obeys = true;

        @Override
        public long oldest() {
            Long first = waiting.peek();
            return isKnown ? first == null ? NONE : first : UNKNOWN;
        }

        @Override
        public boolean fail(long context) {
            failing.add(context);
            return obeys;
        }

        boolean poll() {
            for (Long first = waiting.peek(); obeys && failing.contains(first); first = waiting.peek()) {
                table.failed(waiting.remove(), 5, "failed");
            }
            return true;
        }
    }

    private void begin(Completion owner, boolean isKnownToProvider) {
        int operation = table.allocate(owner, 1);
        table.begin(operation);
        if (isKnownToProvider) {
            provider.waiting.add(table.context(operation));
        }
    }

    private boolean failToTheDead() {
        return table.failToTheDead(provider, provider::poll);
    }

    @Test
    void shouldFailWhatWaitsForTheDeadUntilALivingProcessIsNext() {
        begin(dead, true);
        begin(dead, true);
        begin(living, true);
        begin(dead, true);
        assertTrue(failToTheDead());
        assertEquals(2, dead.failed);
        assertEquals(0, living.failed);
        assertTrue(table.oldestToTheDead() >= 0, "one is left behind the living process");
    }

    @Test
    void shouldFindAnOperationToTheDeadBehindOthers() {
        begin(living, true);
        assertEquals(-1, table.oldestToTheDead());
        begin(dead, true);
        assertEquals(1, table.oldestToTheDead());
        assertTrue(failToTheDead(), "the living process may go on");
        assertEquals(List.of(), provider.failing);
    }

    @Test
    void shouldWaitForAThreadThatHasNotHandedItsOperationToTheProviderYet() {
        begin(dead, false);
        assertTrue(failToTheDead());
        assertEquals(0, dead.failed);
    }

    @Test
    void shouldSayThatTheProviderIsStuckIfItIsNotKnownOrDoesNotObey() {
        begin(dead, true);
        provider.isKnown = false;
        assertFalse(failToTheDead());
        provider.isKnown = true;
        provider.obeys = false;
        assertFalse(failToTheDead());
    }
}
