package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.BlockLayout;
import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end is asked for while an unpack whose deadline has passed still waits for the descriptor of its block. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnpackingTest {
    private final LocalSessions sessions = LocalSessions.of(2)
            .selfDescribed(true)
            .loop(
                    "loop",
                    List.of(
                            LoopTm.withStaticBuffers("short", AggregationMode.SYMMETRIC, 112, 1024),
                            LoopTm.withDynamicBuffers(
                                    "group", LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, Long.MAX_VALUE)))
            .open();

    private final OutgoingMessage out = channel(0).beginPacking(1).packInt(1);
    private final IncomingMessage in = channel(1).beginUnpacking(0);

    @AfterEach
    void close() {
        out.close();
        in.close();
        try (OutgoingMessage next = channel(0).beginPacking(1)) {
            next.packInt(7).endPacking();
        }
        try (IncomingMessage next = channel(1).beginUnpacking(0)) {
            assertEquals(7, next.unpackInt());
            next.endUnpacking();
        }
        sessions.close();
    }

    private Channel channel(int rank) {
        return sessions.channel(rank);
    }

    private static MemorySegment block(int bytes, int value) {
        return MemorySegment.ofArray(new byte[bytes]).fill((byte) value);
    }

    /** Unpacks SAFER/CHEAPER, in vain so far, and asks for the end. */
    private Completion endEarly(MemorySegment block) {
        assertEquals(1, in.unpackInt());
        in.within(0, TimeUnit.MILLISECONDS);
        assertThrows(DeadlineExceededException.class, () -> in.unpack(block, SendMode.SAFER, ReceiveMode.CHEAPER));
        Completion completion = in.endUnpackingAsync();
        assertFalse(completion.isDone());
        return completion;
    }

    private static void checkSays(String part, AsymmetricMessageException thrown) {
        String text = String.valueOf(thrown.getMessage());
        assertTrue(text.contains(part), text);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 1 << 17})
    void shouldReceiveABlockWhoseDescriptorArrivesAfterTheEndWasAskedFor(int bytes) {
        MemorySegment received = block(bytes, 0);
        Completion completion = endEarly(received);
        out.pack(block(bytes, 5), SendMode.SAFER, ReceiveMode.CHEAPER).endPacking();
        completion.await();
        assertEquals(-1, received.mismatch(block(bytes, 5)));
    }

    @Test
    void shouldReceiveRangesWhoseDescriptorArrivesAfterTheEndWasAskedFor() {
        MemorySegment received = block(40, 0);
        BlockLayout halves = BlockLayout.strided(received, 0, 10, 20, 2);
        assertEquals(1, in.unpackInt());
        in.within(0, TimeUnit.MILLISECONDS);
        assertThrows(DeadlineExceededException.class, () -> in.unpack(halves, SendMode.CHEAPER, ReceiveMode.EXPRESS));
        Completion completion = in.endUnpackingAsync();
        out.pack(block(20, 5), SendMode.CHEAPER, ReceiveMode.EXPRESS).endPacking();
        completion.await();
        assertEquals(10, received.mismatch(block(40, 5)));
        assertEquals(-1, received.asSlice(20, 10).mismatch(block(10, 5)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 1 << 17})
    void shouldNoticeOtherModesInADescriptorThatArrivesAfterTheEndWasAskedFor(int bytes) {
        Completion completion = endEarly(block(bytes, 0));
        out.pack(block(bytes, 5), SendMode.CHEAPER, ReceiveMode.CHEAPER).endPacking();
        AsymmetricMessageException thrown = assertThrows(AsymmetricMessageException.class, completion::await);
        checkSays("the receiver unpacks block 1 of " + bytes + " bytes, SAFER/CHEAPER", thrown);
        checkSays("the sender packed block 1 of " + bytes + " bytes, CHEAPER/CHEAPER", thrown);
    }

    @Test
    void shouldNameAMissingBlockWhenTheEndWasAskedForEarly() {
        Completion completion = endEarly(block(8, 0));
        out.endPacking();
        checkSays(
                "packed only the 1 blocks before it",
                assertThrows(AsymmetricMessageException.class, completion::await));
    }

    @Test
    void shouldNameASurplusBlockWhenTheEndWasAskedForEarly() {
        Completion completion = endEarly(block(8, 0));
        out.pack(block(8, 5), SendMode.SAFER, ReceiveMode.CHEAPER)
                .packByte((byte) 1)
                .endPacking();
        checkSays(
                "the sender packed block 2 of 1 bytes, SAFER/EXPRESS",
                assertThrows(AsymmetricMessageException.class, completion::await));
    }

    @Test
    void shouldLeaveAConfinedBlockToItsThreadAlsoBeforeItsDescriptorHasArrived() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment received = arena.allocate(8);
            assertEquals(1, in.unpackInt());
            in.within(0, TimeUnit.MILLISECONDS);
            assertThrows(
                    DeadlineExceededException.class, () -> in.unpack(received, SendMode.SAFER, ReceiveMode.CHEAPER));
            assertThrows(IllegalStateException.class, in::endUnpackingAsync);
            out.pack(block(8, 5), SendMode.SAFER, ReceiveMode.CHEAPER).endPacking();
            in.within(20, TimeUnit.SECONDS).endUnpacking();
            assertEquals(-1, received.mismatch(block(8, 5)));
        }
    }
}
