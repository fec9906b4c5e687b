package io.madeleine.testkit.messages;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.switching.SwitchedChannel;
import io.madeleine.testkit.ContractViolation;
import io.madeleine.testkit.LoopFabric;
import io.madeleine.testkit.LoopTm;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LocalSessionsTest {
    private static final List<LoopTm> SHORT_AND_STREAM = List.of(
            LoopTm.withStaticBuffers("short", AggregationMode.SYMMETRIC, 112, 128),
            LoopTm.withDynamicBuffers("stream", LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, Long.MAX_VALUE));

    @Test
    void shouldPassTheArrayOfUnpredictableSizeOfFigureOne() throws InterruptedException {
        int[] array = new int[100_000];
        Arrays.setAll(array, i -> i);
        try (LocalSessions sessions =
                LocalSessions.of(2).loop("loop", SHORT_AND_STREAM).open()) {
            Thread sender = Thread.ofPlatform().start(() -> {
                try (OutgoingMessage out = sessions.channel(0).beginPacking(1)) {
                    out.packInt(array.length);
                    out.pack(array, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                    out.endPacking();
                }
            });
            try (IncomingMessage in = sessions.channel(1).beginUnpacking()) {
                int[] received = new int[in.unpackInt()];
                in.unpack(received, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                in.endUnpacking();
                assertArrayEquals(array, received);
                assertEquals(0, in.remote());
            }
            sender.join();
        }
    }

    @Test
    void shouldSayWhoIsConnected() {
        try (LocalSessions sessions =
                LocalSessions.of(3).loop("loop", SHORT_AND_STREAM).open()) {
            assertTrue(sessions.channel(0).isConnected(1));
            assertTrue(sessions.channel(0).isConnected(2));
            assertThrows(
                    IllegalArgumentException.class, () -> sessions.channel(0).isConnected(0));
            sessions.session(1).close();
            while (sessions.channel(0).isConnected(1)) {
                sessions.session(0).progress();
            }
            assertTrue(sessions.channel(0).isConnected(2));
        }
    }

    /** Who hears of it from a wait and closes the session for that finds that the session knows. */
    @Test
    void shouldTellTheSessionOfALossBeforeAWaitCanFailForIt() {
        try (LocalSessions sessions =
                LocalSessions.of(2).loop("loop", SHORT_AND_STREAM).open()) {
            SwitchedChannel channel = (SwitchedChannel) sessions.channel(1);
            List<Boolean> connected = new CopyOnWriteArrayList<>();
            channel.onConnectionLost((rank, _, _) -> connected.add(channel.isConnected(rank)));
            sessions.die(0);
            assertThrows(PeerFailedException.class, () -> channel.beginUnpacking(0));
            assertEquals(List.of(true), connected);
        }
    }

    @Test
    void shouldReportBrokenRulesWhenItIsClosed() {
        LocalSessions.Builder wanted = LocalSessions.of(2).loop("loop", SHORT_AND_STREAM);
        LocalSessions sessions = wanted.open();
        LoopFabric fabric = wanted.fabrics().getFirst();
        fabric.violation("as a test");
        assertThrows(ContractViolation.class, sessions::close);
    }
}
