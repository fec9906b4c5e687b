package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestThreads.eventually;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The blocks of a test, which are freed at its end, and messages of them. */
final class TestBlocks {
    /**
     * The arena of the current test. It is freed at once, since large blocks accumulate faster than they are collected.
     */
    private static volatile Arena memory = Arena.ofAuto();

    private static volatile boolean inHeap;

    private TestBlocks() {}

    /**
     * Begins a test.
     *
     * @param heap whether its blocks lie in the heap
     */
    static void begin(boolean heap) {
        memory = Arena.ofShared();
        inHeap = heap;
    }

    /** Frees the blocks of the test. */
    static void free() {
        memory.close();
        memory = Arena.ofAuto();
    }

    /** Allocates a block that is freed at the end of the test. */
    static MemorySegment block(long bytes) {
        if (inHeap) {
            return MemorySegment.ofArray(new long[Math.toIntExact(bytes + 7 >>> 3)])
                    .asSlice(0, bytes);
        }
        return memory.allocate(Math.max(1, bytes), 8).asSlice(0, bytes);
    }

    /** Allocates a block with the contents of this number; see {@link Pattern}. */
    static MemorySegment block(int number, long bytes) {
        return Pattern.fill(number, block(bytes));
    }

    /** Sends a message with blocks of these sizes, CHEAPER/CHEAPER. */
    static void send(Channel channel, int remote, int number, int... sizes) {
        try (OutgoingMessage out = channel.beginPacking(remote)) {
            for (int i = 0; i < sizes.length; i++) {
                out.pack(block(number + i, sizes[i]), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            }
            out.endPacking();
        }
    }

    /** Receives what {@link #send} sent, and checks it. */
    static void receive(Channel channel, int number, int... sizes) {
        try (IncomingMessage in = channel.beginUnpacking()) {
            unpackAll(in, number, sizes);
        }
    }

    static void unpackAll(IncomingMessage in, int number, int... sizes) {
        MemorySegment[] blocks = new MemorySegment[sizes.length];
        for (int i = 0; i < sizes.length; i++) {
            blocks[i] = block(sizes[i]);
            in.unpack(blocks[i], SendMode.CHEAPER, ReceiveMode.CHEAPER);
        }
        in.endUnpacking();
        for (int i = 0; i < sizes.length; i++) {
            Pattern.check(number + i, blocks[i]);
        }
    }

    /** Closes an arena; the JVM refuses that while a system call uses its memory. */
    static void closeOnceNobodyIsInside(Arena arena) {
        eventually("the arena can be closed", () -> {
            try {
                arena.close();
                return true;
            } catch (IllegalStateException _) {
                return false;
            }
        });
    }
}
