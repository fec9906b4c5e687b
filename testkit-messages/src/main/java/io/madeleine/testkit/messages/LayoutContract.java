package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.closeOnceNobodyIsInside;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.assertSays;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.BlockLayout;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The contract of blocks that lie in ranges: any layout can be received into any other of the same size. */
public interface LayoutContract extends MessageFixture {
    int SERIES = 120;
    int STRIDE = 240;
    int RANGE = 160;

    /** More bytes than a network buffers while its peer receives nothing. */
    int MUCH = 150_000 * RANGE;

    private static List<ScatteredShape> series(int number, Random random) {
        List<ScatteredShape> shapes = new ArrayList<>();
        for (int count = 1 + random.nextInt(4); count > 0; count--) {
            shapes.add(ScatteredShape.random(number + count, random));
        }
        return shapes;
    }

    private static void pack(OutgoingMessage out, List<ScatteredShape> shapes, Random random) {
        try (Arena confined = Arena.ofConfined()) {
            List<ScatteredBlock> later = new ArrayList<>();
            for (ScatteredShape shape : shapes) {
                if (random.nextInt(4) == 0) {
                    out.pack(block(shape.number(), shape.bytes()), shape.send(), shape.receive());
                    continue;
                }
                ScatteredBlock block = new ScatteredBlock(shape.number(), shape.bytes(), random, confined);
                if (shape.send() == SendMode.LATER) {
                    later.add(block);
                } else {
                    block.fill();
                }
                out.pack(block.layout(), shape.send(), shape.receive());
                if (shape.send() == SendMode.SAFER) {
                    block.spoil();
                }
            }
            later.forEach(ScatteredBlock::fill);
            out.endPacking();
        }
    }

    private static void unpack(IncomingMessage in, List<ScatteredShape> shapes, Random random) {
        try (Arena confined = Arena.ofConfined()) {
            List<Runnable> checks = new ArrayList<>();
            for (ScatteredShape shape : shapes) {
                Runnable check;
                if (random.nextInt(4) == 0) {
                    MemorySegment block = block(shape.bytes());
                    in.unpack(block, shape.send(), shape.receive());
                    check = () -> Pattern.check(shape.number(), block);
                } else {
                    ScatteredBlock block = new ScatteredBlock(shape.number(), shape.bytes(), random, confined);
                    in.unpack(block.layout(), shape.send(), shape.receive());
                    check = block::check;
                }
                if (shape.receive() == EXPRESS) {
                    check.run();
                } else {
                    checks.add(check);
                }
            }
            in.endUnpacking();
            checks.forEach(Runnable::run);
        }
    }

