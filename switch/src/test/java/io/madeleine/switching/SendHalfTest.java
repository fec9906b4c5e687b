package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.SendTask;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Step;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Region;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the sending half promises to its users, to those in line, to its send tasks, to its network, and to the owners
 * of memory. Its links have room when the test says so.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SendHalfTest {
    private static final long NEVER = ProgressEngine.NO_DEADLINE;

    private final LoneEnd end = new LoneEnd(true);
    private SendHalf half = end.sending();

    @AfterEach
    void close() {
        end.close();
    }

    private static MemorySegment block(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    private OutgoingHandle begin() {
        return Objects.requireNonNull(half.tryBegin(), "no message can begin");
    }

    private static void pack(OutgoingHandle out, int bytes) {
        out.pack(block(bytes), SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }

    private boolean sendWhole(MemorySegment block) {
        return half.sendWhole(block, 0, block.byteSize(), SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }

    private void send() {
        try (OutgoingHandle out = begin()) {
            out.packByte((byte) 1).endPacking();
        }
        assertEquals("end", end.first.lastSent());
    }

    /** A message whose end was asked for, and for which there is no room. */
    private OutgoingHandle onItsWay() {
        end.first.room.set(0);
        OutgoingHandle out = begin();
        pack(out, 8);
        out.endPackingAsync();
        assertTrue(half.isOnItsWay() && half.isPromised() && !half.isFree());
        return out;
    }

    private void makeRoom() {
        end.first.room.set(1_000_000);
        end.engine.requestRound();
    }

    private static void checkFails(Runnable call) {
        assertEquals(1, assertThrows(PeerFailedException.class, call::run).rank());
    }

    private void checkQuiet() throws InterruptedException {
        LoneEnd.awaitThat(() -> half.isFree() && end.engine.demand() == 0);
        assertFalse(half.isOnItsWay() || half.isPromised());
    }

    // ---- one message

    @Test
    void shouldBeginOneMessageAtATimeAndCountThoseThatHaveEnded() throws Exception {
        assertTrue(half.isFree() && !half.isLost() && !half.isOnItsWay());
        OutgoingHandle out = begin();
        assertFalse(half.isFree() || half.isOnItsWay() || half.isPromised());
        assertNull(half.tryBegin());
        assertEquals(0, half.messageCount());
        out.packByte((byte) 1).endPacking();
        assertEquals(1, half.messageCount());
        assertTrue(half.isFree());
        assertEquals(1, end.first.announcements.get());
        out.close();
        send();
        assertEquals(2, half.messageCount());
        end.apart(this::send);
        send();
        assertEquals(4, half.messageCount());
        assertTrue(sendWhole(block(8)));
        assertEquals(5, half.messageCount(), "in one step");
        checkQuiet();
    }

    @Test
    void shouldAnnounceAMessageOnTheLinkThatEndsIt() {
        try (OutgoingHandle out = begin()) {
            pack(out, LoneEnd.SHORT + 1);
            int before = end.second.announcements.get();
            out.endPacking();
            assertEquals(before + 1, end.second.announcements.get());
        }
        assertEquals("end", end.second.lastSent());
    }

    @Test
    void shouldPromiseAMessageUntilItHasLeftAndDemandProgressMeanwhile() throws Exception {
        OutgoingHandle out = onItsWay();
        Completion sent = out.completion();
        assertEquals(1, end.engine.demand());
        assertFalse(sent.isDone());
        assertEquals(List.of(), end.first.sent);
        assertThrows(IllegalStateException.class, () -> out.packByte((byte) 1));
        makeRoom();
        sent.await();
        checkQuiet();
        assertEquals(1, end.first.announcements.get());
        out.close();
        send();
        assertEquals(2, half.messageCount());
    }

    @Test
    void shouldWakeWhoWaitsUntilItsMessageHasLeft() throws Exception {
        end.first.room.set(0);
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> {
            try (OutgoingHandle out = begin()) {
                pack(out, 8);
                out.endPacking();
            }
        });
        assertTrue(half.isOnItsWay() && !half.isPromised(), "its user waits for it");
        makeRoom();
        LoneEnd.join(waiting);
        checkQuiet();
    }

    @Test
    void shouldSayHowFarAMessageIsWhoseDeadlineHasPassed() throws Exception {
        end.first.room.set(0);
        OutgoingHandle out = begin();
        out.within(1, TimeUnit.MILLISECONDS);
        assertSaysOnDeadline("no block is packed", () -> half.begin(System.nanoTime()));
        pack(out, 8);
        assertSaysOnDeadline("1 block is packed, into test/short", () -> half.begin(System.nanoTime()));
        end.second.room.set(0);
        pack(out, LoneEnd.SHORT + 1);
        assertSaysOnDeadline("2 blocks are packed, the last into test/", () -> half.begin(System.nanoTime()));
        assertSaysOnDeadline("2 blocks are packed", out::endPacking);
        end.second.room.set(100);
        makeRoom();
        out.within(10, TimeUnit.SECONDS);
        out.endPacking();
        out.close();
        OutgoingHandle next = begin();
        assertSaysOnDeadline("no block is packed", () -> half.begin(System.nanoTime()));
        next.endPacking();
        next.close();
        checkQuiet();
    }

    private static void assertSaysOnDeadline(String part, Runnable call) {
        String text = String.valueOf(
                assertThrows(DeadlineExceededException.class, call::run).getMessage());
        assertTrue(text.contains(part), text);
    }

    @Test
    void shouldPackLayoutsAndEmptyBlocks() {
        try (OutgoingHandle out = begin()) {
            out.pack(BlockLayout.strided(block(40), 0, 10, 20, 2), SendMode.CHEAPER, ReceiveMode.EXPRESS);
            pack(out, 0);
            out.endPacking();
        }
        assertEquals(1, end.first.sent.size());
        assertEquals(20, PacketHeader.payloadBytes(end.first.sent.getFirst()));
    }

    @Test
    void shouldPutADescriptorBeforeEachBlockIfWanted() {
        end.selfDescribed = true;
        half = end.sending();
        assertFalse(sendWhole(block(8)), "not in one step");
        try (OutgoingHandle out = begin()) {
            out.pack(block(8), SendMode.SAFER, ReceiveMode.CHEAPER);
            out.pack(block(0), SendMode.SAFER, ReceiveMode.CHEAPER);
            out.endPacking();
        }
        long bytes =
                end.first.sent.stream().mapToLong(PacketHeader::payloadBytes).sum();
        assertEquals(8 + 2 * BlockDescriptor.BYTES, bytes);
    }

    // ---- messages in one step

    @Test
    void shouldSendInOneStepAndTellTheReceiver() throws Exception {
        assertTrue(sendWhole(block(8)));
        assertEquals("end", end.first.lastSent());
        assertEquals(1, end.first.announcements.get());
        assertTrue(half.sendTogether(block(24), 8, 8, 8, SendMode.CHEAPER, ReceiveMode.CHEAPER));
        assertEquals(2, end.first.announcements.get());
        assertFalse(half.sendTogether(block(200), 0, 8, LoneEnd.SHORT + 1, SendMode.CHEAPER, ReceiveMode.CHEAPER));
        assertFalse(half.sendTogether(block(200), 0, LoneEnd.SHORT + 1, 8, SendMode.CHEAPER, ReceiveMode.CHEAPER));
        assertFalse(sendWhole(block(LoneEnd.SHORT + 1)));
        assertEquals(2, end.first.sent.size());
        assertEquals(List.of(), end.second.sent);
        assertTrue(half.isFree());
        end.apart(() -> assertTrue(sendWhole(block(8))));
        send();
    }

    @Test
    void shouldSendNothingInOneStepIfThereIsNoRoomOrAnotherMessageIsOpen() throws Exception {
        end.first.room.set(0);
        assertFalse(sendWhole(block(8)));
        assertTrue(half.isFree());
        assertEquals(0, end.first.announcements.get());
        makeRoom();
        OutgoingHandle out = begin();
        assertFalse(sendWhole(block(8)));
        out.endPacking();
        out.close();
        assertTrue(sendWhole(block(8)));
        half.stop();
        assertFalse(sendWhole(block(8)));
        assertEquals(2, end.first.sent.size());
        checkQuiet();
    }

    @Test
    void shouldSendNothingInOneStepPastThoseInLine() throws Exception {
        OutgoingHandle out = begin();
        AtomicInteger order = new AtomicInteger();
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> {
            try (OutgoingHandle own = half.begin(NEVER)) {
                order.incrementAndGet();
                own.endPacking();
            }
        });
        assertFalse(sendWhole(block(8)));
        Thread.sleep(2); // the first in line can be overtaken for a moment only
        out.endPacking();
        out.close();
        LoneEnd.join(waiting);
        assertEquals(1, order.get());
        assertEquals(2, end.first.sent.size());
        assertTrue(sendWhole(block(8)));
    }

    @Test
    void shouldKeepNothingOfABlockInFreedMemoryThatWasToGoInOneStep() throws Exception {
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(8);
        arena.close();
        assertFalse(sendWhole(freed));
        assertTrue(half.isFree());
        end.apart(this::send);
        assertEquals(List.of(), end.breaks);
    }

    @Test
    void shouldThrowWhatALinkThrowsAndLeaveTheConnectionFree() {
        Error thrown = new InternalError("as a test");
        end.first.thrownBySender = thrown;
        assertSame(thrown, assertThrows(Error.class, () -> sendWhole(block(8))));
        assertTrue(half.isFree() && !half.isLost());
        end.first.thrownBySender = null;
        send();
        end.first.thrownBySender = new AssertionError("of the link");
        assertThrows(AssertionError.class, () -> sendWhole(block(8)));
        end.first.thrownBySender = null;
        assertTrue(half.isFree() && half.isLost());
        assertFalse(end.breaks.isEmpty());
        int sent = end.first.sent.size();
        assertFalse(sendWhole(block(8)));
        checkFails(() -> half.tryBegin());
        assertEquals(sent, end.first.sent.size());
    }

    // ---- those in line

    @Test
    void shouldGiveTheConnectionToThoseInLineInTheirOrder() throws Exception {
        OutgoingHandle out = begin();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Void>> line = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            line.add(LoneEnd.startToWait(() -> {
                try (OutgoingHandle own = half.begin(NEVER)) {
                    order.add(number);
                    own.endPacking();
                }
            }));
        }
        Thread.sleep(2);
        assertThrows(DeadlineExceededException.class, () -> half.begin(System.nanoTime()));
        out.endPacking();
        out.close();
        for (CompletableFuture<Void> each : line) {
            LoneEnd.join(each);
        }
        assertEquals(List.of(0, 1, 2, 3), order);
        send();
        checkQuiet();
    }

    @Test
    void shouldReserveTheFreeConnectionForTheFirstWhoHasWaitedForAMoment() throws Exception {
        OutgoingHandle out = begin();
        LoneEnd.Barrier held = new LoneEnd.Barrier();
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> {
            try (OutgoingHandle own = half.begin(NEVER)) {
                held.run();
                own.endPacking();
            }
        });
        out.endPacking();
        out.close();
        held.awaitReached();
        assertNull(half.tryBegin());
        held.letGoOn();
        LoneEnd.join(waiting);
        send();
    }

    @Test
    void shouldTellThoseInLineOfALossThoughTheOpenMessageIsNotTouched() throws Exception {
        OutgoingHandle out = begin();
        List<CompletableFuture<Void>> line = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            line.add(LoneEnd.startToWait(() -> checkFails(() -> half.begin(NEVER))));
        }
        end.lost = true;
        half.connectionLost();
        for (CompletableFuture<Void> each : line) {
            LoneEnd.join(each);
        }
        end.first.full = LinkStatus.CLOSED;
        end.first.room.set(0);
        checkFails(() -> {
            pack(out, 8);
            out.endPacking();
        });
        out.close();
        checkQuiet();
        checkFails(() -> half.tryBegin());
        assertTrue(half.isFree());
        checkFails(half::throwIfLost);
    }

    @Test
    void shouldPassTheTurnOnIfWhoIsFirstHasGone() throws Exception {
        OutgoingHandle out = begin();
        CompletableFuture<Void> impatient = LoneEnd.startToWait(
                () -> assertThrows(DeadlineExceededException.class, () -> half.begin(System.nanoTime() + 30_000_000)));
        AtomicInteger begun = new AtomicInteger();
        CompletableFuture<Void> patient = LoneEnd.startToWait(() -> {
            try (OutgoingHandle own = half.begin(NEVER)) {
                begun.incrementAndGet();
                own.endPacking();
            }
        });
        LoneEnd.join(impatient);
        assertEquals(0, begun.get());
        out.endPacking();
        LoneEnd.join(patient);
        out.close();
        checkQuiet();
    }

    // ---- send tasks

    @Test
    void shouldRunATaskAtOnceIfTheConnectionIsFree() throws Exception {
        List<String> done = new CopyOnWriteArrayList<>();
        SendTask task = half.tasks().newTask(() -> {
            send();
            done.add("sent");
        });
        task.schedule();
        LoneEnd.awaitThat(() -> done.size() == 1);
        checkQuiet();
        assertEquals(1, half.messageCount());
    }

    @Test
    void shouldRunATaskWhenTheMessageBeforeHasEnded() throws Exception {
        List<String> done = new CopyOnWriteArrayList<>();
        SendTask task = half.tasks().newTask(() -> {
            send();
            done.add("sent");
        });
        OutgoingHandle out = begin();
        task.schedule();
        Thread.sleep(2);
        assertEquals(List.of(), done);
        assertEquals(1, end.engine.demand());
        out.endPacking();
        assertEquals(List.of("sent"), done, "the thread that frees the connection runs it");
        out.close();
        checkQuiet();
    }

    @Test
    void shouldKeepTheConnectionForItsTaskUntilThatHasBegunOrReturned() throws Exception {
        AtomicReference<Object> seen = new AtomicReference<>("nothing");
        SendTask idle = half.tasks().newTask(() -> {
            assertFalse(half.isFree());
            CompletableFuture<Void> other = end.startApart(() -> {
                half.releaseClaim(); // it is another thread's
                seen.set(String.valueOf(half.tryBegin()));
            });
            other.join();
            assertFalse(half.isFree());
        });
        idle.schedule();
        LoneEnd.awaitThat(() -> "null".equals(seen.get()));
        checkQuiet();
        send();
        idle.schedule();
        checkQuiet();
        end.apart(this::send);
    }

    @Test
    void shouldPassTheConnectionOnAfterATaskThatHasNotBegun() throws Exception {
        OutgoingHandle out = begin();
        List<String> order = new CopyOnWriteArrayList<>();
        half.tasks().newTask(() -> order.add("task")).schedule();
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> {
            try (OutgoingHandle own = half.begin(NEVER)) {
                order.add("thread");
                own.endPacking();
            }
        });
        SendTask last = half.tasks().newTask(() -> order.add("last"));
        last.schedule();
        out.endPacking();
        out.close();
        LoneEnd.join(waiting);
        LoneEnd.awaitThat(() -> order.size() == 3);
        assertEquals(List.of("task", "thread", "last"), order);
        checkQuiet();
    }

    @Test
    void shouldRunTasksOfALostConnectionWhichSeeTheLoss() throws Exception {
        for (boolean stopped : new boolean[] {false, true}) {
            try (LoneEnd own = new LoneEnd(false)) {
                SendHalf losing = own.sending();
                OutgoingHandle out = Objects.requireNonNull(losing.tryBegin());
                List<String> done = new CopyOnWriteArrayList<>();
                losing.tasks()
                        .newTask(() -> {
                            checkFails(losing::throwIfLost);
                            done.add("failed");
                        })
                        .schedule();
                assertEquals(List.of(), done);
                if (stopped) {
                    losing.stop();
                } else {
                    own.lost = true;
                    losing.connectionLost();
                }
                LoneEnd.awaitThat(() -> done.size() == 1);
                LoneEnd.awaitThat(() -> own.engine.demand() == 0);
                checkFails(() -> losing.tasks().newTask(() -> {}).schedule());
                assertFalse(losing.isFree(), "the open message still belongs to its user");
                assertTrue(out.isOpen());
            }
        }
    }

    @Test
    void shouldWakeTheNextIfATaskIsCancelled() throws Exception {
        OutgoingHandle out = begin();
        SendTask task = half.tasks().newTask(() -> {});
        task.schedule();
        assertTrue(task.cancel());
        out.endPacking();
        out.close();
        checkQuiet();
    }

    // ---- giving up

    @Test
    void shouldTellTheReceiverOfAMessageThatIsClosedBeforeItsEnd() throws Exception {
        OutgoingHandle out = begin();
        pack(out, 8);
        out.close();
        assertEquals("abort", end.first.lastSent());
        checkQuiet();
        assertFalse(half.hasLeft(out));
        send();
        end.first.room.set(0);
        OutgoingHandle stuck = begin();
        pack(stuck, 8);
        stuck.close(); // comes back: nothing reads its memory
        assertTrue(half.isOnItsWay() && half.isPromised());
        assertEquals(1, end.engine.demand());
        makeRoom();
        checkQuiet();
        assertEquals("abort", end.first.lastSent());
        send();
    }

    @Test
    void shouldGiveUpAMessageOnItsWayWhoseUserHasStoppedWaiting() throws Exception {
        end.first.room.set(0);
        OutgoingHandle out = begin();
        pack(out, 8);
        out.within(1, TimeUnit.MILLISECONDS);
        assertThrows(DeadlineExceededException.class, out::endPacking);
        CompletableFuture<Void> closing = end.startApart(() -> {
            assertFalse(out.giveUp(), "it had not left");
            out.close();
        });
        LoneEnd.join(closing);
        assertTrue(half.isPromised(), "its abort has yet to be told");
        makeRoom();
        checkQuiet();
        assertEquals("abort", end.first.lastSent());
        send();
    }

    @Test
    void shouldNotGiveUpWhatHasLeft() throws Exception {
        end.posting().holds = true;
        OutgoingHandle out = begin();
        pack(out, 8);
        out.within(1, TimeUnit.MILLISECONDS);
        assertThrows(DeadlineExceededException.class, out::endPacking);
        assertEquals("end", end.first.lastSent());
        CompletableFuture<Boolean> left = new CompletableFuture<>();
        CompletableFuture<Void> givingUp = end.startApart(() -> left.complete(out.giveUp()));
        Thread.sleep(5);
        assertFalse(givingUp.isDone(), "a network reads its memory");
        end.posting().holds = false;
        end.engine.requestRound();
        LoneEnd.join(givingUp);
        assertTrue(left.join());
        assertEquals("end", end.first.lastSent());
        out.close();
        checkQuiet();
    }

    @Test
    void shouldDoNothingToALaterMessageWhenAnEarlierOneIsGivenUp() throws Exception {
        send();
        OutgoingHandle out = begin();
        half.abort(0);
        assertTrue(out.isOpen());
        assertEquals(0, end.engine.demand());
        out.packByte((byte) 1).endPacking();
        out.close();
        assertEquals("end", end.first.lastSent());
        OutgoingHandle sealed = onItsWay();
        half.abort(0);
        half.abort(7);
        makeRoom();
        sealed.completion().await();
        sealed.close();
        assertEquals("end", end.first.lastSent());
        checkQuiet();
    }

    @Test
    void shouldAbortAMessageWhoseMemoryIsFreed() throws Exception {
        Arena arena = Arena.ofShared();
        OutgoingHandle out = begin();
        MemorySegment freed = arena.allocate(8);
        out.pack(freed, SendMode.LATER, ReceiveMode.CHEAPER);
        arena.close();
        assertThrows(MessageAbortedException.class, out::endPacking);
        out.close();
        assertEquals("abort", end.first.lastSent());
        OutgoingHandle early = begin();
        assertThrows(MessageAbortedException.class, () -> early.pack(freed, SendMode.SAFER, ReceiveMode.CHEAPER));
        assertThrows(MessageAbortedException.class, () -> early.packByte((byte) 1));
        assertThrows(
                MessageAbortedException.class,
                () -> early.pack(BlockLayout.strided(block(40), 0, 10, 20, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER));
        assertThrows(MessageAbortedException.class, early::endPacking);
        early.close();
        assertEquals("abort", end.first.lastSent());
        OutgoingHandle ranges = begin();
        assertThrows(
                MessageAbortedException.class,
                () -> ranges.pack(BlockLayout.strided(freed, 0, 1, 2, 2), SendMode.SAFER, ReceiveMode.CHEAPER));
        ranges.close();
        assertFalse(Thread.currentThread().isInterrupted());
        send();
        checkQuiet();
        assertEquals(List.of(), end.breaks);
    }

    @Test
    void shouldAbortAMessageOnItsWayWhoseMemoryIsFreed() throws Exception {
        Arena arena = Arena.ofShared();
        end.first.room.set(0);
        OutgoingHandle out = begin();
        out.pack(arena.allocate(8), SendMode.CHEAPER, ReceiveMode.CHEAPER);
        Completion sent = out.endPackingAsync();
        arena.close();
        makeRoom();
        assertThrows(MessageAbortedException.class, sent::await);
        out.close();
        checkQuiet();
        assertEquals("abort", end.first.lastSent());
    }

    @Test
    void shouldCopyConfinedMemoryBeforeAnotherThreadSendsIt() throws Exception {
        end.first.room.set(0);
        OutgoingHandle out = begin();
        Completion sent;
        try (Arena arena = Arena.ofConfined()) {
            out.pack(arena.allocate(8), SendMode.LATER, ReceiveMode.CHEAPER);
            sent = out.endPackingAsync();
        }
        makeRoom();
        sent.await();
        out.close();
        assertEquals("end", end.first.lastSent());
        checkQuiet();
    }

    @Test
    void shouldGiveUpAMessageThatItsUserCouldNotCloseWhenAnotherIsToBegin() throws Exception {
        OutgoingHandle out = begin();
        pack(out, 8);
        assertNull(half.tryBegin());
        assertTrue(out.isOpen());
        half.sendAbort.orphaned = out.number();
        OutgoingHandle next = half.tryBegin();
        if (next == null) { // it was taken when it was found, and is free now
            next = begin();
        }
        assertEquals("abort", end.first.lastSent());
        assertFalse(out.isOpen());
        next.endPacking();
        next.close();
        half.sendAbort.orphaned = out.number(); // and has ended since
        OutgoingHandle later = begin();
        assertNull(half.tryBegin());
        assertTrue(later.isOpen());
        later.endPacking();
        later.close();
        checkQuiet();
    }

    @Test
    void shouldLetWhoIsInLineGiveUpAMessageThatItsUserCouldNotClose() throws Exception {
        OutgoingHandle out = begin();
        pack(out, 8);
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> {
            try (OutgoingHandle own = half.begin(NEVER)) {
                own.endPacking();
            }
        });
        half.sendAbort.orphaned = out.number();
        half.wakeFirstIfFree();
        LoneEnd.join(waiting);
        assertFalse(out.isOpen());
        checkQuiet();
    }

    // ---- memory that a network reads

    @Test
    void shouldEndAMessageWhenTheNetworkHasReleasedItsMemory() throws Exception {
        end.posting().holds = true;
        OutgoingHandle out = begin();
        pack(out, LoneEnd.SHORT + 1);
        Completion sent = out.endPackingAsync();
        assertEquals("end", end.second.lastSent());
        LoneEnd.awaitThat(() -> !sent.isDone());
        assertTrue(half.isOnItsWay() && half.isPromised());
        assertTrue(half.uses(region(block(8))), "a network may read any memory");
        end.posting().holds = false;
        end.engine.requestRound();
        sent.await();
        out.close();
        checkQuiet();
        assertFalse(half.uses(region(block(8))));
        assertEquals(
                1,
                end.second.sent.stream()
                        .filter(header -> PacketHeader.has(header, PacketHeader.LAST))
                        .count());
        send();
    }

    @Test
    void shouldFailAMessageWhosePeerIsLostBeforeTheNetworkHasReleasedItsMemory() throws Exception {
        end.posting().holds = true;
        OutgoingHandle out = begin();
        pack(out, LoneEnd.SHORT + 1);
        Completion sent = out.endPackingAsync();
        end.lost = true;
        half.connectionLost();
        awaitRounds(end, 2);
        assertFalse(sent.isDone());
        end.posting().holds = false;
        end.engine.requestRound();
        checkFails(sent::await);
        out.close();
        checkQuiet();
        assertEquals(0, end.takenBack.get());
    }

    @Test
    void shouldTakeTheMemoryOfAGivenUpMessageBackFromANetworkThatKeepsIt() throws Exception {
        end.peerTimeoutNs = 1_000_000;
        end.posting().holds = true;
        OutgoingHandle out = begin();
        pack(out, LoneEnd.SHORT + 1);
        out.packByte((byte) 1); // commits the long block
        CompletableFuture<Void> closing = LoneEnd.startToWait(out::close);
        for (int i = 0; i < 100 && !closing.isDone(); i++) {
            Thread.sleep(2);
            end.engine.requestRound();
        }
        LoneEnd.join(closing);
        assertEquals(1, end.takenBack.get());
        end.posting().holds = false;
        end.engine.requestRound();
        checkQuiet();
    }

    @Test
    void shouldWaitInCloseOnlyUntilTheNetworkHasReleasedTheMemory() throws Exception {
        end.posting().holds = true;
        OutgoingHandle out = begin();
        pack(out, LoneEnd.SHORT + 1);
        out.packByte((byte) 1);
        end.first.room.set(0);
        CompletableFuture<Void> closing = LoneEnd.startToWait(out::close);
        assertFalse(closing.isDone());
        end.posting().holds = false;
        end.engine.requestRound();
        LoneEnd.join(closing);
        assertTrue(half.isOnItsWay(), "its abort has yet to be told");
        makeRoom();
        checkQuiet();
        assertEquals("abort", end.first.lastSent());
        assertEquals(0, end.takenBack.get());
    }

    private static Region region(MemorySegment memory) {
        return new Region(1, memory, Region.Kind.values()[0], "");
    }

    @Test
    void shouldSayWhichMemoryAMessageUses() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment mine = arena.allocate(8, 8);
            Region used = region(mine);
            Region other = region(arena.allocate(8, 8));
            assertFalse(half.uses(used));
            end.first.room.set(0);
            OutgoingHandle out = begin();
            out.pack(mine, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            assertTrue(half.uses(used));
            assertFalse(half.uses(other));
            Completion sent = out.endPackingAsync();
            assertTrue(half.uses(used));
            makeRoom();
            sent.await();
            out.close();
            checkQuiet();
            assertFalse(half.uses(used));
        }
    }

    // ---- the end of sending

    @Test
    void shouldFailAMessageOnItsWayWhenSendingStops() throws Exception {
        OutgoingHandle out = onItsWay();
        Completion sent = out.completion();
        half.stop();
        assertTrue(half.isLost());
        end.engine.requestRound();
        checkFails(sent::await);
        out.close();
        checkQuiet();
        checkFails(() -> half.tryBegin());
        assertEquals(List.of(), end.first.sent);
    }

    @Test
    void shouldTakeNoBlockAfterSendingHasStopped() {
        OutgoingHandle out = begin();
        half.stop();
        checkFails(() -> pack(out, 8));
        checkFails(() -> out.pack(BlockLayout.strided(block(40), 0, 10, 20, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER));
        checkFails(out::endPacking);
        out.close();
        assertEquals(List.of(), end.first.sent);
        assertTrue(half.isFree());
    }

    @Test
    void shouldTakeNoBlockThatItsLinkRefusesForGood() throws Exception {
        end.first.full = LinkStatus.CLOSED;
        end.first.room.set(0);
        OutgoingHandle out = begin();
        checkFails(() -> pack(out, LoneEnd.SHORT));
        checkFails(
                () -> out.pack(BlockLayout.strided(block(200), 0, 40, 80, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER));
        assertFalse(half.isLost(), "nobody has asked for the end");
        checkFails(out::endPacking);
        out.close();
        assertTrue(half.isLost(), "before the connection knows it");
        checkFails(() -> half.tryBegin());
        checkFails(() -> half.begin(NEVER));
        checkQuiet();
    }

    @Test
    void shouldFailAMessageOnItsWayOfAPeerThatIsLost() throws Exception {
        OutgoingHandle out = onItsWay();
        Completion sent = out.completion();
        end.lost = true;
        half.connectionLost();
        end.engine.requestRound();
        checkFails(sent::await);
        out.close();
        checkQuiet();
    }

    @Test
    void shouldGiveTheConnectionUpIfALinkFailsAndThrowThatToTheUser() throws Exception {
        for (int way = 0; way < 4; way++) {
            try (LoneEnd own = new LoneEnd(false)) {
                SendHalf failing = own.sending();
                OutgoingHandle out = Objects.requireNonNull(failing.tryBegin());
                AssertionError thrown = new AssertionError("of the link");
                if (way < 2) {
                    own.first.room.set(0); // so that the end has to look for room
                    pack(out, 8);
                }
                own.first.thrownBySender = thrown;
                Runnable call = switch (way) {
                    case 0 -> out::endPacking;
                    case 1 -> out::endPackingAsync;
                    case 2 -> () -> pack(out, 8);
                    default ->
                        () -> out.pack(
                                BlockLayout.strided(block(40), 0, 10, 20, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                };
                own.first.room.set(1_000_000);
                assertSame(thrown, assertThrows(AssertionError.class, call::run));
                assertEquals(List.of(thrown), own.breaks);
                assertTrue(failing.isLost());
                own.first.thrownBySender = null;
                out.close();
                assertTrue(failing.isFree());
                assertEquals(List.of(), own.first.sent);
                assertEquals(0, own.first.announcements.get());
                checkFails(failing::tryBegin);
            }
        }
    }

    @Test
    void shouldFailACompletionIfALinkFailsUnderTheLeader() throws Exception {
        OutgoingHandle out = onItsWay();
        Completion sent = out.completion();
        end.first.thrownBySender = new AssertionError("of the link");
        end.engine.requestRound();
        checkFails(sent::await);
        out.close();
        checkQuiet();
        assertEquals(0, end.first.announcements.get());
        assertNotNull(end.breaks.getFirst());
    }

    // ---- rounds that the test awaits, and leaders that it keeps

    /** Until the leader has done so many more rounds. */
    private static void awaitRounds(LoneEnd own, int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            AtomicBoolean ran = new AtomicBoolean();
            own.engine.enqueue(() -> {
                ran.set(true);
                return true;
            });
            own.engine.requestRound();
            LoneEnd.awaitThat(ran::get);
        }
    }

    /** Keeps the thread that leads until it is let go on. */
    private LoneEnd.Barrier keepTheLeader() throws InterruptedException {
        LoneEnd.Barrier kept = new LoneEnd.Barrier();
        end.engine.enqueue(() -> {
            kept.run();
            return true;
        });
        end.engine.requestRound();
        kept.awaitReached();
        return kept;
    }

    /** What may be interrupted, and may fail. */
    @FunctionalInterface
    private interface Deed {
        void run() throws Exception;
    }

    /** For what a link is to do once. */
    private static Runnable once(Deed action) {
        AtomicBoolean done = new AtomicBoolean();
        return () -> {
            if (!done.getAndSet(true)) {
                try {
                    action.run();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        };
    }

    // ---- what a message contains

    @Test
    void shouldSendHeaderAndBodyAsTheyLie() {
        MemorySegment blocks = block(40);
        for (int i = 0; i < 40; i++) {
            blocks.set(ValueLayout.JAVA_BYTE, i, (byte) i);
        }
        assertTrue(half.sendTogether(blocks, 4, 12, 8, SendMode.CHEAPER, ReceiveMode.CHEAPER));
        assertEquals(-1, end.first.contents.getFirst().mismatch(blocks.asSlice(4, 20)));
    }

    @Test
    void shouldDescribeEachBlock() {
        end.selfDescribed = true;
        half = end.sending();
        try (OutgoingHandle out = begin()) {
            out.pack(block(8), SendMode.SAFER, ReceiveMode.EXPRESS);
            out.pack(block(4), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            out.endPacking();
        }
        MemorySegment all = block(2 * BlockDescriptor.BYTES + 12);
        BlockDescriptor.put(all.asSlice(0, 16), 8, 0, SendMode.SAFER, ReceiveMode.EXPRESS, 0);
        BlockDescriptor.put(all.asSlice(24, 16), 4, 1, SendMode.CHEAPER, ReceiveMode.CHEAPER, 0);
        long at = 0;
        for (MemorySegment content : end.first.contents) {
            assertEquals(-1, content.mismatch(all.asSlice(at, content.byteSize())));
            at += content.byteSize();
        }
        assertEquals(all.byteSize(), at);
    }

    @Test
    void shouldEndAPacketWithAnExpressBlockWhereTheReceiverTakesPacketsAsTheyWereSent() {
        end.first.aggregation = AggregationMode.SYMMETRIC;
        half = end.sending();
        assertTrue(sendWhole(block(8)));
        assertFalse(half.sendWhole(block(8), 0, 8, SendMode.CHEAPER, ReceiveMode.EXPRESS), "not in one step");
        assertFalse(half.sendTogether(block(8), 0, 4, 4, SendMode.CHEAPER, ReceiveMode.CHEAPER), "nor a header");
        BlockLayout layout = BlockLayout.strided(block(40), 0, 5, 10, 2);
        try (OutgoingHandle out = begin()) {
            pack(out, 8);
            out.pack(layout, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            assertEquals(1, end.first.sent.size());
            out.pack(block(8), SendMode.CHEAPER, ReceiveMode.EXPRESS);
            assertEquals(2, end.first.sent.size());
            out.pack(layout, SendMode.CHEAPER, ReceiveMode.EXPRESS);
            assertEquals(3, end.first.sent.size());
            pack(out, 8);
            assertEquals(3, end.first.sent.size());
            out.endPacking();
        }
        assertEquals(4, end.first.sent.size());
    }

    @Test
    void shouldClearAnInterruptThatComesFromFreedMemory() {
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(8);
        arena.close();
        Thread.currentThread().interrupt(); // as the JVM does if the memory is freed during the copy
        assertFalse(sendWhole(freed));
        assertFalse(Thread.interrupted());
    }

    // ---- turns

    @Test
    void shouldWakeWhoJoinsTheLineDuringAMessageInOneStep() throws Exception {
        List<CompletableFuture<Void>> waiting = new CopyOnWriteArrayList<>();
        end.first.onClaim = once(() -> waiting.add(LoneEnd.startToWait(() -> {
            try (OutgoingHandle own = half.begin(NEVER)) {
                own.endPacking();
            }
        })));
        assertTrue(sendWhole(block(8)));
        LoneEnd.join(waiting.getFirst());
        assertEquals(2, end.first.sent.size());
    }

    /** A leader that nobody wakes sleeps for three seconds. */
    private static void assertDoneSoon(Callable<Boolean> isDone) throws Exception {
        long leastNs = Long.MAX_VALUE;
        for (int i = 0; i < 5 && leastNs > 2_000_000_000; i++) {
            long startNs = System.nanoTime();
            assertTrue(isDone.call());
            leastNs = Math.min(leastNs, System.nanoTime() - startNs);
        }
        assertTrue(leastNs <= 2_000_000_000, leastNs + " ns");
    }

    @Test
    void shouldHaveTheLeaderRunATaskThatIsScheduledDuringAMessageInOneStep() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        SendTask task = half.tasks().newTask(ran::incrementAndGet);
        assertDoneSoon(() -> {
            int before = ran.get();
            end.first.onClaim = once(() -> {
                task.schedule();
                Thread.sleep(50); // the leader sleeps by now
                assertEquals(before, ran.get());
            });
            assertTrue(sendWhole(block(8)));
            LoneEnd.awaitThat(() -> ran.get() > before);
            checkQuiet();
            return true;
        });
    }

    @Test
    void shouldHaveTheLeaderRunTasksAsSoonAsSendingStops() throws Exception {
        assertDoneSoon(() -> {
            try (LoneEnd own = new LoneEnd(false)) {
                SendHalf stopping = own.sending();
                OutgoingHandle out = Objects.requireNonNull(stopping.tryBegin());
                AtomicBoolean failed = new AtomicBoolean();
                stopping.tasks()
                        .newTask(() -> {
                            checkFails(stopping::throwIfLost);
                            failed.set(true);
                        })
                        .schedule();
                Thread.sleep(50); // the leader sleeps by now
                stopping.stop();
                LoneEnd.awaitThat(failed::get);
                return out.isOpen();
            }
        });
    }

    @Test
    void shouldGiveTheFreeConnectionToTheNextIfTheTaskBeforeIsCancelled() throws Exception {
        OutgoingHandle out = begin();
        AtomicBoolean ran = new AtomicBoolean();
        SendTask task = half.tasks().newTask(() -> ran.set(true));
        task.schedule();
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> {
            try (OutgoingHandle own = half.begin(NEVER)) {
                own.endPacking();
            }
        });
        LoneEnd.Barrier kept = keepTheLeader();
        LoneEnd.join(LoneEnd.startToWait(
                () -> { // a virtual thread leaves the task to the leader
                    out.endPacking();
                    out.close();
                }));
        assertTrue(half.isFree());
        assertFalse(waiting.isDone());
        assertTrue(task.cancel());
        LoneEnd.join(waiting);
        kept.letGoOn();
        checkQuiet();
        assertFalse(ran.get());
    }

    @Test
    void shouldNotRunATaskWhileAnotherHasOvertakenIt() throws Exception {
        LoneEnd.Barrier kept = keepTheLeader();
        AtomicBoolean ran = new AtomicBoolean();
        LoneEnd.join(LoneEnd.startToWait( // a virtual thread leaves the task to the leader
                () -> half.tasks().newTask(() -> ran.set(true)).schedule()));
        AtomicReference<OutgoingHandle> begun = new AtomicReference<>();
        LoneEnd.awaitThat(
                () -> { // once the task has not come for long
                    begun.set(half.tryBegin());
                    return begun.get() != null;
                });
        kept.letGoOn();
        awaitRounds(end, 3);
        assertFalse(ran.get());
        begun.get().endPacking();
        begun.get().close();
        LoneEnd.awaitThat(ran::get);
        checkQuiet();
    }

    /** Counts those of eight newcomers that overtake the first in line, who has waited for long. */
    private int overtakers(AtomicBoolean firstHasBegun, Callable<CompletableFuture<Void>> freeing) throws Exception {
        int count = 0;
        for (int i = 0; i < 8; i++) {
            firstHasBegun.set(false);
            CompletableFuture<Void> waiting = freeing.call();
            OutgoingHandle newcomer = half.tryBegin();
            if (newcomer != null) {
                count += firstHasBegun.get() ? 0 : 1;
                newcomer.endPacking();
                newcomer.close();
            }
            LoneEnd.join(waiting);
            checkQuiet();
        }
        return count;
    }

    private CompletableFuture<Void> startToSend(AtomicBoolean hasBegun) throws InterruptedException {
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> {
            try (OutgoingHandle own = half.begin(NEVER)) {
                hasBegun.set(true);
                own.endPacking();
            }
        });
        Thread.sleep(25); // longer than the free connection is reserved
        return waiting;
    }

    /** A thread that is away for 20 ms between two lines may find that the first in line has not come. */
    @Test
    void shouldReserveTheConnectionHoweverItBecomesFree() throws Exception {
        AtomicBoolean firstHasBegun = new AtomicBoolean();
        int afterAMessage = overtakers(firstHasBegun, () -> {
            try (OutgoingHandle out = begin()) {
                CompletableFuture<Void> waiting = startToSend(firstHasBegun);
                out.endPacking();
                return waiting;
            }
        });
        int afterOneStep = overtakers(firstHasBegun, () -> {
            AtomicReference<CompletableFuture<Void>> waiting = new AtomicReference<>();
            end.first.onClaim = once(() -> waiting.set(startToSend(firstHasBegun)));
            assertTrue(sendWhole(block(8)));
            return waiting.get();
        });
        int afterATask = overtakers(firstHasBegun, () -> {
            try (OutgoingHandle out = begin()) {
                half.tasks().newTask(once(() -> Thread.sleep(25))).schedule();
                CompletableFuture<Void> waiting = startToSend(firstHasBegun);
                out.endPacking();
                return waiting;
            }
        });
        assertTrue(afterAMessage <= 4, afterAMessage + " of 8 overtake after a message");
        assertTrue(afterOneStep <= 4, afterOneStep + " of 8 overtake after a message in one step");
        assertTrue(afterATask <= 4, afterATask + " of 8 overtake after a task");
    }

    // ---- short memory

    @Test
    void shouldFreeTheConnectionIfThereIsNoMemoryForAMessage() throws Exception {
        OutgoingHandle unclosed = begin();
        unclosed.endPacking(); // so that the next message needs another object
        Error noMemory = new OutOfMemoryError("as a test");
        end.thrownByMaker.set(noMemory);
        assertSame(noMemory, assertThrows(Error.class, () -> half.tryBegin()));
        assertTrue(half.isFree());
        OutgoingHandle out = begin();
        AtomicReference<Throwable> seen = new AtomicReference<>();
        half.tasks()
                .newTask(() -> {
                    end.thrownByMaker.set(noMemory);
                    seen.set(assertThrows(Error.class, () -> half.tryBegin()));
                })
                .schedule();
        CompletableFuture<Void> next = LoneEnd.startToWait(() -> {
            try (OutgoingHandle own = half.begin(NEVER)) {
                own.endPacking();
            }
        });
        out.endPacking(); // without a close
        LoneEnd.join(next);
        assertSame(noMemory, seen.get());
        unclosed.close();
        out.close();
        checkQuiet();
    }

    /** The engine has room for a million steps. */
    @Test
    void shouldGiveUpAMessageThatCannotBeLeftToTheLeader() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger looks = new AtomicInteger();
        Step step = over::get;
        Condition tried = () -> {
            if (looks.getAndIncrement() == 0) {
                return false; // does not lead yet; later nobody else does
            }
            assertThrows(IllegalStateException.class, () -> {
                while (true) {
                    end.engine.enqueue(step);
                }
            });
            for (int way = 0; way < 3; way++) {
                end.first.room.set(0);
                OutgoingHandle out = begin();
                pack(out, 8);
                Runnable call = way == 0 ? out::endPackingAsync : way == 1 ? out::endPacking : out::close;
                assertThrows(IllegalStateException.class, call::run);
                assertTrue(out.isOpen() && !half.isOnItsWay() && !half.isFree());
                end.first.room.set(1_000_000);
                if (way == 1) {
                    out.close();
                } else {
                    assertNull(half.tryBegin(), "gives it up first");
                }
                assertTrue(half.isFree() && !out.isOpen());
                assertEquals("abort", end.first.lastSent());
            }
            return true;
        };
        assertTrue(end.engine.await(new Waitable(), tried, NEVER));
        over.set(true);
        end.engine.requestRound();
        checkQuiet();
        send();
    }

    // ---- failures

    @Test
    void shouldThrowToWhoWaitsForTheEndOfAMessageThatFails() throws Exception {
        end.first.room.set(0);
        OutgoingHandle out = begin();
        pack(out, 8);
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> checkFails(out::endPacking));
        assertFalse(waiting.isDone());
        end.lost = true;
        half.connectionLost();
        end.engine.requestRound();
        LoneEnd.join(waiting);
        out.close();
        checkQuiet();
    }

    @Test
    void shouldFailAMessageOverLinksThatHoldNoMemory() throws Exception {
        try (LoneEnd own = new LoneEnd(false)) {
            own.first.room.set(0);
            OutgoingHandle out = Objects.requireNonNull(own.sending().tryBegin());
            pack(out, 8);
            Completion sent = out.endPackingAsync();
            own.lost = true;
            own.engine.requestRound();
            checkFails(sent::await);
            out.close();
        }
    }

    @Test
    void shouldThrowAFaultThatBreaksNoLinkAndLeaveTheMessageToItsUser() throws Exception {
        end.first.room.set(0);
        OutgoingHandle out = begin();
        pack(out, 8);
        Error fault = new InternalError("as a test");
        end.first.thrownBySender = fault;
        assertSame(fault, assertThrows(Error.class, out::endPacking));
        end.first.thrownBySender = null;
        assertTrue(out.isOpen() && !half.isLost() && !half.isOnItsWay());
        end.first.room.set(1_000_000);
        out.close();
        assertEquals("abort", end.first.lastSent());
        checkQuiet();
        send();
    }

    @Test
    void shouldAbortAMessageWhoseMemoryIsFreedBehindABlockWithoutRoom() throws Exception {
        for (boolean waits : new boolean[] {false, true}) {
            end.first.room.set(0);
            OutgoingHandle out = begin();
            pack(out, 8);
            try (Arena arena = Arena.ofConfined()) {
                out.pack(arena.allocate(8), SendMode.LATER, ReceiveMode.CHEAPER);
            }
            AtomicInteger claims = new AtomicInteger(); // there is room, but only after the first look
            end.first.onClaim = () -> end.first.room.set(claims.incrementAndGet() > 1 ? 1_000 : 0);
            if (waits) {
                assertThrows(MessageAbortedException.class, out::endPacking);
            } else {
                Completion sent = out.endPackingAsync();
                assertTrue(half.isFree() && sent.isDone(), "nothing is left to the leader");
                assertThrows(MessageAbortedException.class, sent::await);
            }
            assertEquals("abort", end.first.lastSent());
            out.close();
            checkQuiet();
        }
    }

    @Test
    void shouldTellWhetherAMessageHasLeft() throws Exception {
        OutgoingHandle out = onItsWay();
        assertFalse(half.hasLeft(out));
        half.abort(out.number());
        awaitRounds(end, 2);
        assertTrue(out.isOpen(), "its abort has yet to be told");
        assertFalse(half.hasLeft(out));
        makeRoom();
        checkQuiet();
        assertFalse(half.hasLeft(out));
        out.close();
        OutgoingHandle next = begin();
        next.endPacking();
        assertTrue(half.hasLeft(next));
        next.close();
    }

    @Test
    void shouldLetAUserCloseAMessageBeforeItsAbortIsTold() throws Exception {
        try (LoneEnd own = new LoneEnd(false)) {
            SendHalf closing = own.sending();
            own.first.room.set(0);
            OutgoingHandle out = Objects.requireNonNull(closing.tryBegin());
            pack(out, 8);
            out.within(1, TimeUnit.MILLISECONDS);
            assertThrows(DeadlineExceededException.class, out::endPacking);
            CompletableFuture<Void> waiting = LoneEnd.startToWait(out::close);
            LoneEnd.awaitThat(() -> {
                own.engine.requestRound();
                return waiting.isDone();
            });
            LoneEnd.join(waiting);
            assertTrue(closing.isPromised());
            own.first.room.set(1_000_000);
            own.engine.requestRound();
            LoneEnd.awaitThat(closing::isFree);
            assertEquals("abort", own.first.lastSent());
        }
    }

    @Test
    void shouldRunTheActionOfACompletionThatTheLeaderEnds() throws Exception {
        OutgoingHandle out = onItsWay();
        AtomicInteger ran = new AtomicInteger();
        out.completion().onDone(ran::incrementAndGet);
        out.close();
        assertEquals(0, ran.get());
        makeRoom();
        LoneEnd.awaitThat(() -> ran.get() == 1);
        checkQuiet();
    }

    // ---- memory that a network keeps

    @Test
    void shouldTakeBackNoMemoryOfAMessageThatIsNotGivenUp() throws Exception {
        end.peerTimeoutNs = 1_000_000;
        end.posting().holds = true;
        Completion sent = onItsWay().completion();
        for (int i = 0; i < 3; i++) {
            awaitRounds(end, 1);
            Thread.sleep(2);
        }
        makeRoom();
        LoneEnd.awaitThat(() -> !end.first.sent.isEmpty());
        for (int i = 0; i < 3; i++) {
            awaitRounds(end, 1);
            Thread.sleep(2);
        }
        assertEquals(0, end.takenBack.get());
        assertFalse(sent.isDone());
        end.posting().holds = false;
        end.engine.requestRound();
        sent.await();
        checkQuiet();
    }

    /** Rounds until the memory has been taken back. */
    private void awaitTakenBack() throws InterruptedException {
        LoneEnd.awaitThat(() -> {
            end.engine.requestRound();
            return end.takenBack.get() > 0;
        });
        assertEquals(1, end.takenBack.get());
    }

    @Test
    void shouldTakeTheMemoryBackThoughThereIsNoRoomForTheAbort() throws Exception {
        end.peerTimeoutNs = 1_000_000;
        end.posting().holds = true;
        OutgoingHandle out = onItsWay();
        half.abort(out.number());
        awaitTakenBack();
        end.posting().holds = false;
        end.engine.requestRound();
        checkQuiet();
        out.close();
    }

    @Test
    void shouldTakeTheMemoryBackThatAUserHasGivenUpTooLate() throws Exception {
        end.peerTimeoutNs = 1_000_000;
        end.posting().holds = true;
        OutgoingHandle out = begin();
        pack(out, 8);
        out.endPackingAsync();
        assertEquals("end", end.first.lastSent());
        half.abort(out.number());
        awaitTakenBack();
        end.engine.requestRound();
        checkQuiet();
        out.close();
    }

    @Test
    void shouldTakeTheMemoryBackOfAMessageThatHasFailed() throws Exception {
        end.peerTimeoutNs = 1_000_000;
        end.posting().holds = true;
        OutgoingHandle out = begin();
        pack(out, 8);
        Completion sent = out.endPackingAsync();
        end.lost = true;
        awaitTakenBack();
        end.engine.requestRound();
        checkFails(sent::await);
        out.close();
        checkQuiet();
    }

    @Test
    void shouldForgetWhatANetworkHeldOfAnEarlierMessage() throws Exception {
        end.posting().holds = true;
        OutgoingHandle held = begin();
        pack(held, 8);
        Completion sent = held.endPackingAsync();
        half.abort(held.number()); // too late, but its time has begun
        awaitRounds(end, 2);
        assertFalse(sent.isDone());
        end.posting().holds = false;
        end.engine.requestRound();
        sent.await();
        held.close();
        checkQuiet();

        OutgoingHandle open = begin();
        awaitRounds(end, 3);
        assertTrue(open.isOpen(), "the leader has nothing to do with it");
        open.endPacking();
        open.close();

        OutgoingHandle stuck = onItsWay();
        awaitRounds(end, 3);
        assertFalse(stuck.completion().isDone());
        end.peerTimeoutNs = 1_000_000;
        end.posting().holds = true;
        makeRoom();
        LoneEnd.awaitThat(() -> end.first.sent.size() == 3);
        for (int i = 0; i < 3; i++) {
            awaitRounds(end, 1);
            Thread.sleep(2);
        }
        assertEquals(0, end.takenBack.get());
        end.posting().holds = false;
        end.engine.requestRound();
        stuck.completion().await();
        stuck.close();
        checkQuiet();
    }

    @Test
    void shouldEndAFailedMessageOnlyWhenTheNetworkHasReleasedItsMemory() throws Exception {
        for (boolean stops : new boolean[] {true, false}) {
            try (LoneEnd own = new LoneEnd(true)) {
                SendHalf failing = own.sending();
                own.first.room.set(0);
                own.posting().holds = true;
                OutgoingHandle out = Objects.requireNonNull(failing.tryBegin());
                pack(out, 8);
                Completion sent = out.endPackingAsync();
                if (stops) {
                    failing.stop();
                } else {
                    own.first.thrownBySender = new AssertionError("of the link");
                }
                awaitRounds(own, 2);
                assertFalse(sent.isDone() || failing.isFree());
                own.first.thrownBySender = null;
                own.posting().holds = false;
                own.engine.requestRound();
                checkFails(sent::await);
                LoneEnd.awaitThat(failing::isFree);
                out.close();
            }
        }
    }
}
