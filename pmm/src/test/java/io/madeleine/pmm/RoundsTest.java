package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.madeleine.pmm.spi.ProgressSource;
import org.junit.jupiter.api.Test;

class RoundsTest {
    /** Does not know whether it sleeps while another one fails. */
    private static final class Sleeper implements ProgressSource {
        private final boolean failing;
        private boolean armed;

        Sleeper(boolean failing) {
            this.failing = failing;
        }

        @Override
        public int poll(long nowNs) {
            return 0;
        }

        @Override
        public boolean armForBlocking() {
            armed = true;
            return true;
        }

        @Override
        public void disarm() {
            if (failing) {
                throw new OutOfMemoryError("as a test");
            }
            armed = false;
        }
    }

    @Test
    void shouldDisarmAllSourcesThoughOneFails() {
        try (SelectorReactor reactor = new SelectorReactor()) {
            Rounds rounds = new Rounds(reactor);
            Sleeper other = new Sleeper(false);
            rounds.addSource(new Sleeper(true));
            rounds.addSource(other);
            rounds.arm();
            assertThrows(OutOfMemoryError.class, rounds::disarm);
            assertFalse(other.armed);
            assertFalse(rounds.isPolling());
        }
    }
}
