package io.madeleine.tm.tcp.stream;

import static java.nio.channels.SelectionKey.OP_READ;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.io.Wire;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class InterestTest {
    /** Notes what it is to be watched for, unless memory is short. */
    private static final class Watched implements Wire {
        private int operations;
        private boolean isShort;

        @Override
        public void interest(int wanted) {
            if (isShort) {
                throw new OutOfMemoryError("as a test");
            }
            operations = wanted;
        }

        @Override
        public boolean reachesUserMemory() {
            return false;
        }

        @Override
        public int read(ByteBuffer target) {
            return 0;
        }

        @Override
        public int write(ByteBuffer source) {
            return 0;
        }

        @Override
        public void register(Reactor.ReadyHandler handler) {}

        @Override
        public void shutdownOutput() {}

        @Override
        public void close() {}
    }

    @Test
    void shouldSayAgainWhatMemoryWasTooShortFor() {
        Watched wire = new Watched();
        Interest interest = new Interest(wire, () -> OP_READ);
        wire.isShort = true;
        assertThrows(OutOfMemoryError.class, interest::update);
        wire.isShort = false;
        interest.update();
        assertEquals(OP_READ, wire.operations);
    }
}