    @Test
    default void shouldCarryAnyLayoutIntoAnyOther() {
        open(2);
        long seed = System.nanoTime();
        together(
                () -> {
                    Random shapes = new Random(seed);
                    Random layouts = new Random(seed + 1);
                    for (int i = 0; i < SERIES; i++) {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            pack(out, series(10 * i, shapes), layouts);
                        }
                    }
                },
                () -> {
                    Random shapes = new Random(seed);
                    Random layouts = new Random(seed + 2);
                    for (int i = 0; i < SERIES; i++) {
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            unpack(in, series(10 * i, shapes), layouts);
                        } catch (RuntimeException | AssertionError e) {
                            throw new AssertionError("message " + i + " of seed " + seed, e);
                        }
                    }
                });
        checkUsable(0, 1);
    }

    /** Ranges of 160 bytes with gaps of 80. */
    private static BlockLayout strided(MemorySegment memory) {
        return BlockLayout.strided(memory, 0, RANGE, STRIDE, (int) (memory.byteSize() / STRIDE));
    }

    private static BlockLayout strided(long bytes) {
        return strided(block(bytes / RANGE * STRIDE));
    }

    private static MemorySegment packed(int number, BlockLayout layout) {
        MemorySegment flat = Pattern.fill(number, MemorySegment.ofArray(new byte[(int) layout.byteSize()]));
        for (int i = 0; i < layout.rangeCount(); i++) {
            MemorySegment.copy(flat, (long) i * RANGE, layout.part(0).segment(), (long) i * STRIDE, RANGE);
        }
        return flat;
    }

    private static void check(int number, BlockLayout layout) {
        MemorySegment flat = MemorySegment.ofArray(new byte[(int) layout.byteSize()]);
        for (int i = 0; i < layout.rangeCount(); i++) {
            MemorySegment.copy(layout.part(0).segment(), (long) i * STRIDE, flat, (long) i * RANGE, RANGE);
        }
        Pattern.check(number, flat);
    }

    @Test
    default void shouldScatterWhatIsReceivedWithoutWaiting() {
        open(2);
        for (int bytes : new int[] {320, 4000, 160_000}) {
            BlockLayout source = strided(bytes);
            MemorySegment _ = packed(bytes, source);
            BlockLayout target = strided(bytes);
            Completion sent;
            try (OutgoingMessage out = channel(0).beginPacking(1)) {
                sent = out.pack(source).endPackingAsync();
            }
            Completion received;
            try (IncomingMessage in = channel(1).beginUnpacking()) {
                received = in.unpack(target).endUnpackingAsync();
            }
            received.await();
            sent.await();
            check(bytes, target);
        }
    }

    @Test
    default void shouldSendConfinedRangesThatWaitForTheirTurnWithAnotherThread() {
        open(2);
        CompletableFuture<Void> received = new CompletableFuture<>();
        together(
                () -> {
                    try (Arena confined = Arena.ofConfined()) {
                        BlockLayout source = strided(confined.allocate(4000 / RANGE * STRIDE));
                        Completion sent;
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.pack(block(1, MUCH), SendMode.LATER, CHEAPER);
                            out.pack(source, SendMode.LATER, CHEAPER);
                            MemorySegment _ = packed(2, source);
                            sent = out.endPackingAsync();
                        }
                        received.get(30, TimeUnit.SECONDS); // this thread drives nothing meanwhile
                        sent.await();
                    }
                },
                () -> {
                    BlockLayout target = strided(4000);
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        in.unpack(block(MUCH), SendMode.LATER, CHEAPER);
                        in.unpack(target, SendMode.LATER, CHEAPER).endUnpacking();
                        check(2, target);
                    } finally {
                        received.complete(null);
                    }
                });
    }

    @Test
    default void shouldAbortAtBothEndsWhenTheMemoryOfRangesHalfSentIsFreed() {
        open(2);
        CompletableFuture<Void> freed = new CompletableFuture<>();
        together(
                () -> {
                    Arena arena = Arena.ofShared();
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.packInt(MUCH);
                        out.pack(strided(arena.allocate(MUCH / RANGE * STRIDE, 8)));
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
                            assertEquals(MUCH, in.unpackInt());
                            in.unpack(strided(MUCH)).endUnpacking();
                        });
                    }
                });
        checkUsable(0, 1);
    }

    @Test
    default void shouldFailAtTheReceiverWhenTheMemoryOfAwaitedRangesIsFreed() {
        open(2);
        together(() -> send(channel(0), 1, 1, MUCH), () -> {
            Arena arena = Arena.ofShared();
            BlockLayout target = strided(arena.allocate(MUCH / RANGE * STRIDE, 8));
            try (IncomingMessage in = channel(1).beginUnpacking()) {
                arena.close();
                assertThrows(
                        MessageAbortedException.class, () -> in.unpack(target).endUnpacking());
            }
        });
        checkUsable(0, 1);
    }

    @Test
    default void shouldSendRangesBeforeTheirArenaIsClosed() {
        open(2);
        Arena arena = sessions().session(0).newArena();
        BlockLayout source = strided(arena.allocate(MUCH / RANGE * STRIDE));
        MemorySegment contents = packed(9, source);
        try (OutgoingMessage out = channel(0).beginPacking(1)) {
            out.pack(source);
            Completion _ = out.endPackingAsync();
        }
        CompletableFuture<Void> closing = start(arena::close);
        MemorySegment target = block(MUCH);
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            in.unpack(target, SendMode.CHEAPER, CHEAPER).endUnpacking();
        }
        join(closing);
        assertFalse(arena.scope().isAlive());
        assertEquals(-1, target.mismatch(contents.asSlice(0, MUCH)));
    }

    @Test
    default void shouldReceiveIntoRangesBeforeTheirArenaIsClosed() {
        open(2);
        Arena arena = sessions().session(1).newArena();
        BlockLayout target = strided(arena.allocate(MUCH / RANGE * STRIDE));
        CompletableFuture<Void> sending = start(() -> send(channel(0), 1, 1, MUCH));
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            Completion received = in.unpack(target).endUnpackingAsync();
            arena.close(); // waits until the blocks are not used any more; the message may end a moment later
            received.await(); // must not fail because of freed memory
        }
        join(sending);
    }

    @Test
    default void shouldGoOnWithALayoutAfterADeadline() {
        open(2);
        CompletableFuture<Void> mayEnd = new CompletableFuture<>();
        together(
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.pack(block(1, 3 << 20), SendMode.CHEAPER, CHEAPER);
                        out.pack(block(2, 320), SendMode.LATER, EXPRESS);
                        out.pack(block(3, 160_000), SendMode.CHEAPER, EXPRESS);
                        mayEnd.get(10, TimeUnit.SECONDS);
                        out.endPacking();
                    }
                },
                () -> {
                    try (IncomingMessage in = beginUnpacking(mayEnd)) {
                        in.unpack(block(3 << 20), SendMode.CHEAPER, CHEAPER);
                        BlockLayout middle = strided(320);
                        if (!mayEnd.isDone()) {
                            in.within(1, TimeUnit.MILLISECONDS);
                            assertThrows(
                                    DeadlineExceededException.class, () -> in.unpack(middle, SendMode.LATER, EXPRESS));
                            BlockLayout other = strided(320);
                            assertThrows(IllegalStateException.class, () -> in.unpack(other, SendMode.LATER, EXPRESS));
                            mayEnd.complete(null);
                        }
                        in.within(10, TimeUnit.SECONDS);
                        in.unpack(middle, SendMode.LATER, EXPRESS);
                        check(2, middle);
                        BlockLayout last = strided(160_000);
                        in.unpack(last, SendMode.CHEAPER, EXPRESS).endUnpacking();
                        check(3, last);
                    }
                });
    }

    /** Begins the message; if the network sends nothing before the end of the message, first lets the sender end it. */
    private IncomingMessage beginUnpacking(CompletableFuture<Void> mayEnd) {
        try {
            return channel(1).beginUnpacking(100, TimeUnit.MILLISECONDS);
        } catch (DeadlineExceededException _) {
            mayEnd.complete(null);
            return channel(1).beginUnpacking();
        }
    }

    @Test
    default void shouldRefuseALayoutOfAnotherSizeAndDropWhatIsNotWanted() {
        open(2);
        together(
                () -> {
                    for (int i = 0; i < 2; i++) {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.pack(strided(160_000), SendMode.CHEAPER, CHEAPER)
                                    .endPacking();
                        }
                    }
                },
                () -> {
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        assertThrows(
                                AsymmetricMessageException.class,
                                () -> in.unpack(strided(160_000 - RANGE)).endUnpacking());
                    }
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        in.unpack(strided(160_000)).discard();
                    }
                });
        checkUsable(0, 1);
    }

    @Test
    default void shouldRefuseRangesThatCannotBeFilled() {
        open(2);
        together(
                () -> {
                    MemorySegment memory = block(1, 100).asReadOnly();
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.pack(BlockLayout.strided(memory, 0, 16, 8, 4)).endPacking();
                    }
                },
                () -> {
                    MemorySegment memory = block(100);
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        assertSays(
                                "overlap",
                                assertThrows(
                                        IllegalArgumentException.class,
                                        () -> in.unpack(BlockLayout.strided(memory, 0, 16, 8, 4))));
                        assertSays(
                                "read-only",
                                assertThrows(
                                        IllegalArgumentException.class,
                                        () -> in.unpack(BlockLayout.strided(memory.asReadOnly(), 0, 16, 16, 4))));
                        in.unpack(BlockLayout.strided(memory, 0, 16, 20, 4)).endUnpacking();
                        MemorySegment source = Pattern.fill(1, MemorySegment.ofArray(new byte[100]));
                        for (int i = 0; i < 4; i++) {
                            assertEquals(-1, memory.asSlice(20L * i, 16).mismatch(source.asSlice(8L * i, 16)));
                        }
                    }
                });
    }
}
