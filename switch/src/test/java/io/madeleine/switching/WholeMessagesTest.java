package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.Pattern;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which messages of one block go in one step. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WholeMessagesTest {
    private static final int BUFFER_BYTES = 1024;

    private final LocalSessions sessions = LocalSessions.of(2)
            .loop(
                    "loop",
                    List.of(LoopTm.withStaticBuffers(
                            "short", AggregationMode.ASYMMETRIC, Long.MAX_VALUE, BUFFER_BYTES)))
            .open();
    private final SendHalf sending = connection(0, 1).sending();
    private final ReceiveHalf receiving = connection(1, 0).receiving();

    private SwitchedConnection connection(int rank, int remote) {
        return Objects.requireNonNull(((SwitchedChannel) sessions.channel(rank)).connectionOrNull(remote));
    }

    @AfterEach
    void close() {
        sessions.close();
    }

    private boolean sendWhole(MemorySegment block) {
        return sending.sendWhole(block, 0, block.byteSize(), SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }

    private int takeWhole(MemorySegment block) {
        return receiving.takeWhole(block, 0, block.byteSize());
    }

    private static MemorySegment block(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    @Test
    void shouldMoveABlockThatFitsAPacketInOneStep() {
        for (int bytes : new int[] {0, 1, 8, 9, BUFFER_BYTES}) {
            assertTrue(sendWhole(Pattern.fill(bytes, block(bytes))));
            MemorySegment received = block(bytes);
            assertEquals(ReceiveHalf.TAKEN, takeWhole(received));
            Pattern.check(bytes, received);
        }
        assertEquals(ReceiveHalf.NOTHING_THERE, takeWhole(block(8)));
    }

    @Test
    void shouldLeaveToStepsWhatIsNoBlockOfThatSizeInOnePacket() {
        assertFalse(sendWhole(block(BUFFER_BYTES + 1)));
        assertTrue(sendWhole(block(8)));
        assertEquals(ReceiveHalf.TO_BE_BEGUN, takeWhole(block(7)));
        assertEquals(ReceiveHalf.TO_BE_BEGUN, takeWhole(block(9)));
        assertEquals(ReceiveHalf.TAKEN, takeWhole(block(8)));
    }

    @Test
    void shouldLeaveToStepsWhatComesWhileAnotherMessageIsOpen() {
        try (OutgoingMessage open = sessions.channel(0).beginPacking(1)) {
            assertFalse(sendWhole(block(8)));
            open.endPacking();
        }
        assertTrue(sendWhole(block(8)));
    }

    @Test
    void shouldTakeAShortMessageOfAnySizeUpToThatOfTheBlock() {
        assertEquals(ReceiveHalf.NOTHING_THERE, receiving.takeShort(block(8)));
        for (int bytes : new int[] {0, 1, 7, 8}) {
            assertTrue(sendWhole(Pattern.fill(bytes, block(bytes))));
            MemorySegment received = block(8);
            assertEquals(bytes, receiving.takeShort(received));
            Pattern.check(bytes, received.asSlice(0, bytes));
        }
        assertTrue(sendWhole(block(9)));
        assertEquals(ReceiveHalf.TO_BE_BEGUN, receiving.takeShort(block(8)));
        assertEquals(9, receiving.takeShort(block(9)), "nothing has changed");
        assertEquals(ReceiveHalf.NOTHING_THERE, receiving.takeShort(block(9)));
    }

    @Test
    void shouldTakeInOneStepAlsoWhatAPollHasFoundButNothingWhileAMessageIsOpen() {
        for (int i = 0; i < 3; i++) {
            assertTrue(sendWhole(block(4)));
        }
        for (int round = 0; round < 50; round++) {
            sessions.session(1).progress();
        }
        assertTrue(receiving.hasArrived());
        assertEquals(4, receiving.takeShort(block(4)));
        assertFalse(receiving.hasArrived());
        try (IncomingMessage in = sessions.channel(1).beginUnpacking(0)) {
            assertEquals(ReceiveHalf.TO_BE_BEGUN, receiving.takeShort(block(4)));
            assertEquals(ReceiveHalf.NOTHING_THERE, takeWhole(block(4)));
            in.unpack(block(4), SendMode.CHEAPER, ReceiveMode.CHEAPER).endUnpacking();
        }
        for (int round = 0; round < 50; round++) {
            sessions.session(1).progress();
        }
        assertEquals(ReceiveHalf.TAKEN, takeWhole(block(4)));
        assertFalse(receiving.hasArrived());
        assertEquals(ReceiveHalf.NOTHING_THERE, takeWhole(block(4)));
    }
}
