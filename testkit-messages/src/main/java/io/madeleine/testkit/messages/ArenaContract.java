package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.start;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.api.SessionException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The contract of the session's arenas: their memory is freed when no message needs it any more. */
public interface ArenaContract extends MessageFixture {
    /** More bytes than a network buffers while its peer receives nothing. */
    int MUCH = 24 << 20;

    byte FILL = 7;

    @Test
    default void shouldSendWhatIsOnItsWayBeforeItsArenaIsClosed() {
        open(2);
        Arena arena = sessions().session(0).newArena();
        MemorySegment block = arena.allocate(MUCH).fill(FILL);
        try (OutgoingMessage out = channel(0).beginPacking(1)) {
            out.pack(block, SendMode.CHEAPER, CHEAPER);
            Completion _ = out.endPackingAsync();
        }
        CompletableFuture<Void> closing = start(arena::close);
        MemorySegment target = block(MUCH);
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            in.unpack(target, SendMode.CHEAPER, CHEAPER).endUnpacking();
        }
        join(closing);
        assertFalse(block.scope().isAlive());
        assertEquals(-1, target.mismatch(MemorySegment.ofArray(new byte[MUCH]).fill(FILL)));
        assertThrows(IllegalStateException.class, () -> block.get(ValueLayout.JAVA_BYTE, 0));
        assertThrows(IllegalStateException.class, arena::close);
    }

    @Test
    default void shouldReceiveWhatIsAskedForBeforeItsArenaIsClosed() {
        open(2);
        Arena arena = sessions().session(1).newArena();
        MemorySegment target = arena.allocate(MUCH);
        CompletableFuture<Void> sending = start(() -> {
            try (OutgoingMessage out = channel(0).beginPacking(1)) {
                out.pack(block(MUCH), SendMode.CHEAPER, CHEAPER).endPacking();
            }
        });
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            in.unpack(target, SendMode.CHEAPER, CHEAPER);
            Completion received = in.endUnpackingAsync();
            arena.close(); // waits until the blocks are not used any more; the message may end a moment later
            received.await(); // must not fail because of freed memory
        }
        join(sending);
    }

    @Test
    default void shouldKeepMemoryBeyondTheSession() {
        open(2);
        List<MemorySegment> kept = new ArrayList<>();
        for (int bytes : new int[] {1, 100_000, 2 << 20}) {
            MemorySegment block = sessions().session(0).allocateKept(bytes).fill(FILL);
            kept.add(block);
            try (OutgoingMessage out = channel(0).beginPacking(1)) {
                out.pack(block, SendMode.CHEAPER, CHEAPER);
                Completion _ = out.endPackingAsync();
            }
            MemorySegment target = sessions().session(1).allocateKept(bytes);
            try (IncomingMessage in = channel(1).beginUnpacking()) {
                in.unpack(target, SendMode.CHEAPER, CHEAPER).endUnpacking();
            }
            kept.add(target);
        }
        sessions().close();
        System.gc();
        for (MemorySegment block : kept) {
            assertEquals(
                    -1,
                    block.mismatch(MemorySegment.ofArray(new byte[(int) block.byteSize()])
                            .fill(FILL)));
            block.fill((byte) 0);
        }
        assertThrows(SessionException.class, () -> sessions().session(0).allocateKept(1));
    }

    @Test
    default void shouldHaveMemoryThatPeersCanReachOrOrdinaryMemory() {
        open(2);
        try (Arena arena = sessions().session(0).newArena()) {
            for (int bytes : new int[] {1, 100_000}) {
                MemorySegment block = sessions().session(0).allocateShared(bytes, arena);
                assertEquals(bytes, block.byteSize());
                assertEquals(0, block.address() % 64);
                assertEquals(-1, block.mismatch(MemorySegment.ofArray(new byte[bytes])));
                try (OutgoingMessage out = channel(0).beginPacking(1)) {
                    out.pack(block.fill(FILL), SendMode.CHEAPER, CHEAPER);
                    Completion _ = out.endPackingAsync();
                }
                MemorySegment target = block(bytes);
                try (IncomingMessage in = channel(1).beginUnpacking()) {
                    in.unpack(target, SendMode.CHEAPER, CHEAPER).endUnpacking();
                }
                assertEquals(-1, target.mismatch(block));
            }
            assertThrows(
                    IllegalArgumentException.class, () -> sessions().session(1).allocateShared(1, arena));
        }
    }
}
