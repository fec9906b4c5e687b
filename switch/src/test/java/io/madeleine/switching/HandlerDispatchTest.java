package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.Pattern;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a thread does for the handler while it waits. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HandlerDispatchTest {
    private static final int BUFFER_BYTES = 1024;
    private static final int BYTES = 3 * BUFFER_BYTES / 2;
    private static final int LONG_BYTES = 1 << 20;

    private final LocalSessions sessions = LocalSessions.of(2)
            .loop(
                    "loop",
                    List.of(LoopTm.withStaticBuffers(
                            "short", AggregationMode.ASYMMETRIC, Long.MAX_VALUE, BUFFER_BYTES)))
            .open();
    private final SwitchedChannel receiver = (SwitchedChannel) sessions.channel(1);
    private final CountDownLatch release = new CountDownLatch(1);

    @AfterEach
    void close() {
        release.countDown();
        sessions.close();
    }

    /** Keeps the session's own thread from polling. */
    private void occupyTheLeader() throws InterruptedException {
        CountDownLatch occupied = new CountDownLatch(1);
        receiver.engine().enqueue(() -> {
            occupied.countDown();
            try {
                release.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return true;
        });
        occupied.await();
    }

    @Test
    void shouldGoOnWithAMessageThatTheHandlerHasLeftToThePolls() throws Exception {
        AtomicBoolean begun = new AtomicBoolean();
        AtomicBoolean done = new AtomicBoolean();
        MemorySegment received = Arena.ofAuto().allocate(BYTES);
        receiver.onMessage(message -> {
            begun.set(true);
            message.unpack(received, 0, BYTES, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            Completion end = message.endUnpackingAsync();
            end.onDone(() -> {
                message.close();
                done.set(true);
            });
        });
        occupyTheLeader();
        MemorySegment sent = Pattern.fill(7, Arena.ofAuto().allocate(BYTES));
        OutgoingMessage message = sessions.channel(0).beginPacking(1);
        message.pack(sent, 0, BYTES, SendMode.CHEAPER, ReceiveMode.CHEAPER);
        AtomicBoolean ended = new AtomicBoolean();
        BooleanSupplier condition = () -> {
            if (begun.get() && ended.compareAndSet(false, true)) {
                message.endPacking(); // only now the rest of the block leaves
                message.close();
            }
            return done.get();
        };
        assertTrue(receiver.arrivals().handleUntil(condition, Objects.requireNonNull(receiver.connectionOrNull(0))));
        Pattern.check(7, received);
    }

    /** Only a leader goes on with such a message, so a thread that waits for its end should lead soon. */
    @Test
    void shouldLookOnceOnlyWhileAMessageIsOnItsWay() throws Exception {
        receiver.onMessage(message -> {
            throw new AssertionError("nobody sends");
        });
        occupyTheLeader();
        MemorySegment sent = Pattern.fill(7, Arena.ofAuto().allocate(LONG_BYTES));
        SwitchedConnection connection = Objects.requireNonNull(receiver.connectionOrNull(0));
        AtomicInteger looks = new AtomicInteger();
        BooleanSupplier never = () -> looks.incrementAndGet() < 0;
        try (OutgoingMessage message = receiver.beginPacking(0)) {
            message.pack(sent, 0, LONG_BYTES, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            Completion end = message.endPackingAsync();
            assertTrue(connection.sending().isOnItsWay(), "it does not fit the network's memory");
            assertFalse(receiver.arrivals().handleUntil(never, connection));
            assertEquals(1, looks.get());
            release.countDown();
            MemorySegment received = Arena.ofAuto().allocate(LONG_BYTES);
            try (IncomingMessage arriving = sessions.channel(0).beginUnpacking()) {
                arriving.unpack(received, 0, LONG_BYTES, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                arriving.endUnpacking();
            }
            Pattern.check(7, received);
            end.await();
        }
    }
}
