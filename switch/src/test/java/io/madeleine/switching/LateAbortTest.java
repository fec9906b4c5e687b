package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A leader that sleeps is woken for a message that its user gives up. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LateAbortTest {
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLetAThreadCloseAMessageThoughAnotherThreadSleepsAsLeader(boolean virtual) throws Exception {
        try (LoneEnd end = new LoneEnd(false)) {
            SendHalf half = end.sending();
            end.first.room.set(0);
            OutgoingHandle out = Objects.requireNonNull(half.tryBegin());
            out.pack(MemorySegment.ofArray(new byte[8]), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            out.within(1, TimeUnit.MILLISECONDS);
            assertThrows(DeadlineExceededException.class, out::endPacking);
            AtomicBoolean stop = new AtomicBoolean();
            Waitable on = new Waitable();
            Thread leader = Thread.ofPlatform()
                    .daemon()
                    .start(() -> end.engine.await(on, stop::get, ProgressEngine.NO_DEADLINE));
            LoneEnd.awaitThat(() -> leader.getState() == Thread.State.RUNNABLE && end.engine.isAwaited(on));
            Thread.sleep(50); // it sleeps in the reactor
            try {
                CompletableFuture<Void> closing =
                        virtual ? LoneEnd.startToWait(out::close) : end.startApart(out::close);
                LoneEnd.join(closing); // 5 s
            } finally {
                stop.set(true);
                end.engine.signal(on);
                leader.join();
            }
        }
    }

    @Test
    void shouldLetAVirtualThreadCloseAMessageThoughTheSessionsOwnThreadSleepsAsLeader() throws Exception {
        try (LoneEnd end = new LoneEnd(false)) {
            SendHalf half = end.sending();
            end.first.room.set(0);
            end.engine.raiseDemand(); // any other work for which the session's own thread leads
            Thread.sleep(50); // it sleeps in the reactor, for up to three seconds
            OutgoingHandle out = Objects.requireNonNull(half.tryBegin());
            out.pack(MemorySegment.ofArray(new byte[8]), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            out.within(1, TimeUnit.MILLISECONDS);
            assertThrows(DeadlineExceededException.class, out::endPacking);
            Thread.sleep(50);
            long startNs = System.nanoTime();
            LoneEnd.join(LoneEnd.startToWait(out::close));
            long tookNs = System.nanoTime() - startNs;
            end.engine.lowerDemand();
            assertTrue(tookNs < 2_000_000_000L, tookNs + " ns");
        }
    }
}
