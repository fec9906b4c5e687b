package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A receiver looks at the completion queue itself, without the thread that polls. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ArrivalsTest {
    private static final int MESSAGES = 5_000;
    private static final long HEADER = PacketHeader.of(8, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);

    private static OneStepLink pool(Side side) {
        return (OneStepLink) side.connection().links().getFirst();
    }

    private static void send(Side side, MemorySegment block) {
        while (!pool(side).sendPacket(HEADER, block, 0)) {
            side.poll();
        }
    }

    private static boolean arrives(Side sender, Side receiver) {
        long startNs = System.nanoTime();
        while (!receiver.connection().hasArrivals()) {
            sender.poll();
            if (System.nanoTime() - startNs > Side.PATIENCE_NS) {
                return false;
            }
        }
        return true;
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldFindAPacketWithoutAPoll(String provider) {
        String session = "arrivals-" + System.nanoTime();
        MemorySegment block = MemorySegment.ofArray(new byte[8]);
        Side right = new Side(Fabrics.driver(provider, ""), session, 2);
        ProtocolConnection connection;
        try (Side left = new Side(Fabrics.driver(provider, ""), session, 1);
                right) {
            Side.connect(left, right);
            connection = right.connection();
            assertTrue(connection.showsArrivals());
            assertFalse(connection.hasArrivals());
            for (int i = 0; i < 100; i++) {
                send(left, block);
                assertTrue(arrives(left, right), "packet " + i);
                assertTrue(pool(right).receivePacket(HEADER, block, 0));
                assertFalse(connection.hasArrivals());
            }
        }
        assertFalse(connection.hasArrivals()); // closed: nothing is called any more
    }

    /** The thread that polls and a receiver take turns; nothing is lost, twice, or out of order. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldTakeTurnsWithTheThreadThatPolls(String provider) throws InterruptedException {
        String session = "turns-" + System.nanoTime();
        try (Side left = new Side(Fabrics.driver(provider, ""), session, 1);
                Side right = new Side(Fabrics.driver(provider, ""), session, 2)) {
            Side.connect(left, right);
            AtomicBoolean over = new AtomicBoolean();
            Thread poller = Thread.ofPlatform().start(() -> {
                while (!over.get()) {
                    right.poll();
                    Thread.yield();
                }
            });
            Thread sender = Thread.ofPlatform().start(() -> {
                MemorySegment block = MemorySegment.ofArray(new long[1]);
                for (long i = 0; i < MESSAGES; i++) {
                    block.set(java.lang.foreign.ValueLayout.JAVA_LONG, 0, i);
                    send(left, block);
                }
                while (!over.get()) {
                    left.poll();
                    Thread.yield();
                }
            });
            try {
                long[] value = new long[1];
                MemorySegment block = MemorySegment.ofArray(value);
                long startNs = System.nanoTime();
                for (long i = 0; i < MESSAGES; ) {
                    if (right.connection().hasArrivals() && pool(right).receivePacket(HEADER, block, 0)) {
                        assertEquals(i++, value[0]);
                    }
                    assertTrue(System.nanoTime() - startNs < 3 * Side.PATIENCE_NS, "no progress at " + i);
                }
            } finally {
                over.set(true);
                poller.join();
                sender.join();
            }
        }
    }
}
