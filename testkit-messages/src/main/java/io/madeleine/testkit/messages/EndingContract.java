package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.closeOnceNobodyIsInside;
import static io.madeleine.testkit.messages.TestBlocks.receive;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.assertSays;
import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.pause;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The contract of messages that end early: abort, discard, freed memory, deadlines, interrupts. */
public interface EndingContract extends MessageFixture {
    /** More bytes than any network buffers. */
    int HUGE = 24 << 20;

    int LARGE = 4 << 20;

    private static int[][] shapes() {
        return new int[][] {{}, {8}, {8, 200}, {6000}, {200, 70_000}, {4 << 20}, {8, 4 << 20, 8}};
    }

    // ---- abort

    @Test
    default void shouldTellTheReceiverOfAnAbortInAnyPlace() {
        open(2);
        for (int[] shape : shapes()) {
            for (SendMode mode : SendMode.values()) {
                together(
                        () -> {
                            OutgoingMessage out = channel(0).beginPacking(1);
                            for (int bytes : shape) {
                                out.pack(block(1, bytes), mode, CHEAPER);
                            }
                            out.close();
                            out.close();
                            assertThrows(IllegalStateException.class, () -> out.packInt(1));
                            send(channel(0), 1, 9, 100);
                        },
                        () -> {
                            try (IncomingMessage in = channel(1).beginUnpacking()) {
                                assertThrows(MessageAbortedException.class, () -> {
                                    for (int bytes : shape) {
                                        in.unpack(block(bytes), mode, CHEAPER);
                                    }
                                    in.unpackInt();
                                });
                                assertThrows(MessageAbortedException.class, in::endUnpacking);
                            }
                            receive(channel(1), 9, 100);
                        });
            }
        }
    }

