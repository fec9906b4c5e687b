package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Completion;
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
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a thread does for the handler while it waits. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HandlerDispatchTest {
    private static final int BUFFER_BYTES = 1024;
    private static final int BYTES = 3 * BUFFER_BYTES / 2;

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
}
