package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.BlockLayout;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Region;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the receiving half promises to the threads that poll it, to its network, to those who wait, and to the owners of
 * memory. Nobody polls it but the test.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReceiveHalfTest {
    private static final int FIRST = PacketHeader.FIRST;
    private static final int LAST = PacketHeader.LAST;
    private static final int ABORT = PacketHeader.LAST | PacketHeader.ABORT;
    private static final long NEVER = ProgressEngine.NO_DEADLINE;

    private final LoneEnd end = new LoneEnd(true);
    private ReceiveHalf half = end.receiving();

    @AfterEach
    void close() throws Exception {
        checkUnlocked();
        assertFalse(end.first.violated, "two threads were in a link");
        end.close();
    }

    /** No call leaves the half locked behind it. */
    private void checkUnlocked() throws Exception {
        end.apart(() -> half.discard(-7));
    }

    private static MemorySegment block(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    private static MemorySegment bytes(int... values) {
        MemorySegment block = block(values.length);
        for (int i = 0; i < values.length; i++) {
            block.set(ValueLayout.JAVA_BYTE, i, (byte) values[i]);
        }
        return block;
    }

    private static void checkIs(MemorySegment block, int... values) {
        assertEquals(-1, bytes(values).mismatch(block));
    }

    private IncomingHandle begin() {
        return Objects.requireNonNull(half.tryBegin(), "there is no message");
    }

    private static void unpack(IncomingHandle in, MemorySegment block) {
        in.unpack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }

    /** Begins a message of which nothing but the first, empty packet has arrived, and asks for a block of it. */
    private IncomingHandle open(MemorySegment block) {
        end.packet(0, 0, FIRST);
        IncomingHandle in = begin();
        unpack(in, block);
        assertTrue(half.isUnderWay());
        return in;
    }

    private void endAndClose(IncomingHandle in) {
        in.endUnpacking();
        in.close();
    }

    private static void checkFails(Runnable call) {
        assertEquals(1, assertThrows(PeerFailedException.class, call::run).rank());
    }

    // ---- arrival

    @Test
    void shouldReportAMessageOnceAndAskForNoEventsWhileItIsUpToItsUser() throws Exception {
        assertEquals(0, half.onReadable());
        assertEquals(List.of(), end.interest);
        end.message(0, 5);
        assertEquals(1, half.onReadable());
        assertEquals(List.of(), end.interest);
        checkUnlocked();
        for (int i = 0; i < 2; i++) {
            assertTrue(half.hasArrived());
            assertEquals(1, end.arrivals.get());
            assertEquals(0, half.onReadable());
            assertEquals(List.of(false), end.interest);
        }
        IncomingHandle in = begin();
        checkUnlocked();
        assertEquals(0, half.onReadable());
        assertEquals(5, in.unpackByte());
        in.endUnpacking();
        assertEquals(List.of(false, true), end.interest, "the next message has to be reported");
        checkUnlocked();
        in.close();
        end.message(1, 6);
        assertEquals(1, half.onReadable());
        assertEquals(2, end.arrivals.get());
        endAndClose(unpackedByte(begin(), 6));
    }

    private static IncomingHandle unpackedByte(IncomingHandle in, int expected) {
        assertEquals(expected, in.unpackByte());
        return in;
    }

    @Test
    void shouldLookForAMessageWhoseArrivalIsSeenWithoutAPoll() throws Exception {
        assertFalse(half.mayBegin());
        assertNull(half.tryBegin());
        end.hidesArrivals = true;
        end.message(0, 5);
        assertFalse(half.mayBegin());
        assertNull(half.tryBegin());
        assertEquals(ReceiveHalf.NOTHING_THERE, half.takeWhole(block(1), 0, 1));
        assertEquals(ReceiveHalf.NOTHING_THERE, half.takeShort(block(1)));
        end.hidesArrivals = false;
        assertTrue(half.mayBegin());
        endAndClose(unpackedByte(begin(), 5));
        assertFalse(half.mayBegin());
        end.packet(7, 0, FIRST); // not the next message
        assertNull(half.tryBegin());
        checkUnlocked();
    }

    @Test
    void shouldLeaveTheLookToTheThreadThatLooks() throws Exception {
        LoneEnd.Barrier within = new LoneEnd.Barrier();
        end.first.onFront = within;
        end.message(0, 5);
        CompletableFuture<Void> polling = end.startApart(half::onReadable);
        within.awaitReached();
        assertEquals(0, half.onReadable());
        assertNull(half.tryBegin());
        assertEquals(ReceiveHalf.NOTHING_THERE, half.takeWhole(block(1), 0, 1));
        assertEquals(ReceiveHalf.NOTHING_THERE, half.takeShort(block(1)));
        within.letGoOn();
        LoneEnd.join(polling);
        assertTrue(half.hasArrived());
        endAndClose(unpackedByte(begin(), 5));
    }

    @Test
    void shouldNotMissAFoundMessageForAThreadThatIsInsideJustThen() throws Exception {
        end.message(0, 5);
        assertEquals(1, half.onReadable());
        LoneEnd.Barrier within = new LoneEnd.Barrier();
        end.onInterest = within; // the network is told that no events are wanted
        CompletableFuture<Void> polling = end.startApart(half::onReadable);
        within.awaitReached();
        assertEquals(ReceiveHalf.NOTHING_THERE, half.takeWhole(block(1), 0, 1));
        assertEquals(ReceiveHalf.TO_BE_BEGUN, half.takeShort(block(1)));
        CompletableFuture<IncomingHandle> begun = CompletableFuture.supplyAsync(
                this::begin, task -> Thread.ofPlatform().daemon().start(task));
        Thread.sleep(20);
        assertFalse(begun.isDone());
        within.letGoOn();
        LoneEnd.join(polling);
        endAndClose(unpackedByte(begun.get(10, TimeUnit.SECONDS), 5));
    }

    @Test
    void shouldWakeWhoWaitsForAMessage() throws Exception {
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> assertTrue(half.awaitArrival(NEVER)));
        end.message(0, 5);
        assertEquals(1, half.onReadable());
        LoneEnd.join(waiting);
        assertFalse(half.isExhausted());
        endAndClose(unpackedByte(begin(), 5));
        assertFalse(half.awaitArrival(System.nanoTime() + 1_000_000));
    }

    @Test
    void shouldLookForTheNextMessageOnlyIfSomebodyWaitsForIt() throws Exception {
        for (int number = 0; number < 3; number++) {
            end.message(number, number);
        }
        endAndClose(unpackedByte(begin(), 0));
        assertFalse(half.hasArrived());
        end.anyAwaited = true;
        endAndClose(unpackedByte(begin(), 1));
        assertTrue(half.hasArrived());
        end.anyAwaited = false;
        endAndClose(unpackedByte(begin(), 2));
        IncomingHandle in = beginSent(3);
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> assertTrue(half.awaitArrival(NEVER)));
        end.message(4, 4);
        endAndClose(unpackedByte(in, 3));
        assertTrue(half.hasArrived());
        LoneEnd.join(waiting);
        endAndClose(unpackedByte(begin(), 4));
    }

    private IncomingHandle beginSent(int number) {
        end.message(number, number);
        return begin();
    }

    @Test
    void shouldGiveUpAPeerThatBeginsAMessageInItsMiddle() throws Exception {
        end.packet(0, 1, 0, 5);
        assertEquals(0, half.onReadable());
        assertFalse(half.hasArrived());
        String text = String.valueOf(end.breaks.getFirst());
        assertTrue(text.contains("expected the first packet of the next message"), text);
        assertTrue(half.isExhausted());
        checkFails(half::throwIfExhausted);
    }

    // ---- messages in one step

    @Test
    void shouldTakeMessagesInOneStepAndLookForTheNextIfItIsAwaited() throws Exception {
        end.message(0, 1, 2);
        end.message(1, 3);
        MemorySegment received = block(3);
        assertEquals(ReceiveHalf.TAKEN, half.takeWhole(received, 1, 2));
        checkIs(received, 0, 1, 2);
        checkUnlocked();
        assertFalse(half.hasArrived(), "nobody waits");
        end.anyAwaited = true;
        assertEquals(1, half.takeShort(block(9)));
        checkUnlocked();
        assertFalse(half.hasArrived());
        end.message(2, 4);
        end.message(3, 5);
        end.message(4, 6);
        assertEquals(ReceiveHalf.TAKEN, half.takeWhole(block(1), 0, 1));
        assertTrue(half.hasArrived());
        assertEquals(1, half.takeShort(block(1)));
        assertTrue(half.hasArrived());
        assertEquals(ReceiveHalf.TO_BE_BEGUN, half.takeWhole(block(2), 0, 2));
        assertTrue(half.hasArrived());
        assertEquals(1, half.takeShort(block(1)));
        assertFalse(half.hasArrived());
        assertEquals(0, half.onReadable());
    }

    @Test
    void shouldWantEventsAgainWhenAFoundMessageWasTakenInOneStep() {
        end.message(0, 1);
        half.onReadable();
        half.onReadable();
        assertEquals(List.of(false), end.interest);
        assertEquals(ReceiveHalf.TAKEN, half.takeWhole(block(1), 0, 1));
        assertEquals(List.of(false, true), end.interest);
        assertFalse(half.hasArrived());
    }

    @Test
    void shouldLookAtOnceForTheNextMessageOfAStreamWhereArrivalsShow() {
        end.showsArrivals = true;
        half = end.receiving();
        assertTrue(half.isWorthLooking());
        end.anyAwaited = true;
        for (int number = 0; number < 4; number++) {
            end.message(number, number);
        }
        assertEquals(ReceiveHalf.TAKEN, half.takeWhole(block(1), 0, 1));
        assertFalse(half.hasArrived(), "who looks repeatedly finds it");
        end.hidesArrivals = true; // what the cheap check says is not asked in a stream
        assertEquals(ReceiveHalf.TAKEN, half.takeWhole(block(1), 0, 1));
        assertEquals(1, half.takeShort(block(1)));
        assertFalse(half.hasArrived());
        assertEquals(ReceiveHalf.TO_BE_BEGUN, half.takeWhole(block(2), 0, 2));
        assertEquals(ReceiveHalf.NOTHING_THERE, half.takeWhole(block(1), 0, 1), "the stream has ended");
        end.hidesArrivals = false;
        assertEquals(ReceiveHalf.TAKEN, half.takeWhole(block(1), 0, 1));
        assertEquals(ReceiveHalf.NOTHING_THERE, half.takeWhole(block(1), 0, 1), "nothing is in front");
        int looks = end.first.looks.get();
        assertEquals(ReceiveHalf.NOTHING_THERE, half.takeWhole(block(1), 0, 1));
        assertEquals(looks, end.first.looks.get());
    }

    @Test
    void shouldTakeNothingInOneStepThatHasDescriptorsOrUsesAnotherLink() {
        assertTrue(half.mayTakeWhole(LoneEnd.SHORT, SendMode.CHEAPER, ReceiveMode.EXPRESS));
        assertFalse(half.mayTakeWhole(LoneEnd.SHORT + 1, SendMode.CHEAPER, ReceiveMode.EXPRESS));
        end.selfDescribed = true;
        half = end.receiving();
        assertFalse(half.mayTakeWhole(1, SendMode.CHEAPER, ReceiveMode.EXPRESS));
        end.message(0, 1);
        assertEquals(ReceiveHalf.TO_BE_BEGUN, half.takeShort(block(1)));
    }

    @Test
    void shouldLeaveAMessageInItsPlaceIfTheBlockForItIsFreedMemory() throws Exception {
        end.message(0, 9);
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(1);
        arena.close();
        assertEquals(ReceiveHalf.TO_BE_BEGUN, half.takeWhole(freed, 0, 1));
        assertFalse(Thread.currentThread().isInterrupted());
        checkUnlocked();
        assertEquals(1, half.takeShort(block(1)));
        assertEquals(List.of(), end.breaks);
    }

    // ---- blocks

    @Test
    void shouldSayWhetherAPollHasMovedAnythingAndWantEventsWhileABlockIsAwaited() throws Exception {
        MemorySegment received = block(3);
        IncomingHandle in = open(received);
        assertEquals(0, half.onReadable());
        end.packet(0, 1, 0, 1, 2);
        assertEquals(1, half.onReadable());
        checkUnlocked();
        assertEquals(0, half.onReadable());
        checkIs(received, 1, 2, 0);
        end.packet(0, 2, 0, 3);
        assertEquals(1, half.onReadable());
        checkIs(received, 1, 2, 3);
        unpack(in, block(1));
        assertTrue(end.interest.isEmpty() || end.interest.getLast(), "a block is awaited");
        end.packet(0, 3, LAST, 4);
        end.message(1, 8);
        in.endUnpacking();
        in.close();
        assertEquals(1, half.onReadable());
        endAndClose(unpackedByte(begin(), 8));
    }

    @Test
    void shouldWantNoEventsWhileAMessageIsOpenAndAllItsBlocksAreFilled() throws Exception {
        IncomingHandle in = open(block(1));
        end.packet(0, 1, 0, 1, 2);
        in.unpack(block(1), SendMode.CHEAPER, ReceiveMode.EXPRESS);
        assertEquals(List.of(false), end.interest);
        checkUnlocked();
        unpack(in, block(1));
        assertEquals(List.of(false, true), end.interest);
        end.packet(0, 2, LAST, 3);
        endAndClose(in);
        assertEquals(List.of(false, true), end.interest);
    }

    @Test
    void shouldWakeWhoWaitsForABlock() throws Exception {
        end.packet(0, 0, FIRST);
        IncomingHandle in = begin();
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> unpackedByte(in, 5));
        end.packet(0, 1, 0, 5);
        assertEquals(1, half.onReadable());
        LoneEnd.join(waiting);
        CompletableFuture<Void> ending = LoneEnd.startToWait(in::endUnpacking);
        end.packet(0, 2, LAST);
        assertTrue(half.onReadable() > 0);
        LoneEnd.join(ending);
        in.close();
        assertFalse(half.isUnderWay());
        assertNull(half.tryBegin());
    }

    @Test
    void shouldWakeWhoWaitsForAMessageThatIsAborted() throws Exception {
        end.packet(0, 0, FIRST);
        IncomingHandle in = begin();
        CompletableFuture<Void> waiting =
                LoneEnd.startToWait(() -> assertThrows(MessageAbortedException.class, in::unpackByte));
        end.packet(0, 1, ABORT);
        assertTrue(half.onReadable() > 0);
        LoneEnd.join(waiting);
        in.close();
        assertEquals(1, half.onReadable());
        assertEquals(0, end.engine.demand());
        endAndClose(unpackedByte(beginSent(1), 1));
    }

    @Test
    void shouldWakeWhoWaitsInVainSinceTheRestWasPackedForAnotherBlock() throws Exception {
        end.packet(0, 0, FIRST);
        IncomingHandle in = begin();
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> assertThrows(
                AsymmetricMessageException.class,
                () -> in.unpack(block(LoneEnd.SHORT + 1), SendMode.CHEAPER, ReceiveMode.EXPRESS)));
        end.packet(0, 1, LAST, 7); // on the other link
        assertEquals(0, half.onReadable());
        LoneEnd.join(waiting);
        in.close();
        end.message(1, 1);
        half.onReadable();
        endAndClose(unpackedByte(begin(), 1));
    }

    @Test
    void shouldEndAMessageOnlyWhenItsLastPacketHasCome() throws Exception {
        MemorySegment received = block(2);
        IncomingHandle in = open(received);
        Completion completion = in.endUnpackingAsync();
        assertEquals(1, end.engine.demand());
        end.packet(0, 1, 0, 1, 2);
        LoneEnd.awaitThat(() -> half.onReadable() == 0);
        assertFalse(completion.isDone());
        assertTrue(end.interest.isEmpty() || end.interest.getLast());
        end.packet(0, 2, LAST);
        assertEquals(1, half.onReadable());
        assertTrue(completion.isDone());
        checkIs(received, 1, 2);
        assertEquals(0, end.engine.demand());
        assertFalse(half.isUnderWay());
        in.close();
        assertEquals(0, half.onReadable());
        endAndClose(unpackedByte(beginSent(1), 1));
    }

    @Test
    void shouldRunTheActionOfACompletionOutsideTheLockWhenTheMessageEnds() {
        IncomingHandle in = open(block(1));
        List<String> done = new ArrayList<>();
        in.endUnpackingAsync().onDone(() -> {
            try {
                checkUnlocked();
                done.add("done");
            } catch (Exception e) {
                done.add(e.toString());
            }
        });
        assertEquals(List.of(), done);
        end.packet(0, 1, LAST, 1);
        half.onReadable();
        assertEquals(List.of("done"), done);
        in.close();
    }

    @Test
    void shouldDemandNoProgressForAnEndThatItsUserWaitsFor() {
        IncomingHandle in = open(block(1));
        in.within(0, TimeUnit.MILLISECONDS);
        assertThrows(DeadlineExceededException.class, in::endUnpacking);
        assertEquals(0, end.engine.demand());
        assertTrue(half.isUnderWay());
        end.packet(0, 1, LAST, 1);
        in.within(10, TimeUnit.SECONDS);
        half.onReadable();
        endAndClose(in);
        assertFalse(half.isUnderWay());
    }

    @Test
    void shouldFailAMessageOfWhichMoreWasPackedThanUnpacked() {
        end.message(0, 1, 2);
        IncomingHandle in = unpackedByte(begin(), 1);
        assertThrows(AsymmetricMessageException.class, in::endUnpacking);
        in.close();
        endAndClose(unpackedByte(beginSent(1), 1));
        assertEquals(0, end.engine.demand());
    }

    @Test
    void shouldFailAMessageWhoseBlockIsFreedWhileItIsAwaited() throws Exception {
        Arena arena = Arena.ofShared();
        IncomingHandle in = open(arena.allocate(1));
        arena.close();
        end.packet(0, 1, LAST, 1);
        assertEquals(1, half.onReadable(), "it fails");
        assertEquals(2, half.onReadable(), "its rest is dropped, and another may begin");
        assertThrows(MessageAbortedException.class, in::endUnpacking);
        in.close();
        endAndClose(unpackedByte(beginSent(1), 1));
    }

    @Test
    void shouldFillTheRangesOfALayoutBeforeAndAfterTheyArrive() throws Exception {
        for (int number = 0; number < 2; number++) {
            boolean early = number == 0;
            MemorySegment ranges = block(4);
            BlockLayout layout = BlockLayout.strided(ranges, 0, 1, 2, 2);
            end.packet(number, 0, FIRST);
            if (!early) {
                end.packet(number, 1, 0, 1, 2);
            }
            IncomingHandle in = begin();
            in.unpack(layout, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            assertEquals(early, half.isUnderWay());
            checkUnlocked();
            if (early) {
                end.packet(number, 1, 0, 1, 2);
                end.apart(() -> assertEquals(1, half.onReadable()));
            }
            checkIs(ranges, 1, 0, 2, 0);
            in.within(0, TimeUnit.MILLISECONDS);
            BlockLayout more = BlockLayout.strided(ranges, 1, 1, 2, 2);
            assertThrows(DeadlineExceededException.class, () -> in.unpack(more, SendMode.CHEAPER, ReceiveMode.EXPRESS));
            checkUnlocked();
            end.packet(number, 2, LAST, 3, 4);
            assertEquals(1, half.onReadable());
            in.within(10, TimeUnit.SECONDS);
            in.unpack(more, SendMode.CHEAPER, ReceiveMode.EXPRESS);
            checkIs(ranges, 1, 3, 2, 4);
            endAndClose(in);
        }
    }

    // ---- confined memory

    @Test
    void shouldLeaveConfinedMemoryToItsThreadAndWakeIt() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(2);
            IncomingHandle in = open(own);
            end.packet(0, 1, 0, 1);
            end.apart(() -> assertEquals(0, half.onReadable()));
            assertFalse(end.interest.getLast(), "until its thread has looked");
            checkIs(own, 0, 0);
            assertEquals(1, half.onReadable());
            checkIs(own, 1, 0);
            end.packet(0, 2, LAST, 2);
            endAndClose(in);
            checkIs(own, 1, 2);
            assertTrue(end.interest.getLast());
            end.apart(() -> endAndClose(unpackedByte(beginSent(1), 1)));
        }
    }

    @Test
    void shouldFillConfinedMemoryInAWaitForALaterBlock() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(1);
            IncomingHandle in = open(own);
            in.within(0, TimeUnit.MILLISECONDS);
            assertThrows(DeadlineExceededException.class, in::unpackByte);
            assertTrue(end.interest.isEmpty() || end.interest.getLast(), "its thread waits for it");
            end.packet(0, 1, LAST, 1, 2);
            in.within(10, TimeUnit.SECONDS);
            unpackedByte(in, 2);
            checkIs(own, 1);
            endAndClose(in);
        }
    }

    @Test
    void shouldLeaveSharedBlocksToAnyThreadOnceTheConfinedOnesAreFilled() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(1);
            IncomingHandle in = open(own);
            end.packet(0, 1, 0, 1);
            half.onReadable();
            checkIs(own, 1);
            MemorySegment shared = block(1);
            unpack(in, shared);
            end.packet(0, 2, LAST, 2);
            end.apart(() -> assertEquals(1, half.onReadable()));
            checkIs(shared, 2);
            endAndClose(in);
        }
    }

    @Test
    void shouldKeepAConfinedBlockBehindASharedOneFromOtherThreads() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(1);
            IncomingHandle in = open(block(1));
            unpack(in, own);
            end.packet(0, 1, LAST, 1, 2);
            end.apart(() -> assertEquals(0, half.onReadable()));
            checkIs(own, 0);
            endAndClose(in);
            checkIs(own, 2);
        }
    }

    @Test
    void shouldKeepRangesInConfinedMemoryFromOtherThreads() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(4);
            IncomingHandle in = open(block(1));
            in.unpack(BlockLayout.strided(own, 0, 1, 2, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            unpack(in, block(1));
            end.packet(0, 1, LAST, 9, 1, 2, 9);
            end.apart(() -> assertEquals(0, half.onReadable()));
            checkIs(own, 0, 0, 0, 0);
            assertThrows(IllegalStateException.class, () -> {
                end.first.packets.clear();
                in.endUnpackingAsync();
            });
            end.packet(0, 1, LAST, 9, 1, 2, 9);
            endAndClose(in);
            checkIs(own, 1, 0, 2, 0);
        }
    }

    // ---- one thread at a time

    /** Each call waits for the thread that is inside, and does not enter a link beside it. */
    private void checkWaitsForItsTurn(Consumer<IncomingHandle> call) throws Exception {
        IncomingHandle in = open(block(2));
        LoneEnd.Barrier within = new LoneEnd.Barrier();
        end.first.onFront = within;
        CompletableFuture<Void> polling = end.startApart(half::onReadable);
        within.awaitReached();
        AtomicReference<Throwable> seen = new AtomicReference<>();
        Thread calling = Thread.ofPlatform().daemon().start(() -> {
            try {
                call.accept(in);
            } catch (DeadlineExceededException | PeerFailedException | AsymmetricMessageException e) {
                // its call has an end
            } catch (Throwable e) {
                seen.set(e);
            }
        });
        calling.join(30);
        assertTrue(calling.isAlive(), "it did not wait");
        within.letGoOn();
        LoneEnd.join(polling);
        calling.join(10_000);
        assertFalse(calling.isAlive());
        assertNull(seen.get());
        checkUnlocked();
    }

    @Test
    void shouldAskForABlockInTurn() throws Exception {
        checkWaitsForItsTurn(in -> unpack(in, block(1)));
    }

    @Test
    void shouldAskForRangesInTurn() throws Exception {
        checkWaitsForItsTurn(
                in -> in.unpack(BlockLayout.strided(block(4), 0, 1, 2, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER));
    }

    @Test
    void shouldAskForTheEndInTurn() throws Exception {
        checkWaitsForItsTurn(IncomingHandle::endUnpackingAsync);
    }

    @Test
    void shouldDiscardInTurn() throws Exception {
        checkWaitsForItsTurn(IncomingHandle::discard);
    }

    @Test
    void shouldFailInTurn() throws Exception {
        checkWaitsForItsTurn(in -> half.failNow(in, new AsymmetricMessageException("as a test")));
    }

    @Test
    void shouldDropInTurn() throws Exception {
        checkWaitsForItsTurn(_ -> half.dropUnbegun());
    }

    @Test
    void shouldTellOfALossInTurn() throws Exception {
        checkWaitsForItsTurn(_ -> {
            end.lost = true;
            half.connectionLost();
        });
    }

    @Test
    void shouldJudgeAWaitInTurn() throws Exception {
        checkWaitsForItsTurn(in -> half.isCheckedOut(in));
    }

    @Test
    void shouldJudgeAnEndInTurn() throws Exception {
        checkWaitsForItsTurn(in -> {
            end.lost = true;
            assertFalse(half.hasEnded(in), "its end was not asked for");
        });
    }

    @Test
    void shouldSayWhichMemoryIsInUseInTurn() throws Exception {
        checkWaitsForItsTurn(_ -> half.uses(region(block(8))));
    }

    @Test
    void shouldCloseInTurn() throws Exception {
        checkWaitsForItsTurn(_ -> half.close());
    }

    // ---- whether to wait

    @Test
    void shouldSayWhetherThereIsAnyNeedToWaitForABlock() {
        end.packet(0, 0, FIRST, 1);
        IncomingHandle in = begin();
        MemorySegment block = block(1);
        MemorySegment ranges = block(4);
        BlockLayout layout = BlockLayout.strided(ranges, 0, 1, 2, 2);
        assertTrue(half.append(in, 0, block, 0, 1, true));
        assertFalse(half.append(in, 0, block, 0, 1, true));
        assertFalse(half.isCheckedOut(in));
        end.packet(0, 1, 0, 2);
        assertEquals(1, half.onReadable());
        assertTrue(half.isCheckedOut(in));
        end.packet(0, 2, 0, 3, 4, 5);
        assertTrue(half.append(in, 0, block, 0, 1, true), "it is in front");
        assertTrue(half.append(in, 0, layout, true), "it is in front");
        checkIs(ranges, 4, 0, 5, 0);
        assertFalse(half.append(in, 0, layout, true));
        end.packet(0, 3, 0, 6, 7);
        assertEquals(1, half.onReadable());
        assertFalse(half.startEnd(in, true));
        assertFalse(half.startEnd(in, true));
        end.packet(0, 4, LAST);
        assertFalse(half.hasEnded(in), "the threads that poll complete it");
        assertEquals(1, half.onReadable());
        assertTrue(half.hasEnded(in) && half.isCheckedOut(in) && half.startEnd(in, true));
        assertTrue(half.append(in, 0, block, 0, 1, true));
        assertTrue(half.append(in, 0, layout, true));
        in.close();
        IncomingHandle next = beginSent(1);
        assertTrue(half.append(next, 0, block, 0, 1, true));
        assertTrue(half.startEnd(next, false));
        next.close();
    }

    @Test
    void shouldSeeAnEndThatHasComeBeforeItWasAskedFor() throws Exception {
        IncomingHandle in = open(block(1));
        end.packet(0, 1, LAST, 1);
        assertTrue(half.startEnd(in, false));
        in.close();
        try (Arena arena = Arena.ofConfined()) {
            end.packet(1, 0, FIRST);
            IncomingHandle confined = begin();
            unpack(confined, arena.allocate(1));
            assertFalse(half.startEnd(confined, false));
            end.apart(() -> assertEquals(0, half.onReadable()));
            assertFalse(end.interest.getLast());
            assertFalse(half.hasEnded(confined));
            end.packet(1, 1, LAST, 1);
            end.apart(() -> assertEquals(0, half.onReadable()));
            assertTrue(half.hasEnded(confined), "its thread completes it");
            confined.close();
        }
        assertTrue(end.interest.getLast());
    }

    @Test
    void shouldWantEventsAgainWhenTheOwnerOfConfinedMemoryWaits() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(2);
            end.packet(0, 0, FIRST);
            IncomingHandle in = begin();
            assertFalse(half.append(in, 0, own, 0, 2, true));
            end.packet(0, 1, 0, 1);
            end.apart(() -> assertEquals(0, half.onReadable()));
            assertFalse(end.interest.getLast());
            assertFalse(half.isCheckedOut(in));
            assertTrue(end.interest.getLast());
            checkIs(own, 1, 0);
            end.packet(0, 2, 0, 2);
            assertTrue(half.isCheckedOut(in));
            checkIs(own, 1, 2);
            end.packet(0, 3, LAST);
            endAndClose(in);
        }
    }

    @Test
    void shouldNotWaitForWhatWillNeverArrive() {
        IncomingHandle in = open(block(LoneEnd.SHORT + 1));
        assertFalse(half.isCheckedOut(in));
        end.packet(0, 1, LAST, 1); // on the other link
        half.onReadable();
        assertTrue(half.isCheckedOut(in));
        assertFalse(in.isOpen());
        in.close();
        half.onReadable();
        end.packet(1, 0, FIRST);
        IncomingHandle lost = begin();
        assertFalse(half.append(lost, 0, block(1), 0, 1, true));
        end.lost = true;
        assertTrue(half.isCheckedOut(lost));
        assertFalse(lost.isOpen());
        lost.close();
    }

    @Test
    void shouldTakeEmptyMessagesInOneStepLikeOthers() {
        end.anyAwaited = true;
        end.message(0);
        end.message(1, 1);
        assertEquals(0, half.takeShort(block(1)));
        assertTrue(half.hasArrived());
        end.showsArrivals = true;
        half = end.receiving();
        end.first.packets.clear();
        end.message(0);
        end.message(1, 1);
        assertEquals(0, half.takeShort(block(1)));
        end.hidesArrivals = true;
        assertEquals(1, half.takeShort(block(1)));
    }

    @Test
    void shouldTellOfALossWhenTheOpenMessageHasEnded() {
        assertFalse(half.isWorthLooking());
        end.message(0, 5);
        IncomingHandle in = begin();
        end.lost = true;
        endAndClose(unpackedByte(in, 5));
        assertTrue(half.isExhausted());
        assertEquals(1, end.losses.get());
    }

    @Test
    void shouldFailAMessageOnlyWhenTheNetworkHasGivenItsBlocksBack() throws Exception {
        IncomingHandle in = open(block(LoneEnd.SHORT + 1));
        end.posting().retraction = LinkStatus.PENDING;
        AsymmetricMessageException failure = new AsymmetricMessageException("as a test");
        CompletableFuture<Void> failing = LoneEnd.startToWait(
                () -> assertThrows(AsymmetricMessageException.class, () -> half.failNow(in, failure)));
        assertTrue(in.isOpen());
        assertFalse(failing.isDone());
        end.posting().retraction = LinkStatus.COMPLETE;
        end.engine.requestRound();
        LoneEnd.join(failing);
        in.close();
    }

    @Test
    void shouldFreeAConnectionAtOnceIfNoCallIsInside() throws Exception {
        for (int way = 0; way < 3; way++) {
            try (LoneEnd own = new LoneEnd(false)) {
                ReceiveHalf freed = own.receiving();
                own.message(0, 1, 2);
                IncomingHandle in = Objects.requireNonNull(freed.tryBegin());
                switch (way) {
                    case 0 -> unpackedByte(in, 1);
                    case 1 ->
                        in.unpack(BlockLayout.strided(block(4), 0, 1, 2, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                    default -> {
                        unpack(in, block(2));
                        endAndClose(in);
                        own.message(1, 1);
                        assertNotNull(freed.tryBegin());
                    }
                }
                long startNs = System.nanoTime();
                freed.close();
                assertTrue(System.nanoTime() - startNs < 4_000_000_000L, "it waited for a call");
            }
        }
    }

    /** As {@link #checkWaitsForItsTurn}, for a message that has been its user's alone so far. */
    private void checkWaitsToShare(Consumer<IncomingHandle> call) throws Exception {
        end.packet(0, 0, FIRST, 1);
        IncomingHandle in = begin();
        LoneEnd.Barrier within = new LoneEnd.Barrier();
        end.onInterest = within;
        CompletableFuture<Void> polling = end.startApart(half::onReadable);
        within.awaitReached();
        Thread calling = Thread.ofPlatform().daemon().start(() -> call.accept(in));
        calling.join(30);
        assertTrue(calling.isAlive(), "it did not wait");
        within.letGoOn();
        LoneEnd.join(polling);
        calling.join(5_000);
        assertFalse(calling.isAlive());
    }

    @Test
    void shouldShareAMessageInTurn() throws Exception {
        checkWaitsToShare(in -> unpack(in, block(2)));
        assertTrue(half.isUnderWay());
    }

    @Test
    void shouldFailAMessageOfItsUserInTurn() throws Exception {
        checkWaitsToShare(in -> {
            end.first.thrownByReceiver = new AssertionError("of the link");
            assertThrows(AssertionError.class, in::unpackByte);
        });
        assertEquals(1, end.breaks.size());
    }

    // ---- memory in use

    private static Region region(MemorySegment memory) {
        return new Region(1, memory, Region.Kind.values()[0], "");
    }

    @Test
    void shouldSayWhichMemoryIsInUse() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment mine = arena.allocate(8, 8);
            Region used = region(mine);
            Region other = region(arena.allocate(8, 8));
            assertFalse(half.uses(used));
            IncomingHandle in = open(mine);
            assertTrue(half.uses(used));
            assertFalse(half.uses(other));
            checkUnlocked();
            in.endUnpackingAsync();
            assertTrue(half.uses(used));
            end.packet(0, 1, LAST, 1, 2, 3, 4, 5, 6, 7, 8);
            assertTrue(half.onReadable() > 0);
            assertFalse(half.uses(used));
            in.close();
        }
    }

    // ---- discarding

    @Test
    void shouldDropTheRestOfADiscardedMessageThoughNobodyWaits() throws Exception {
        IncomingHandle in = open(block(1));
        long number = in.number();
        half.discard(number + 1);
        assertTrue(in.isOpen(), "not this message");
        half.discard(number);
        assertFalse(in.isOpen());
        assertTrue(half.isDropping());
        assertEquals(1, end.engine.demand());
        checkUnlocked();
        half.discard(number);
        in.close();
        assertEquals(0, half.onReadable());
        assertTrue(end.interest.isEmpty() || end.interest.getLast());
        end.packet(0, 1, 0, 1);
        assertEquals(1, half.onReadable());
        assertTrue(half.isDropping() && half.isUnderWay());
        end.packet(0, 2, LAST, 1);
        assertEquals(2, half.onReadable());
        assertFalse(half.isDropping() || half.isUnderWay());
        assertEquals(0, end.engine.demand());
        endAndClose(unpackedByte(beginSent(1), 1));
    }

    @Test
    void shouldDropAMessageWhoseUserCouldNotCloseItWhenAnotherIsWanted() throws Exception {
        IncomingHandle in = open(block(1));
        assertFalse(half.mayBegin());
        assertNull(half.tryBegin());
        assertTrue(in.isOpen());
        half.abandoned = in.number();
        assertTrue(half.mayBegin());
        assertNull(half.tryBegin());
        assertTrue(half.isDropping());
        assertFalse(half.mayBegin());
        checkUnlocked();
        end.packet(0, 1, LAST, 1);
        half.onReadable();
        endAndClose(unpackedByte(beginSent(1), 1));
    }

    @Test
    void shouldWaitUntilTheNetworkHasGivenPostedBlocksBack() throws Exception {
        MemorySegment block = block(LoneEnd.SHORT + 1);
        IncomingHandle in = open(block);
        assertEquals(1, end.posting().expected.get());
        end.posting().retraction = LinkStatus.PENDING;
        CompletableFuture<Void> discarding = LoneEnd.startToWait(in::discard);
        assertTrue(in.isOpen() && half.isDropping() && !half.isUnderWay());
        assertTrue(half.uses(region(block(1))), "a network may still write into any block");
        assertEquals(0, half.onReadable());
        checkUnlocked();
        assertFalse(discarding.isDone());
        assertFalse(half.isCheckedOut(in));
        assertFalse(half.append(in, 0, block(1), 0, 1, false));
        assertFalse(half.append(in, 0, BlockLayout.strided(block(4), 0, 1, 2, 2), false));
        assertFalse(half.startEnd(in, true));
        half.discard(in.number());
        assertTrue(end.engine.demand() > 0);
        end.posting().retraction = LinkStatus.COMPLETE;
        end.engine.requestRound();
        LoneEnd.join(discarding);
        in.close();
        assertTrue(half.isUnderWay(), "its rest is dropped");
        end.packet(0, 1, LAST);
        half.onReadable();
        LoneEnd.awaitThat(() -> end.engine.demand() == 0);
        assertEquals(0, end.takenBack.get());
        endAndClose(unpackedByte(beginSent(1), 1));
    }

    @Test
    void shouldTakeBlocksBackByForceFromANetworkThatKeepsThem() throws Exception {
        end.peerTimeoutNs = 0;
        IncomingHandle in = open(block(LoneEnd.SHORT + 1));
        end.posting().retraction = LinkStatus.PENDING;
        CompletableFuture<Void> discarding = LoneEnd.startToWait(in::discard);
        LoneEnd.join(discarding);
        assertEquals(1, end.takenBack.get());
        in.close();
        LoneEnd.awaitThat(() -> end.engine.demand() == 0);
    }

    // ---- the loss of the peer

    @Test
    void shouldReceiveWhatHadArrivedBeforeTheLossAndWakeTheOthers() throws Exception {
        end.message(0, 5);
        IncomingHandle in = begin();
        List<CompletableFuture<Void>> waits = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waits.add(LoneEnd.startToWait(() -> half.awaitArrival(NEVER)));
        }
        end.message(1, 6);
        end.lost = true;
        half.connectionLost();
        checkUnlocked();
        assertFalse(half.isExhausted(), "a message is open, and another behind it");
        assertEquals(0, end.losses.get());
        endAndClose(unpackedByte(in, 5));
        assertFalse(half.isExhausted());
        endAndClose(unpackedByte(begin(), 6));
        half.connectionLost();
        assertTrue(half.isExhausted());
        assertTrue(end.losses.get() == 1, "once");
        for (CompletableFuture<Void> wait : waits) {
            LoneEnd.join(wait);
        }
        checkFails(half::throwIfExhausted);
        end.message(2, 7);
        half.onReadable();
        assertNull(half.tryBegin());
        assertEquals(ReceiveHalf.TO_BE_BEGUN, half.takeWhole(block(1), 0, 1));
        assertEquals(ReceiveHalf.TO_BE_BEGUN, half.takeShort(block(1)));
        assertEquals(1, end.losses.get());
    }

    @Test
    void shouldTellAllWhoWaitIfAPollFindsThatNothingMoreWillCome() throws Exception {
        List<CompletableFuture<Void>> waits = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waits.add(LoneEnd.startToWait(() -> half.awaitArrival(NEVER)));
        }
        end.lost = true;
        assertEquals(0, half.onReadable());
        assertEquals(1, end.losses.get());
        for (CompletableFuture<Void> wait : waits) {
            LoneEnd.join(wait);
        }
        assertTrue(half.isExhausted());
    }

    @Test
    void shouldEndTheWaitForAFurtherMessageThoughOneIsOpenIfWhatHadArrivedIsLostToo() throws Exception {
        end.packet(0, 0, FIRST);
        IncomingHandle in = begin();
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> half.awaitArrival(NEVER));
        CompletableFuture<Void> second = LoneEnd.startToWait(() -> half.awaitArrival(NEVER));
        end.lost = true;
        end.nothingMore = true;
        half.connectionLost();
        LoneEnd.join(waiting);
        LoneEnd.join(second);
        assertTrue(in.isOpen());
        assertEquals(0, end.losses.get());
    }

    @Test
    void shouldDemandNothingAnyMoreForTheRestOfADiscardedMessageWhosePeerIsLost() {
        IncomingHandle in = open(block(1));
        in.discard();
        in.close();
        assertEquals(1, end.engine.demand());
        end.packet(0, 1, 0, 1);
        end.lost = true;
        half.connectionLost();
        assertEquals(0, end.engine.demand());
        assertTrue(half.isExhausted());
        assertEquals(List.of(), List.copyOf(end.first.packets), "it has been dropped");
    }

    @Test
    void shouldWakeTheOwnerOfConfinedMemoryForWhichDataHasCome() throws Exception {
        end.packet(0, 0, FIRST);
        IncomingHandle in = begin();
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment own = arena.allocate(1);
                in.unpack(own, SendMode.CHEAPER, ReceiveMode.EXPRESS);
                checkIs(own, 5);
                unpack(in, own);
                in.endUnpacking();
                checkIs(own, 6);
            }
        });
        end.packet(0, 1, 0, 5);
        assertEquals(0, half.onReadable());
        LoneEnd.awaitThat(() -> end.first.packets.isEmpty());
        end.packet(0, 2, LAST, 6);
        while (!waiting.isDone()) { // its thread may be on the way to its next wait
            half.onReadable();
            Thread.sleep(1);
        }
        LoneEnd.join(waiting);
        in.close();
        assertFalse(half.isUnderWay());
    }

    @Test
    void shouldEndAllWaitsForMessagesThatWereLostWithTheConnection() throws Exception {
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> half.awaitArrival(NEVER));
        CompletableFuture<Void> second = LoneEnd.startToWait(() -> half.awaitArrival(NEVER));
        half.throwIfExhausted();
        end.lost = true;
        half.connectionLost();
        LoneEnd.join(waiting);
        LoneEnd.join(second);
        assertEquals(1, end.losses.get());
        assertTrue(half.isExhausted());
    }

    @Test
    void shouldFailTheWaitForABlockOfAPeerThatIsLostAfterWhatHadArrived() throws Exception {
        end.packet(0, 0, FIRST);
        IncomingHandle in = begin();
        MemorySegment received = block(2);
        CompletableFuture<Void> waiting = LoneEnd.startToWait(() -> {
            in.unpack(received, SendMode.CHEAPER, ReceiveMode.EXPRESS);
            checkFails(in::unpackByte);
        });
        end.packet(0, 1, 0, 1, 2);
        end.lost = true;
        half.connectionLost();
        LoneEnd.join(waiting);
        checkIs(received, 1, 2);
        checkFails(in::endUnpacking);
        in.close();
        assertEquals(0, end.engine.demand());
        assertTrue(half.isExhausted());
        assertEquals(1, end.losses.get());
    }

    @Test
    void shouldEndWhoseLastPacketHadComeAndFailTheOther() throws Exception {
        IncomingHandle whole = open(block(1));
        Completion ended = whole.endUnpackingAsync();
        end.packet(0, 1, LAST, 1);
        end.packet(1, 0, FIRST);
        end.lost = true;
        half.connectionLost();
        assertTrue(ended.isDone());
        ended.await();
        whole.close();
        IncomingHandle in = begin();
        unpack(in, block(1));
        checkFails(() -> in.endUnpackingAsync().await());
        in.close();
        assertEquals(0, end.engine.demand());
        checkUnlocked();
        assertTrue(half.isExhausted());
    }

    @Test
    void shouldEndAMessageInConfinedMemoryThoughThePeerIsLost() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(1);
            IncomingHandle in = open(own);
            in.within(0, TimeUnit.MILLISECONDS);
            assertThrows(DeadlineExceededException.class, in::endUnpacking);
            end.packet(0, 1, LAST, 1);
            end.lost = true;
            end.apart(half::connectionLost);
            assertTrue(in.isOpen(), "another thread must not fill it, nor fail it");
            assertFalse(half.isExhausted());
            in.within(10, TimeUnit.SECONDS);
            endAndClose(in);
            checkIs(own, 1);
            assertTrue(half.isExhausted());
        }
    }

    @Test
    void shouldBeginNoMessageOfAPeerThatHasBeenGivenUp() throws Exception {
        end.message(0, 5);
        half.onReadable();
        assertTrue(half.hasArrived());
        half.dropUnbegun();
        checkUnlocked();
        assertFalse(half.hasArrived());
        assertNull(half.tryBegin());
        half.onReadable();
        end.message(1, 6);
        assertEquals(0, half.onReadable());
        assertNull(half.tryBegin());
        assertEquals(0, end.engine.demand());
        assertFalse(end.interest.getLast(), "nothing of it is wanted");
    }

    @Test
    void shouldDropAFoundMessageOfAPeerThatIsBeingGivenUp() {
        end.message(0, 5);
        half.onReadable();
        end.givenUp = true;
        assertNull(half.tryBegin());
        assertFalse(half.hasArrived());
        assertEquals(1, end.engine.demand(), "its rest is dropped though nobody waits");
        half.onReadable();
        assertEquals(0, end.engine.demand());
        end.message(1, 6);
        assertNull(half.tryBegin());
        assertEquals(ReceiveHalf.TO_BE_BEGUN, half.takeWhole(block(1), 0, 1));
    }

    @Test
    void shouldExpectNothingMoreIfWhatHadArrivedIsLostToo() {
        IncomingHandle in = open(block(1));
        end.lost = true;
        assertFalse(half.isExhausted());
        end.nothingMore = true;
        assertTrue(half.isExhausted());
        checkFails(half::throwIfExhausted);
        assertTrue(in.isOpen());
    }

    @Test
    void shouldDemandNothingForTheRestOfAMessageWhosePeerIsLost() {
        IncomingHandle in = open(block(1));
        end.lost = true;
        in.discard();
        in.close();
        assertEquals(0, end.engine.demand());
    }

    // ---- links that fail

    @Test
    void shouldGiveTheConnectionUpIfALinkFailsAndLookAtItNoMore() throws Exception {
        AssertionError thrown = new AssertionError("of the link");
        end.first.thrownByReceiver = thrown;
        assertEquals(0, half.onReadable());
        assertSame(thrown, end.breaks.getFirst());
        checkUnlocked();
        int looks = end.first.looks.get();
        end.message(0, 5);
        half.onReadable();
        assertNull(half.tryBegin());
        assertEquals(looks, end.first.looks.get());
        assertTrue(half.isExhausted());
    }

    @Test
    void shouldGoOnWithOtherConnectionsIfALinkFailsUnderAThreadThatPolls() throws Exception {
        IncomingHandle in = open(block(1));
        end.packet(0, 1, 0, 5);
        end.first.thrownByReceiver = new AssertionError("of the link");
        assertEquals(1, half.onReadable());
        checkUnlocked();
        checkFails(in::endUnpacking);
        in.close();
        assertEquals(1, end.breaks.size());
        half.onReadable();
        assertEquals(0, end.engine.demand());
    }

    @Test
    void shouldTellThePollOfAnErrorThatBreaksNothing() throws Exception {
        IncomingHandle in = open(block(1));
        for (Error thrown : List.of(new OutOfMemoryError("as a test"), new InternalError("as a test"))) {
            end.first.thrownByReceiver = thrown;
            assertSame(thrown, assertThrows(Error.class, half::onReadable));
            checkUnlocked();
        }
        end.first.thrownByReceiver = null;
        end.packet(0, 1, LAST, 5);
        endAndClose(in);
        end.first.thrownByReceiver = new OutOfMemoryError("as a test");
        assertThrows(OutOfMemoryError.class, half::onReadable);
        end.first.thrownByReceiver = null;
        endAndClose(unpackedByte(beginSent(1), 1));
        assertEquals(List.of(), end.breaks);
    }

    @Test
    void shouldFailAMessageOfWhichALinkFailsInACallOfItsUser() throws Exception {
        for (int way = 0; way < 3; way++) {
            LoneEnd own = new LoneEnd(false);
            ReceiveHalf failing = own.receiving();
            own.packet(0, 0, FIRST, 1, 2, 3);
            IncomingHandle in = Objects.requireNonNull(failing.tryBegin());
            AssertionError thrown = new AssertionError("of the link");
            own.first.thrownByReceiver = thrown;
            Runnable call = switch (way) {
                case 0 -> in::unpackByte;
                case 1 ->
                    () -> in.unpack(BlockLayout.strided(block(4), 0, 1, 2, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                default -> in::endUnpacking;
            };
            assertSame(thrown, assertThrows(AssertionError.class, call::run));
            own.apart(() -> failing.discard(-7));
            checkFails(in::unpackByte);
            assertEquals(List.of(thrown), own.breaks);
            in.close();
            own.close();
        }
    }

    @Test
    void shouldLeaveAMessageThatIsDroppedIfItsLinkFails() throws Exception {
        end.message(0, 5);
        IncomingHandle in = begin();
        end.first.thrownByReceiver = new AssertionError("of the link");
        in.discard();
        in.close();
        assertEquals(1, end.breaks.size());
        assertEquals(0, half.onReadable());
        checkUnlocked();
        assertEquals(0, end.engine.demand());
    }

    @Test
    void shouldThrowWhatALinkThrowsWhenAMessageIsTakenInOneStep() throws Exception {
        end.message(0, 5);
        AssertionError thrown = new AssertionError("of the link");
        end.first.thrownByReceiver = thrown;
        assertSame(thrown, assertThrows(AssertionError.class, () -> half.takeWhole(block(1), 0, 1)));
        assertSame(thrown, end.breaks.getFirst());
        checkUnlocked();
        end.first.thrownByReceiver = null;
        assertEquals(ReceiveHalf.TO_BE_BEGUN, half.takeShort(block(1)));
        assertNull(half.tryBegin());
    }

    // ---- the end of the connection

    @Test
    void shouldTellAFreedConnectionNothingMore() throws Exception {
        IncomingHandle in = open(block(1));
        half.close();
        checkUnlocked();
        assertEquals(1, end.closes.get());
        int told = end.interest.size();
        end.packet(0, 1, LAST, 5);
        half.onReadable();
        in.endUnpacking();
        assertEquals(told, end.interest.size());
        in.close();
    }

    @Test
    void shouldTakeAnOpenMessageFromItsUserWhenTheConnectionIsFreed() {
        end.message(0, 5);
        IncomingHandle in = begin();
        half.close();
        assertEquals(1, end.closes.get());
        assertTrue(half.isUnderWay(), "its user needs the lock from now on");
        endAndClose(unpackedByte(in, 5));
        assertEquals(List.of(), end.interest);
    }

    @Test
    void shouldFailAMessageAtOnce() {
        end.message(0, 5);
        IncomingHandle in = begin();
        AsymmetricMessageException failure = new AsymmetricMessageException("as a test");
        assertThrows(AsymmetricMessageException.class, () -> half.failNow(in, failure));
        assertFalse(in.isOpen() || half.isDropping(), "its rest had arrived");
        assertThrows(AsymmetricMessageException.class, in::unpackByte);
        in.close();
        endAndClose(unpackedByte(beginSent(1), 1));
        assertEquals(0, end.engine.demand());
    }
}