    @Test
    default void shouldAbortABlockThatIsHalfSent() {
        open(2);
        for (int repeated = 0; repeated < 3; repeated++) {
            CompletableFuture<Void> aborted = new CompletableFuture<>();
            together(
                    () -> {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.packInt(5);
                            out.pack(block(1, HUGE), SendMode.CHEAPER, CHEAPER);
                            DeadlineExceededException late = assertThrows(
                                    DeadlineExceededException.class, () -> out.endPacking(20, TimeUnit.MILLISECONDS));
                            assertSays("from rank 0 to rank 1", late);
                        }
                        aborted.complete(null);
                        send(channel(0), 1, 7, 8, 9000);
                    },
                    () -> {
                        aborted.get(10, TimeUnit.SECONDS);
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            assertThrows(MessageAbortedException.class, () -> {
                                assertEquals(5, in.unpackInt());
                                in.unpack(block(HUGE), SendMode.CHEAPER, CHEAPER);
                                in.endUnpacking();
                            });
                        }
                        receive(channel(1), 7, 8, 9000);
                    });
        }
        checkUsable(0, 1);
    }

    // ---- discard

    @Test
    default void shouldDiscardTheRestInAnyPlace() {
        open(2);
        for (int[] shape : shapes()) {
            for (int unpacked = 0; unpacked <= shape.length; unpacked++) {
                int count = unpacked;
                together(
                        () -> {
                            send(channel(0), 1, 1, shape);
                            send(channel(0), 1, 9, 100);
                        },
                        () -> {
                            IncomingMessage in = channel(1).beginUnpacking();
                            for (int i = 0; i < count; i++) {
                                in.unpack(block(shape[i]), SendMode.CHEAPER, CHEAPER);
                            }
                            in.discard();
                            in.discard();
                            in.close();
                            assertThrows(IllegalStateException.class, in::unpackInt);
                            receive(channel(1), 9, 100);
                        });
            }
        }
    }

    @Test
    default void shouldDiscardAMessageThatIsStillBeingSent() {
        open(2);
        together(
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.packInt(1);
                        out.pack(block(1, 100_000), SendMode.SAFER, CHEAPER);
                        pause(10);
                        out.pack(block(1, HUGE), SendMode.CHEAPER, CHEAPER);
                        pause(10);
                        out.endPacking();
                    }
                    send(channel(0), 1, 9, 100);
                },
                () -> {
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        assertEquals(1, in.unpackInt());
                        in.discard();
                    }
                    receive(channel(1), 9, 100);
                });
        eventually(
                "nothing is left to drain",
                () -> sessions().demand(1) == 0 && sessions().demand(0) == 0);
    }

    // ---- freed memory

    @Test
    default void shouldFailAtBothEndsWhenMemoryInFlightIsFreed() {
        open(2);
        for (int bytes : new int[] {300, 9000, HUGE}) {
            together(
                    () -> {
                        Arena arena = Arena.ofShared();
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.packInt(bytes);
                            out.pack(arena.allocate(bytes, 8), SendMode.LATER, CHEAPER);
                            arena.close();
                            MessageAbortedException aborted =
                                    assertThrows(MessageAbortedException.class, out::endPacking);
                            assertSays("from rank 0 to rank 1", aborted);
                        }
                    },
                    () -> expectAbort(bytes));
            checkUsable(0, 1);
        }
    }

    private void expectAbort(int bytes) {
        try (IncomingMessage in = channel(1).beginUnpacking()) {
            assertThrows(MessageAbortedException.class, () -> {
                assertEquals(bytes, in.unpackInt());
                in.unpack(block(bytes), SendMode.LATER, CHEAPER);
                in.endUnpacking();
            });
        }
    }

    @Test
    default void shouldFailAtBothEndsWhenMemoryHalfSentIsFreed() {
        open(2);
        CompletableFuture<Void> freed = new CompletableFuture<>();
        together(
                () -> {
                    Arena arena = Arena.ofShared();
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.packInt(HUGE);
                        out.pack(arena.allocate(HUGE, 8), SendMode.CHEAPER, CHEAPER);
                        assertThrows(DeadlineExceededException.class, () -> out.endPacking(20, TimeUnit.MILLISECONDS));
                        closeOnceNobodyIsInside(arena);
                        freed.complete(null);
                        assertThrows(MessageAbortedException.class, () -> out.endPacking(10, TimeUnit.SECONDS));
                    }
                },
                () -> {
                    freed.get(10, TimeUnit.SECONDS);
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        assertThrows(MessageAbortedException.class, () -> {
                            assertEquals(HUGE, in.unpackInt());
                            in.unpack(block(HUGE), SendMode.CHEAPER, CHEAPER);
                            in.endUnpacking();
                        });
                    }
                });
        checkUsable(0, 1);
    }

    @Test
    default void shouldFailWhenFreedMemoryIsPacked() {
        open(2);
        Arena arena = Arena.ofShared();
        MemorySegment gone = arena.allocate(100);
        arena.close();
        together(
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.packInt(1);
                        assertThrows(MessageAbortedException.class, () -> {
                            out.pack(gone, SendMode.SAFER, CHEAPER);
                            out.endPacking();
                        });
                        assertThrows(RuntimeException.class, () -> out.packInt(2));
                        assertThrows(MessageAbortedException.class, out::endPacking);
                    }
                    send(channel(0), 1, 3, 50);
                },
                () -> {
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        assertThrows(MessageAbortedException.class, () -> {
                            in.unpackInt();
                            in.unpack(block(100), SendMode.SAFER, CHEAPER);
                            in.endUnpacking();
                        });
                    }
                    receive(channel(1), 3, 50);
                });
    }

    @Test
    default void shouldFailAtTheReceiverWhenMemoryThatIsAwaitedIsFreed() {
        open(2);
        for (int bytes : new int[] {300, 9000, 2 << 20}) {
            CompletableFuture<Void> mayEnd = new CompletableFuture<>();
            together(
                    () -> {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.packInt(1);
                            out.pack(block(1, bytes), SendMode.LATER, CHEAPER);
                            out.pack(block(2, 64), SendMode.CHEAPER, CHEAPER);
                            mayEnd.get(10, TimeUnit.SECONDS);
                            out.endPacking();
                        }
                        send(channel(0), 1, 3, 50);
                    },
                    () -> {
                        Arena arena = Arena.ofShared();
                        // some modules send nothing before the end, so even begin has to wait for it
                        mayEnd.completeOnTimeout(null, 20, TimeUnit.MILLISECONDS);
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            in.unpack(block(4), SendMode.SAFER, EXPRESS);
                            arena.close();
                            assertThrows(MessageAbortedException.class, () -> {
                                in.unpack(freed(bytes), SendMode.LATER, CHEAPER);
                                in.unpack(block(64), SendMode.CHEAPER, CHEAPER);
                                in.endUnpacking();
                            });
                        }
                        receive(channel(1), 3, 50);
                    });
        }
    }

    @Test
    default void shouldNotInterruptAThreadThatMovesAMessageWhoseMemoryIsFreedMeanwhile() {
        open(2);
        int rounds = 40;
        together(
                () -> {
                    for (int i = 0; i < rounds; i++) {
                        Arena arena = Arena.ofShared();
                        try (OutgoingMessage out = channel(0).beginPacking(1, 10, TimeUnit.SECONDS)) {
                            out.packInt(i);
                            out.pack(arena.allocate(LARGE, 8), SendMode.CHEAPER, CHEAPER);
                            Completion end = out.endPackingAsync();
                            LockSupport.parkNanos(i * 20_000L);
                            closeOnceNobodyIsInside(arena);
                            assertTrue(endsWellOrAborted(end));
                        }
                    }
                    send(channel(0), 1, 3, 50);
                },
                () -> receive(channel(0), 4, 50), // this thread leads meanwhile
                () -> {
                    MemorySegment into = block(LARGE);
                    for (int i = 0; i < rounds; i++) {
                        try (IncomingMessage in = channel(1).beginUnpacking(10, TimeUnit.SECONDS)) {
                            in.unpackInt();
                            in.unpack(into, SendMode.CHEAPER, CHEAPER);
                            in.endUnpacking();
                        } catch (MessageAbortedException _) {
                            // a possible outcome
                        }
                    }
                    receive(channel(1), 3, 50);
                    send(channel(1), 0, 4, 50);
                });
        checkUsable(0, 1);
    }

    @Test
    default void shouldLeaveNobodyInterruptedWhoseMemoryIsFreed() {
        open(2);
        int rounds = 30;
        together(
                () -> {
                    for (int i = 0; i < rounds; i++) {
                        Arena arena = Arena.ofShared();
                        MemorySegment block = arena.allocate(HUGE, 8);
                        Thread other = closeLater(arena, i * 40_000L);
                        try (OutgoingMessage out = channel(0).beginPacking(1, 10, TimeUnit.SECONDS)) {
                            out.packInt(i);
                            out.pack(block, SendMode.CHEAPER, CHEAPER);
                            out.endPacking();
                        } catch (MessageAbortedException _) {
                            // a possible outcome
                        }
                        assertFalse(Thread.interrupted(), "the sender is interrupted in round " + i);
                        other.join();
                    }
                },
                () -> {
                    for (int i = 0; i < rounds; i++) {
                        Arena arena = Arena.ofShared();
                        MemorySegment block = arena.allocate(HUGE, 8);
                        Thread other = closeLater(arena, (rounds - i) * 40_000L);
                        try (IncomingMessage in = channel(1).beginUnpacking(10, TimeUnit.SECONDS)) {
                            in.unpackInt();
                            in.unpack(block, SendMode.CHEAPER, CHEAPER);
                            in.endUnpacking();
                        } catch (MessageAbortedException _) {
                            // a possible outcome
                        }
                        assertFalse(Thread.interrupted(), "the receiver is interrupted in round " + i);
                        other.join();
                    }
                });
        checkUsable(0, 1);
    }

    @Test
    default void shouldLeaveNobodyInterruptedWhoseMemoryIsFreedInAPackOrUnpack() {
        open(2);
        int rounds = 50;
        together(
                () -> {
                    for (int i = 0; i < rounds; i++) {
                        Arena arena = Arena.ofShared();
                        MemorySegment block = arena.allocate(LARGE, 8);
                        Thread other = closeLater(arena, i * 20_000L);
                        try (OutgoingMessage out = channel(0).beginPacking(1, 10, TimeUnit.SECONDS)) {
                            out.pack(block, SendMode.SAFER, EXPRESS);
                            out.endPacking();
                        } catch (MessageAbortedException _) {
                            // a possible outcome
                        }
                        assertFalse(Thread.interrupted(), "the sender is interrupted in round " + i);
                        other.join();
                    }
                },
                () -> {
                    for (int i = 0; i < rounds; i++) {
                        Arena arena = Arena.ofShared();
                        MemorySegment block = arena.allocate(LARGE, 8);
                        try (IncomingMessage in = channel(1).beginUnpacking(10, TimeUnit.SECONDS)) {
                            Thread other = closeLater(arena, (rounds - i) * 20_000L);
                            try {
                                in.unpack(block, SendMode.SAFER, EXPRESS);
                                in.endUnpacking();
                            } catch (MessageAbortedException _) {
                                // a possible outcome
                            }
                            assertFalse(Thread.interrupted(), "the receiver is interrupted in round " + i);
                            other.join();
                        }
                    }
                });
        checkUsable(0, 1);
    }

    private static Thread closeLater(Arena arena, long delayNs) {
        return Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(delayNs);
            closeOnceNobodyIsInside(arena);
        });
    }

    private static boolean endsWellOrAborted(Completion end) {
        try {
            return end.await(10, TimeUnit.SECONDS);
        } catch (MessageAbortedException _) {
            return true;
        }
    }

    private static MemorySegment freed(long bytes) {
        try (Arena arena = Arena.ofShared()) {
            return arena.allocate(bytes, 8);
        }
    }

    @Test
    default void shouldFailRatherThanHangWhenAnotherThreadEndsAMessageWithConfinedBlocks() {
        open(2);
        CompletableFuture<IncomingMessage> handedOver = new CompletableFuture<>();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        together(
                () -> {
                    IncomingMessage[] held = new IncomingMessage[1];
                    try (Arena confined = Arena.ofConfined()) {
                        held[0] = channel(1).beginUnpacking();
                        held[0].unpack(confined.allocate(3 << 20), SendMode.LATER, CHEAPER);
                        handedOver.complete(held[0]);
                        ended.get(10, TimeUnit.SECONDS);
                    }
                },
                () -> {
                    try (IncomingMessage in = handedOver.get(10, TimeUnit.SECONDS)) {
                        in.endUnpacking(10, TimeUnit.SECONDS); // succeeds if everything had arrived before
                    } catch (MessageAbortedException _) {
                        // this thread may not access the block, so it cannot fill it
                    }
                    ended.complete(null);
                },
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.pack(block(1, 3 << 20), SendMode.LATER, CHEAPER);
                        pause(20);
                        out.endPacking();
                    }
                });
        checkUsable(0, 1);
    }

    // ---- deadlines

    @Test
    default void shouldKeepTheDeadlineOfEveryCallAndNameBothSides() {
        open(2);
        assertNamed(
                DeadlineExceededException.class, "rank 1", () -> channel(1).beginUnpacking(20, TimeUnit.MILLISECONDS));
        assertNamed(
                DeadlineExceededException.class,
                "rank 1",
                () -> channel(1).beginUnpacking(0, 20, TimeUnit.MILLISECONDS));
        assertThrows(DeadlineExceededException.class, () -> channel(1).beginUnpacking(0, TimeUnit.MILLISECONDS));
        OutgoingMessage open = channel(0).beginPacking(1);
        assertNamed(
                DeadlineExceededException.class,
                "from rank 0 to rank 1",
                () -> channel(0).beginPacking(1, 20, TimeUnit.MILLISECONDS));
        assertTrue(channel(0).tryBeginPacking(1).isEmpty());
        open.close();
        try (IncomingMessage in = channel(1).beginUnpacking()) {
            assertThrows(MessageAbortedException.class, in::endUnpacking);
        }
        checkUsable(0, 1);
    }

    private static void assertNamed(
            Class<? extends RuntimeException> type, String named, org.junit.jupiter.api.function.Executable call) {
        assertSays(named, assertThrows(type, call));
    }

    @Test
    default void shouldGoOnUnpackingAfterADeadline() {
        open(2);
        CompletableFuture<Void> started = new CompletableFuture<>();
        CompletableFuture<Void> mayPack = new CompletableFuture<>();
        together(
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.pack(block(5, 2 << 20), SendMode.CHEAPER, EXPRESS); // does not fit: a part of it leaves
                        started.complete(null);
                        mayPack.get(10, TimeUnit.SECONDS);
                        out.packInt(77).packLong(78).packUtf8("seventy-nine");
                        out.pack(block(6, 5000), SendMode.CHEAPER, CHEAPER);
                        out.endPacking();
                    }
                    send(channel(0), 1, 9, 100);
                },
                () -> {
                    started.get(10, TimeUnit.SECONDS);
                    IncomingMessage in = null;
                    try {
                        in = channel(1).beginUnpacking(200, TimeUnit.MILLISECONDS);
                        resumeAfterDeadlines(in, mayPack);
                    } catch (DeadlineExceededException _) {
                        mayPack.complete(null); // this network sends nothing before the group ends
                        in = channel(1).beginUnpacking();
                        resumeAfterDeadlines(in, mayPack);
                    }
                    receive(channel(1), 9, 100);
                });
    }

    private static boolean isLate(IncomingMessage in, MemorySegment block) {
        try {
            in.unpack(block, SendMode.CHEAPER, EXPRESS);
            return false;
        } catch (DeadlineExceededException e) {
            assertSays("from rank 0 to rank 1", e);
            return true;
        }
    }

    private static void resumeAfterDeadlines(IncomingMessage message, CompletableFuture<Void> mayPack) {
        try (IncomingMessage in = message) {
            MemorySegment first = block(2 << 20);
            MemorySegment other = block(2 << 20);
            in.within(1, TimeUnit.MICROSECONDS);
            if (!mayPack.isDone()) {
                boolean late = isLate(in, first);
                if (late) {
                    late = isLate(in, first); // again; what has come meanwhile counts
                }
                if (late) {
                    assertThrows(IllegalStateException.class, () -> in.unpack(other, SendMode.CHEAPER, EXPRESS));
                    in.within(50, TimeUnit.MILLISECONDS);
                    late = isLate(in, first); // the rest of the block may leave only when more is packed
                }
                mayPack.complete(null);
                in.within(10, TimeUnit.SECONDS);
                if (late) {
                    in.unpack(first, SendMode.CHEAPER, EXPRESS);
                }
            } else {
                in.within(10, TimeUnit.SECONDS);
                in.unpack(first, SendMode.CHEAPER, EXPRESS);
            }
            Pattern.check(5, first);
            assertEquals(77, in.unpackInt());
            assertEquals(78, in.unpackLong());
            assertEquals("seventy-nine", in.unpackUtf8());
            MemorySegment last = block(5000);
            in.unpack(last, SendMode.CHEAPER, CHEAPER);
            in.endUnpacking();
            Pattern.check(6, last);
        }
    }

    @Test
    default void shouldRepeatAScalarAfterADeadlineWithoutTakingItTwice() {
        open(2);
        CompletableFuture<Void> mayPack = new CompletableFuture<>();
        together(
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.pack(block(5, HUGE), SendMode.CHEAPER, CHEAPER);
                        mayPack.get(10, TimeUnit.SECONDS);
                        out.packInt(1).packInt(2).packUtf8("three");
                        out.endPacking();
                    }
                },
                () -> {
                    CompletableFuture<Void> begun = mayPack.copy().completeOnTimeout(null, 100, TimeUnit.MILLISECONDS);
                    begun.thenRun(() -> mayPack.complete(null));
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        MemorySegment huge = block(HUGE);
                        in.unpack(huge, SendMode.CHEAPER, CHEAPER);
                        in.within(0, TimeUnit.MILLISECONDS);
                        int first;
                        while (true) {
                            try {
                                first = in.unpackInt();
                                break;
                            } catch (DeadlineExceededException _) {
                                mayPack.complete(null);
                            }
                        }
                        assertEquals(1, first);
                        in.within(10, TimeUnit.SECONDS);
                        assertEquals(2, in.unpackInt());
                        assertEquals("three", in.unpackUtf8());
                        in.endUnpacking();
                        Pattern.check(5, huge);
                    }
                });
    }

    @Test
    default void shouldGoOnEndingAfterADeadline() {
        open(2);
        for (boolean again : new boolean[] {true, false}) {
            CompletableFuture<Void> mayReceive = new CompletableFuture<>();
            CompletableFuture<Void> mayEnd = new CompletableFuture<>();
            together(
                    () -> {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.packInt(8);
                            out.pack(block(1, HUGE), SendMode.CHEAPER, CHEAPER);
                            assertThrows(
                                    DeadlineExceededException.class, () -> out.endPacking(10, TimeUnit.MILLISECONDS));
                            assertThrows(
                                    DeadlineExceededException.class, () -> out.endPacking(0, TimeUnit.MILLISECONDS));
                            assertThrows(IllegalStateException.class, () -> out.packInt(1));
                            mayReceive.complete(null);
                            mayEnd.get(10, TimeUnit.SECONDS);
                            out.endPacking(10, TimeUnit.SECONDS);
                            if (again) {
                                out.endPacking();
                            }
                        }
                    },
                    () -> {
                        mayReceive.get(10, TimeUnit.SECONDS);
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            MemorySegment huge = block(HUGE);
                            assertEquals(8, in.unpackInt());
                            in.unpack(huge, SendMode.CHEAPER, CHEAPER);
                            assertThrows(
                                    DeadlineExceededException.class, () -> in.endUnpacking(0, TimeUnit.MILLISECONDS));
                            mayEnd.complete(null);
                            in.endUnpacking(10, TimeUnit.SECONDS);
                            if (again) {
                                in.endUnpacking();
                            }
                            Pattern.check(1, huge);
                        }
                    });
        }
        checkUsable(0, 1);
    }

    // ---- interrupts

    @Test
    default void shouldEndWaitsWhenInterruptedAndGoOnAfterwards() {
        open(2);
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        CompletableFuture<Void> interrupted = new CompletableFuture<>();
        CompletableFuture<Void> senderInterrupted = new CompletableFuture<>();
        CompletableFuture<Void> receiverInterrupted = new CompletableFuture<>();
        together(
                () -> {
                    waiter.complete(Thread.currentThread());
                    assertThrows(
                            WaitInterruptedException.class, () -> channel(1).beginUnpacking());
                    assertTrue(Thread.interrupted());
                    interrupted.complete(null);
                    senderInterrupted.get(10, TimeUnit.SECONDS);
                    try (IncomingMessage in = channel(1).beginUnpacking(0)) {
                        MemorySegment huge = block(HUGE);
                        in.unpack(huge, SendMode.CHEAPER, CHEAPER);
                        Thread.currentThread().interrupt();
                        assertThrows(WaitInterruptedException.class, in::endUnpacking); // the sender is stopped
                        assertTrue(Thread.interrupted());
                        receiverInterrupted.complete(null);
                        in.endUnpacking();
                        Pattern.check(1, huge);
                    }
                },
                () -> {
                    Thread waiting = waiter.get(10, TimeUnit.SECONDS);
                    pause(20);
                    waiting.interrupt();
                    interrupted.get(10, TimeUnit.SECONDS);
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.pack(block(1, HUGE), SendMode.CHEAPER, CHEAPER);
                        Thread.currentThread().interrupt();
                        assertThrows(WaitInterruptedException.class, out::endPacking); // no thread receives
                        assertTrue(Thread.interrupted());
                        senderInterrupted.complete(null);
                        receiverInterrupted.get(10, TimeUnit.SECONDS);
                        out.endPacking();
                    }
                });
        checkUsable(0, 1);
    }

    // ---- late closes

    @Test
    default void shouldNotHitALaterMessageOfAnotherThreadByALateClose() {
        open(2);
        OutgoingMessage[] out = new OutgoingMessage[2];
        IncomingMessage[] in = new IncomingMessage[2];
        for (int i = 0; i < 2; i++) {
            int number = i;
            together(() -> {
                out[number] = channel(0).beginPacking(1);
                out[number].packInt(number);
                if (number == 0) {
                    out[number].endPacking();
                }
            });
        }
        out[0].close(); // this message ended long ago; the next one is open
        CompletableFuture<Void> ending = start(() -> {
            out[1].packInt(11);
            out[1].endPacking();
        });
        together(() -> {
            in[0] = channel(1).beginUnpacking();
            assertEquals(0, in[0].unpackInt());
            in[0].endUnpacking();
        });
        together(() -> {
            in[1] = channel(1).beginUnpacking();
            assertEquals(1, in[1].unpackInt());
        });
        in[0].close();
        assertEquals(11, in[1].unpackInt());
        in[1].endUnpacking();
        in[1].close();
        join(ending);
        out[1].close();
        checkUsable(0, 1);
    }
}
