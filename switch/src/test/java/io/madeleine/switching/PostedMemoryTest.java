package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.testkit.LoopFabric;
import io.madeleine.testkit.LoopPmm;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages over a network that moves their memory by itself, and that stands still when the test wants it to. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PostedMemoryTest {
    private static final int BYTES = 50_000;
    private static final byte MARK = 0x33;

    private final LoopFabric fabric = new LoopFabric();
    private LocalSessions sessions = open(60_000_000_000L);

    private LocalSessions open(long peerTimeoutNs) {
        List<LoopTm> tms = List.of(
                LoopTm.withStaticBuffers("short", AggregationMode.ASYMMETRIC, 112, 1024),
                LoopTm.withDynamicBuffers("posted", LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, Long.MAX_VALUE)
                        .posting(11));
        return LocalSessions.of(2)
                .network("loop", _ -> new LoopPmm(fabric, tms))
                .peerTimeout(peerTimeoutNs)
                .open();
    }

    private void reopen(long peerTimeoutNs) {
        sessions.close();
        sessions = open(peerTimeoutNs);
    }

    @AfterEach
    void close() {
        fabric.stall(false);
        fabric.keepMemory(false);
        sessions.close();
        assertEquals(List.of(), fabric.violations());
    }

    private Channel channel(int rank) {
        return sessions.channel(rank);
    }

    private static MemorySegment block(byte value) {
        return MemorySegment.ofArray(new byte[BYTES]).fill(value);
    }

    private static boolean isAll(byte value, MemorySegment block) {
        return block.mismatch(block(value)) < 0;
    }

    private void progress(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sessions.session(0).progress();
            sessions.session(1).progress();
        }
    }

    private void progressUntilNewsOf(AtomicBoolean flag, boolean wanted) {
        while (flag.get() != wanted) {
            progress(1);
        }
    }

    private static Thread start(AtomicBoolean returned, Runnable action) {
        return Thread.ofPlatform().daemon().start(() -> {
            action.run();
            returned.set(true);
        });
    }

    private OutgoingMessage packed(MemorySegment block) {
        OutgoingMessage out = channel(0).beginPacking(1);
        out.packInt(1);
        out.pack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
        return out;
    }

    /** Several times, since the network fails to register some blocks. */
    private MemorySegment[] unpacked(IncomingMessage in, int count) {
        MemorySegment[] blocks = new MemorySegment[count];
        for (int i = 0; i < count; i++) {
            blocks[i] = block((byte) 0);
            in.unpack(blocks[i], SendMode.CHEAPER, ReceiveMode.CHEAPER);
        }
        return blocks;
    }

    @Test
    void shouldEndAMessageWhenItsMemoryIsLetGoOf() {
        MemorySegment block = block((byte) 7);
        fabric.stall(true);
        Completion completion;
        try (OutgoingMessage out = packed(block)) {
            completion = out.endPackingAsync();
        }
        progress(2_000);
        assertFalse(completion.isDone(), "its memory is still read");
        fabric.stall(false);
        while (!completion.isDone()) {
            progress(1);
        }
        block.fill(MARK);
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            assertEquals(1, in.unpackInt());
            MemorySegment found = unpacked(in, 1)[0];
            in.endUnpacking();
            assertTrue(isAll((byte) 7, found), "what was packed arrives");
        }
    }

    @Test
    void shouldWaitInCloseForMemoryThatIsRead() throws InterruptedException {
        fabric.stall(true);
        OutgoingMessage out = packed(block((byte) 7));
        AtomicBoolean closed = new AtomicBoolean();
        out.packInt(2); // commits the large block
        Thread closing = start(closed, out::close);
        progress(2_000);
        closing.join(50);
        assertFalse(closed.get(), "closed while a block is read");
        fabric.stall(false);
        progressUntilNewsOf(closed, true);
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            assertThrows(MessageAbortedException.class, () -> {
                in.unpackInt();
                unpacked(in, 1);
                in.unpackInt();
            });
        }
        exchange();
    }

    /** A message goes each way. */
    private void exchange() {
        Thread there = Thread.ofPlatform().daemon().start(() -> {
            try (OutgoingMessage out = packed(block((byte) 9))) {
                out.endPacking();
            }
        });
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            assertEquals(1, in.unpackInt());
            MemorySegment found = unpacked(in, 1)[0];
            in.endUnpacking();
            assertTrue(isAll((byte) 9, found));
        }
        try {
            there.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldGiveBlocksBackOnlyWhenNothingIsWrittenToThemAnyMore() throws InterruptedException {
        int count = 8;
        OutgoingMessage out = channel(0).beginPacking(1);
        out.packInt(1);
        out.pack(block((byte) 7), SendMode.CHEAPER, ReceiveMode.CHEAPER); // commits what was packed for another link
        IncomingMessage in = channel(1).beginUnpacking(0);
        assertEquals(1, in.unpackInt());
        MemorySegment[] blocks = unpacked(in, count); // which are posted, since nothing of them has been sent
        fabric.stall(true);
        for (int i = 0; i < count - 1; i++) {
            out.pack(block((byte) 7), SendMode.CHEAPER, ReceiveMode.CHEAPER);
        }
        Completion sent = out.endPackingAsync();
        out.close();
        AtomicBoolean closed = new AtomicBoolean();
        Thread closing = start(closed, in::close);
        progress(2_000);
        closing.join(50);
        assertFalse(closed.get(), "closed while blocks may be written to");
        fabric.stall(false);
        progressUntilNewsOf(closed, true);
        for (MemorySegment block : blocks) {
            block.fill(MARK);
        }
        while (!sent.isDone()) {
            progress(1);
        }
        progress(200);
        for (MemorySegment block : blocks) {
            assertTrue(isAll(MARK, block), "written after it was given back");
        }
        exchange();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLoseAConnectionWhoseNetworkDoesNotGiveBlocksBack(boolean untilItIsClosed) {
        reopen(200_000_000);
        fabric.keepMemory(untilItIsClosed);
        OutgoingMessage out = channel(0).beginPacking(1);
        out.packInt(1);
        out.pack(block((byte) 7), SendMode.CHEAPER, ReceiveMode.CHEAPER);
        IncomingMessage in = channel(1).beginUnpacking(0);
        in.unpackInt();
        MemorySegment[] blocks = unpacked(in, 8);
        fabric.stall(true);
        for (int i = 0; i < 7; i++) {
            out.pack(block((byte) 7), SendMode.CHEAPER, ReceiveMode.CHEAPER);
        }
        out.endPackingAsync();
        out.close();
        in.close(); // comes back, though nothing moves
        assertFalse(fabric.writesMemory());
        for (MemorySegment block : blocks) {
            block.fill(MARK);
        }
        fabric.stall(false);
        PeerFailedException thrown =
                assertThrows(PeerFailedException.class, () -> channel(1).beginUnpacking(0));
        assertTrue(thrown.getMessage().contains("madeleine.peer-timeout"), thrown.getMessage());
        progress(200);
        for (MemorySegment block : blocks) {
            assertTrue(isAll(MARK, block), "written after it was given back");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLoseAConnectionWhoseNetworkDoesNotLetGoOfAnAbortedMessage(boolean untilItIsClosed) {
        reopen(200_000_000);
        fabric.keepMemory(untilItIsClosed);
        fabric.stall(true);
        OutgoingMessage out = packed(block((byte) 7));
        out.packInt(2);
        out.close();
        assertFalse(fabric.readsMemory());
        PeerFailedException thrown =
                assertThrows(PeerFailedException.class, () -> channel(0).beginUnpacking(1));
        assertTrue(thrown.getMessage().contains("madeleine.peer-timeout"), thrown.getMessage());
    }

    @Test
    void shouldGiveMemoryBackOfAMessageWhosePeerIsLostBeforeTheNetworkLetsGoOfIt() {
        reopen(200_000_000);
        fabric.keepMemory(true);
        fabric.stall(true);
        OutgoingMessage out = packed(block((byte) 7));
        out.packInt(2); // commits the large block
        sessions.die(1);
        assertThrows(PeerFailedException.class, out::endPacking);
        assertFalse(fabric.readsMemory());
        out.close();
        assertThrows(PeerFailedException.class, () -> channel(0).beginPacking(1));
    }
}
