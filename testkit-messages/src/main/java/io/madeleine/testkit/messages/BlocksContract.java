package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.receive;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The contract of blocks: every size, mode and kind of memory. */
public interface BlocksContract extends MessageFixture {
    List<SendMode> SEND_MODES = List.of(SendMode.values());
    List<ReceiveMode> RECEIVE_MODES = List.of(ReceiveMode.values());

    /**
     * Packs the blocks and ends the message. SAFER blocks are overwritten after pack; LATER blocks get their content
     * just before the end.
     */
    private static void pack(OutgoingMessage out, Arena session, List<BlockShape> shapes) {
        try (Arena confined = Arena.ofConfined()) {
            List<MemorySegment> later = new ArrayList<>();
            List<BlockShape> laterShapes = new ArrayList<>();
            for (BlockShape shape : shapes) {
                MemorySegment block = shape.memory().allocate(confined, session, shape.bytes());
                if (shape.send() == SendMode.LATER) {
                    block.fill((byte) 0x5A);
                    out.pack(block, shape.send(), shape.receive());
                    later.add(block);
                    laterShapes.add(shape);
                } else {
                    Pattern.fill(shape.number(), block);
                    out.pack(block, shape.send(), shape.receive());
                    if (shape.send() == SendMode.SAFER) {
                        block.fill((byte) 0xA5);
                    }
                }
            }
            for (int i = 0; i < later.size(); i++) {
                Pattern.fill(laterShapes.get(i).number(), later.get(i));
            }
            out.endPacking();
        }
    }

    private static void unpack(IncomingMessage in, Arena session, List<BlockShape> shapes) {
        try (Arena confined = Arena.ofConfined()) {
            List<MemorySegment> blocks = new ArrayList<>();
            for (BlockShape shape : shapes) {
                MemorySegment block = shape.memory().allocate(confined, session, shape.bytes());
                in.unpack(block, shape.send(), shape.receive());
                if (shape.receive() == ReceiveMode.EXPRESS) {
                    Pattern.check(shape.number(), block);
                }
                blocks.add(block);
            }
            in.endUnpacking();
            for (int i = 0; i < blocks.size(); i++) {
                Pattern.check(shapes.get(i).number(), blocks.get(i));
            }
        }
    }

    private void carry(List<List<BlockShape>> messages) {
        together(
                () -> {
                    try (Arena session = sessions().session(0).newArena()) {
                        for (List<BlockShape> message : messages) {
                            try (OutgoingMessage out = channel(0).beginPacking(1)) {
                                pack(out, session, message);
                            }
                        }
                    }
                },
                () -> {
                    try (Arena session = sessions().session(1).newArena()) {
                        for (List<BlockShape> message : messages) {
                            try (IncomingMessage in = channel(1).beginUnpacking()) {
                                unpack(in, session, message);
                            }
                        }
                    }
                });
    }

    @Test
    default void shouldCarryEverySizeInEveryModeAndMemory() {
        open(2);
        carry(BlockShape.all(false).stream().map(List::of).toList());
    }

    @Test
    default void shouldCarryLargeBlocksInEveryModeAndMemory() {
        open(2);
        carry(BlockShape.all(true).stream()
                .filter(shape -> !shape.isVeryLarge() || !setup().selfDescribed() && shape.memory() != BlockMemory.HEAP)
                .map(List::of)
                .toList());
    }

    @Test
    default void shouldCarryBlocksOfAllKindsInOneMessage() {
        open(2);
        List<List<BlockShape>> messages = new ArrayList<>();
        for (int seed = 0; seed < 6; seed++) {
            List<BlockShape> shuffled = new ArrayList<>(BlockShape.all(false));
            Collections.shuffle(shuffled, new Random(seed));
            messages.add(shuffled.subList(0, 60));
            // without LATER blocks, after which the sender records everything
            messages.add(shuffled.stream()
                    .filter(shape -> shape.send() != SendMode.LATER)
                    .limit(60)
                    .toList());
        }
        messages.add(BlockShape.all(true).stream()
                .filter(shape -> !shape.isVeryLarge())
                .toList());
        carry(messages);
    }

