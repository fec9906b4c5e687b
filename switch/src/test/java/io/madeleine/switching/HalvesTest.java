package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.Pattern;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The two halves of a connection in each state that a message can be in, over two small buffers: a large message stays
 * on its way until its receiver takes it. No demand for progress is left when a test is over.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HalvesTest {
    private static final int BUFFER_BYTES = 1024;
    private static final int LARGE = 20_000;

    private final LocalSessions sessions = open();
    private final SendHalf sending = connection(sessions, 0, 1).sending();
    private final ReceiveHalf receiving = connection(sessions, 1, 0).receiving();
    private boolean lost;

    private static LocalSessions open() {
        return LocalSessions.of(2)
                .loop(
                        "loop",
                        List.of(
                                LoopTm.withStaticBuffers("short", AggregationMode.SYMMETRIC, 4096, BUFFER_BYTES)
                                        .slots(2),
                                LoopTm.withStaticBuffers(
                                                "long", AggregationMode.SYMMETRIC, Long.MAX_VALUE, BUFFER_BYTES)
                                        .slots(2)))
                .open();
    }

    private static SwitchedConnection connection(LocalSessions of, int rank, int remote) {
        return Objects.requireNonNull(((SwitchedChannel) of.channel(rank)).connectionOrNull(remote));
    }

    private Channel channel(int rank) {
        return sessions.channel(rank);
    }

    private static MemorySegment block(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    private static CompletableFuture<Void> start(Runnable action) {
        return CompletableFuture.runAsync(
                action, task -> Thread.ofPlatform().daemon().start(task));
    }

    /**
     * Starts a virtual thread and answers when it waits: it never leads, and looks again only when it is woken, while a
     * platform thread looks once a second.
     */
    private static CompletableFuture<Void> startToWait(Runnable action) throws InterruptedException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                action.run();
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        while (thread.getState() == Thread.State.NEW || thread.getState() == Thread.State.RUNNABLE) {
            Thread.sleep(1);
        }
        return done;
    }

    private static void join(CompletableFuture<?> started) throws Exception {
        started.get(20, TimeUnit.SECONDS);
    }

    /** A thread that ends a message tells its user first, and leaves its half of the connection a moment later. */
    private static void awaitThat(BooleanSupplier condition) {
        long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - giveUpNs < 0, "not in time");
            Thread.onSpinWait();
        }
    }

    private void progress() {
        for (int round = 0; round < 50; round++) {
            sessions.session(0).progress();
            sessions.session(1).progress();
        }
    }

    private void send(int number) {
        try (OutgoingMessage out = channel(0).beginPacking(1)) {
            out.packInt(number).endPacking();
        }
    }

    private void receive(int number) {
        try (IncomingMessage in = channel(1).beginUnpacking(0, 20, TimeUnit.SECONDS)) {
            assertEquals(number, in.unpackInt());
            in.endUnpacking();
        }
    }

    /** A message that does not fit what the network buffers. */
    private OutgoingMessage beginLarge() {
        return channel(0).beginPacking(1).pack(Pattern.fill(1, block(LARGE)), SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }

    private void receiveLarge() {
        MemorySegment received = block(LARGE);
        try (IncomingMessage in = channel(1).beginUnpacking(0, 20, TimeUnit.SECONDS)) {
            in.unpack(received, SendMode.CHEAPER, ReceiveMode.CHEAPER).endUnpacking();
        }
        Pattern.check(1, received);
    }

    @AfterEach
    void close() {
        if (!lost) {
            send(77);
            receive(77);
            progress();
            awaitThat(() -> sessions.demand(0) == 0);
            assertEquals(0, sessions.demand(1));
            assertTrue(sending.isFree() && !sending.isOnItsWay() && !sending.isPromised());
            assertFalse(receiving.isUnderWay() || receiving.isDropping() || receiving.hasArrived());
        }
        sessions.close();
    }

    // ---- arrival

    @Test
    void shouldFindAMessageOnce() {
        assertNull(receiving.tryBegin());
        assertFalse(receiving.hasArrived());
        send(1);
        progress();
        assertTrue(receiving.hasArrived() && receiving.mayBegin() && !receiving.isUnderWay());
        IncomingHandle in = Objects.requireNonNull(receiving.tryBegin());
        assertFalse(receiving.hasArrived() || receiving.mayBegin());
        assertNull(receiving.tryBegin());
        assertEquals(ReceiveHalf.NOTHING_THERE, receiving.takeWhole(block(4), 0, 4));
        assertEquals(1, in.unpackInt());
        in.endUnpacking();
        in.close();
        assertNull(receiving.tryBegin());
    }

    @Test
    void shouldGiveEachMessageToOneOfThoseWhoWait() throws Exception {
        List<CompletableFuture<Integer>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Integer> received = new CompletableFuture<>();
            waiting.add(received);
            start(() -> {
                try (IncomingMessage in = channel(1).beginUnpacking(0)) {
                    int number = in.unpackInt();
                    in.endUnpacking();
                    received.complete(number);
                }
            });
        }
        int sum = 0;
        for (int number : new int[] {1, 10, 100}) {
            send(number);
        }
        for (CompletableFuture<Integer> received : waiting) {
            sum += received.get(20, TimeUnit.SECONDS);
        }
        assertEquals(111, sum);
    }

    // ---- sending

    @Test
    void shouldPromiseWhatNobodyWaitsForUntilItHasLeft() {
        OutgoingMessage out = beginLarge();
        assertFalse(sending.isOnItsWay() || sending.isPromised() || sending.isFree());
        Completion sent = out.endPackingAsync();
        assertTrue(sending.isOnItsWay() && sending.isPromised());
        assertEquals(1, sessions.demand(0));
        assertNull(sending.tryBegin());
        assertFalse(sent.isDone());
        receiveLarge();
        sent.await();
        out.close();
        awaitThat(() -> !sending.isOnItsWay() && !sending.isPromised());
        assertTrue(sending.messageCount() >= 1);
    }

    @Test
    void shouldPromiseNothingOfAMessageForWhichItsUserWaits() throws Exception {
        OutgoingMessage out = beginLarge();
        assertThrows(DeadlineExceededException.class, () -> out.endPacking(1, TimeUnit.MILLISECONDS));
        assertTrue(sending.isOnItsWay() && !sending.isPromised());
        CompletableFuture<Void> receiver = start(this::receiveLarge);
        out.within(20, TimeUnit.SECONDS).endPacking();
        join(receiver);
        out.close();
    }

    @Test
    void shouldLetWhoIsInLineBeginWhenTheMessageBeforeHasEnded() throws Exception {
        OutgoingMessage first = channel(0).beginPacking(1).packInt(1);
        List<CompletableFuture<Void>> line = new ArrayList<>();
        for (int number = 2; number < 5; number++) {
            int own = number;
            line.add(start(() -> send(own)));
        }
        assertThrows(DeadlineExceededException.class, () -> channel(0).beginPacking(1, 1, TimeUnit.MILLISECONDS));
        first.endPacking();
        first.close();
        receive(1);
        int sum = 0;
        for (int i = 0; i < 3; i++) {
            try (IncomingMessage in = channel(1).beginUnpacking(0, 20, TimeUnit.SECONDS)) {
                sum += in.unpackInt();
                in.endUnpacking();
            }
        }
        assertEquals(9, sum);
        for (CompletableFuture<Void> each : line) {
            join(each);
        }
    }

    @Test
    void shouldTellTheReceiverOfAMessageThatIsClosedBeforeItsEnd() {
        channel(0).beginPacking(1).packInt(1).close();
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            assertThrows(MessageAbortedException.class, () -> {
                in.unpackInt();
                in.unpackInt();
            });
        }
        OutgoingMessage large = beginLarge();
        Completion sent = large.endPackingAsync();
        large.close(); // has no effect on a message that ends asynchronously
        receiveLarge();
        sent.await();
    }

    @Test
    void shouldAbortAMessageThatItsUserDoesNotWaitForAnyLonger() {
        OutgoingMessage out = beginLarge();
        assertThrows(DeadlineExceededException.class, () -> out.endPacking(1, TimeUnit.MILLISECONDS));
        out.close();
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            assertThrows(
                    MessageAbortedException.class,
                    () -> in.unpack(block(LARGE), SendMode.CHEAPER, ReceiveMode.CHEAPER)
                            .endUnpacking());
        }
        send(8);
        receive(8);
    }

    // ---- unpacking

    @Test
    void shouldReceiveBlocksAndLayoutsBeforeAndAfterTheyArrive() throws Exception {
        for (boolean early : new boolean[] {false, true}) {
            MemorySegment ranges = block(40);
            MemorySegment plain = block(LARGE);
            Runnable receives = () -> {
                try (IncomingMessage in = channel(1).beginUnpacking(0)) {
                    assertEquals(1, in.unpackInt());
                    in.unpack(BlockLayout.strided(ranges, 0, 10, 20, 2), SendMode.CHEAPER, ReceiveMode.EXPRESS);
                    assertEquals(10, ranges.mismatch(block(40).fill((byte) 5)));
                    in.unpack(plain, SendMode.CHEAPER, ReceiveMode.EXPRESS);
                    Pattern.check(1, plain);
                    in.unpack(BlockLayout.strided(ranges, 0, 10, 20, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                    in.endUnpacking();
                }
            };
            CompletableFuture<Void> receiver = early ? start(receives) : null;
            OutgoingMessage out = channel(0).beginPacking(1).packInt(1);
            out.pack(block(20).fill((byte) 5), SendMode.CHEAPER, ReceiveMode.EXPRESS);
            out.pack(Pattern.fill(1, block(LARGE)), SendMode.CHEAPER, ReceiveMode.EXPRESS);
            out.pack(block(20).fill((byte) 6), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            Completion sent = out.endPackingAsync();
            join(receiver == null ? start(receives) : receiver);
            sent.await();
            out.close();
            assertEquals(10, ranges.mismatch(block(40).fill((byte) 6)));
        }
    }

    @Test
    void shouldLeaveAConfinedBlockToItsThread() throws Exception {
        OutgoingMessage out = channel(0).beginPacking(1).packInt(1);
        try (Arena arena = Arena.ofConfined();
                IncomingMessage in = channel(1).beginUnpacking(0)) {
            assertEquals(1, in.unpackInt());
            MemorySegment own = arena.allocate(LARGE);
            in.unpack(own, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            assertTrue(receiving.isUnderWay());
            String text = String.valueOf(assertThrows(IllegalStateException.class, in::endUnpackingAsync)
                    .getMessage());
            assertTrue(text.contains("confined to a thread has not arrived"), text);
            CompletableFuture<Void> sender =
                    start(() -> out.pack(Pattern.fill(1, block(LARGE)), SendMode.CHEAPER, ReceiveMode.CHEAPER)
                            .endPacking());
            in.endUnpacking();
            Pattern.check(1, own);
            join(sender);
        }
        out.close();
    }

    @Test
    void shouldCompleteAMessageWhoseEndItsUserDoesNotWaitFor() {
        OutgoingMessage out = channel(0).beginPacking(1).packInt(1);
        IncomingMessage in = channel(1).beginUnpacking(0);
        assertEquals(1, in.unpackInt());
        MemorySegment received = block(100);
        in.unpack(received, SendMode.CHEAPER, ReceiveMode.CHEAPER);
        Completion completion = in.endUnpackingAsync();
        assertFalse(completion.isDone());
        assertEquals(1, sessions.demand(1));
        assertTrue(receiving.isUnderWay());
        out.pack(Pattern.fill(1, block(100)), SendMode.CHEAPER, ReceiveMode.CHEAPER)
                .endPacking();
        completion.await();
        Pattern.check(1, received);
        in.close();
        out.close();
        awaitThat(() -> !receiving.isUnderWay());
    }

    @Test
    void shouldDropTheRestOfAMessageThatIsDiscarded() {
        OutgoingMessage out = beginLarge();
        Completion sent = out.endPackingAsync();
        IncomingMessage in = channel(1).beginUnpacking(0);
        in.discard();
        sent.await();
        in.close();
        out.close();
        OutgoingMessage second = channel(0).beginPacking(1).packInt(1);
        IncomingMessage open = channel(1).beginUnpacking(0);
        open.discard();
        assertTrue(receiving.isDropping() && receiving.isUnderWay());
        assertEquals(1, sessions.demand(1), "it is dropped though nobody waits");
        second.packInt(2).endPacking();
        second.close();
        send(3);
        receive(3);
        open.close();
    }

    // ---- the loss of the peer

    private static void checkFails(int rank, Runnable call) {
        assertEquals(rank, assertThrows(PeerFailedException.class, call::run).rank());
    }

    @Test
    void shouldEndAllWaitsWhenThePeerIsLost() throws Exception {
        lost = true;
        OutgoingMessage out =
                channel(1).beginPacking(0).pack(Pattern.fill(1, block(LARGE)), SendMode.CHEAPER, ReceiveMode.CHEAPER);
        Completion sent = out.endPackingAsync();
        List<CompletableFuture<Void>> waits = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waits.add(startToWait(() -> checkFails(0, () -> channel(1).beginUnpacking(0))));
            waits.add(startToWait(() -> checkFails(0, () -> channel(1).beginPacking(0))));
            waits.add(startToWait(() -> checkFails(-1, () -> channel(1).beginUnpacking())));
        }
        sessions.die(0);
        checkFails(0, sent::await);
        out.close();
        for (CompletableFuture<Void> wait : waits) {
            join(wait);
        }
        checkFails(0, () -> channel(1).tryBeginPacking(0));
        checkFails(0, () -> channel(1).tryBeginUnpacking(0));
        assertTrue(receiving.isExhausted());
        assertSame(
                PeerFailedException.class,
                assertThrows(PeerFailedException.class, receiving::throwIfExhausted)
                        .getClass());
        awaitThat(() -> sessions.demand(1) == 0);
    }

    @Test
    void shouldEndTheWaitOfThoseInLineWhenThePeerIsLostAndTheOpenMessageIsNotTouched() throws Exception {
        lost = true;
        OutgoingMessage out = channel(1).beginPacking(0).packInt(1);
        List<CompletableFuture<Void>> waits = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waits.add(startToWait(() -> checkFails(0, () -> channel(1).beginPacking(0))));
        }
        sessions.die(0);
        for (CompletableFuture<Void> wait : waits) {
            join(wait);
        }
        checkFails(0, () -> out.packInt(2).endPacking());
        out.close();
        awaitThat(() -> sessions.demand(1) == 0);
    }

    @Test
    void shouldFailAnOpenMessageWhosePeerIsLostAfterWhatHadArrived() {
        lost = true;
        OutgoingMessage out = channel(0).beginPacking(1).packInt(1);
        IncomingMessage in = channel(1).beginUnpacking(0);
        out.packInt(2);
        sessions.die(0);
        assertEquals(1, in.unpackInt());
        checkFails(0, () -> {
            in.unpackInt();
            in.unpackInt();
        });
        checkFails(0, in::endUnpacking);
        in.close();
        awaitThat(() -> sessions.demand(1) == 0);
    }

    @Test
    void shouldReceiveAWholeMessageOfAPeerThatIsLostSince() {
        lost = true;
        send(1);
        IncomingMessage in = channel(1).beginUnpacking(0);
        sessions.die(0);
        assertEquals(1, in.unpackInt());
        in.endUnpacking();
        in.close();
        checkFails(0, () -> channel(1).beginUnpacking(0));
    }
}