    @Test
    default void shouldPassTheArrayOfUnpredictableSizeOfFigureOne() {
        open(2);
        int[] lengths = {0, 1, 27, 28, 1000, 100_000, 3};
        together(
                () -> {
                    for (int length : lengths) {
                        int[] array = new int[length];
                        Arrays.setAll(array, i -> i * length);
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.packInt(length);
                            out.pack(array, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                            out.endPacking();
                        }
                    }
                },
                () -> {
                    for (int length : lengths) {
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            int[] array = new int[in.unpackInt()];
                            in.unpack(array, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                            in.endUnpacking();
                            assertEquals(length, array.length);
                            for (int i = 0; i < length; i++) {
                                assertEquals(i * length, array[i]);
                            }
                            assertEquals(0, in.remote());
                        }
                    }
                });
    }

    @Test
    default void shouldCarryTypedValues() {
        open(2);
        String text = "Grüße, Madeleine \uD83E\uDDC1".repeat(50);
        together(
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.packByte((byte) -3).packBoolean(true).packInt(-77).packLong(Long.MIN_VALUE + 5);
                        out.packFloat(1.5f).packDouble(Math.PI).packUtf8(text).packUtf8("");
                        out.pack(new short[] {1, -2}, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        out.pack(new char[] {'x', 'ü'}, SendMode.SAFER, ReceiveMode.EXPRESS);
                        out.pack(new long[] {3, 4, 5}, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        out.pack(new float[] {0.5f}, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        out.pack(new double[] {0.25, 8}, SendMode.LATER, ReceiveMode.CHEAPER);
                        out.pack(new byte[] {9, 8, 7}, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        out.pack(ByteBuffer.wrap(new byte[] {0, 1, 2, 3}, 1, 2), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        out.packUtf8("the end");
                        out.endPacking();
                    }
                },
                () -> {
                    try (IncomingMessage in = channel(1).beginUnpacking(0)) {
                        assertEquals(-3, in.unpackByte());
                        assertTrue(in.unpackBoolean());
                        assertEquals(-77, in.unpackInt());
                        assertEquals(Long.MIN_VALUE + 5, in.unpackLong());
                        assertEquals(1.5f, in.unpackFloat());
                        assertEquals(Math.PI, in.unpackDouble());
                        assertEquals(text, in.unpackUtf8());
                        assertEquals("", in.unpackUtf8());
                        short[] shorts = new short[2];
                        char[] chars = new char[2];
                        long[] longs = new long[3];
                        float[] floats = new float[1];
                        double[] doubles = new double[2];
                        byte[] bytes = new byte[3];
                        ByteBuffer buffer =
                                ByteBuffer.allocateDirect(8).position(3).limit(5);
                        in.unpack(shorts, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        in.unpack(chars, SendMode.SAFER, ReceiveMode.EXPRESS);
                        in.unpack(longs, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        in.unpack(floats, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        in.unpack(doubles, SendMode.LATER, ReceiveMode.CHEAPER);
                        in.unpack(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        in.unpack(buffer, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        assertEquals("the end", in.unpackUtf8(7));
                        in.endUnpacking();
                        assertArrayEquals(new short[] {1, -2}, shorts);
                        assertArrayEquals(new char[] {'x', 'ü'}, chars);
                        assertArrayEquals(new long[] {3, 4, 5}, longs);
                        assertArrayEquals(new float[] {0.5f}, floats);
                        assertArrayEquals(new double[] {0.25, 8}, doubles);
                        assertArrayEquals(new byte[] {9, 8, 7}, bytes);
                        assertEquals(1, buffer.get(3));
                        assertEquals(2, buffer.get(4));
                        assertEquals(3, buffer.position());
                    }
                });
    }

    @Test
    default void shouldCarryMessagesWithoutBlocksAndBlocksWithoutBytes() {
        open(2);
        together(
                () -> {
                    for (int i = 0; i < 10; i++) {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            for (int k = 0; k < i; k++) {
                                out.pack(block(0), SEND_MODES.get(k % 3), RECEIVE_MODES.get(k % 2));
                            }
                            out.endPacking();
                        }
                        send(channel(0), 1, i, 5000);
                    }
                },
                () -> {
                    for (int i = 0; i < 10; i++) {
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            for (int k = 0; k < i; k++) {
                                in.unpack(block(0), SEND_MODES.get(k % 3), RECEIVE_MODES.get(k % 2));
                            }
                            in.endUnpacking();
                        }
                        receive(channel(1), i, 5000);
                    }
                });
    }

    @Test
    default void shouldTakePartsOfBlocks() {
        open(2);
        together(
                () -> {
                    MemorySegment whole = block(7, 100_000).asReadOnly();
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.pack(whole, 10, 20, SendMode.CHEAPER, ReceiveMode.EXPRESS);
                        out.pack(whole, 30, 90_000, SendMode.SAFER, ReceiveMode.CHEAPER);
                        assertThrows(
                                IndexOutOfBoundsException.class,
                                () -> out.pack(whole, 99_999, 2, SendMode.SAFER, ReceiveMode.CHEAPER));
                        out.endPacking();
                    }
                },
                () -> {
                    MemorySegment whole = block(100_000);
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        assertThrows(
                                IndexOutOfBoundsException.class,
                                () -> in.unpack(whole, -1, 2, SendMode.SAFER, ReceiveMode.CHEAPER));
                        assertThrows(
                                IllegalArgumentException.class,
                                () -> in.unpack(whole.asReadOnly(), 0, 2, SendMode.SAFER, ReceiveMode.CHEAPER));
                        in.unpack(whole, 10, 20, SendMode.CHEAPER, ReceiveMode.EXPRESS);
                        Pattern.check(7, 10, whole, 10, 20);
                        in.unpack(whole, 30, 90_000, SendMode.SAFER, ReceiveMode.CHEAPER);
                        in.endUnpacking();
                        Pattern.check(7, 10, whole, 10, 90_020);
                    }
                });
    }

    @Test
    default void shouldCarryMessagesOfManyBlocks() {
        open(2);
        int count = 10_000;
        for (ReceiveMode mode : ReceiveMode.values()) {
            together(
                    () -> {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            MemorySegment all = block(3, 24L * count);
                            for (int i = 0; i < count; i++) {
                                out.pack(all, 24L * i, 24, SendMode.CHEAPER, mode);
                            }
                            out.endPacking();
                        }
                    },
                    () -> {
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            MemorySegment all = block(24L * count);
                            for (int i = 0; i < count; i++) {
                                in.unpack(all, 24L * i, 24, SendMode.CHEAPER, mode);
                            }
                            in.endUnpacking();
                            Pattern.check(3, all);
                        }
                    });
        }
    }

    @Test
    default void shouldKeepTheOrderOfMessages() {
        open(2);
        int count = 5000;
        together(
                () -> {
                    MemorySegment block = block(8);
                    for (int i = 0; i < count; i++) {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.pack(Pattern.fill(i, block));
                            out.endPacking(); // from here on the block may be reused
                        }
                    }
                },
                () -> {
                    MemorySegment block = block(8);
                    for (int i = 0; i < count; i++) {
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            in.unpack(block);
                            in.endUnpacking();
                            Pattern.check(i, block);
                        }
                    }
                });
    }

    @Test
    default void shouldLetBlocksBeUsedAgainWhenPackingHasEnded() {
        open(2);
        int[] sizes = {100, 9000, 300_000};
        together(
                () -> {
                    for (int i = 0; i < 100; i++) {
                        MemorySegment block = block(i, sizes[i % 3]);
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.pack(block);
                            out.endPacking();
                        }
                        block.fill((byte) 0x66);
                    }
                },
                () -> {
                    for (int i = 0; i < 100; i++) {
                        receive(channel(1), i, sizes[i % 3]);
                    }
                });
    }
}
