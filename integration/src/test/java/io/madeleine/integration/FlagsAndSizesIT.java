package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every pair of flags with every size and kind of memory, from one process to another. */
class FlagsAndSizesIT {
    private static final int LARGE_BYTES = 16 << 20;

    private static final int[] SIZES = {
        0, 1, 7, 8, 111, 112, 113, 1023, 1024, 4096, 8192, 32_768, 65_536, (1 << 20) + 3, LARGE_BYTES
    };

    @ParameterizedTest
    @MethodSource("networks")
    void shouldCarryEveryBlockUnchanged(String network, boolean selfDescribed) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .over(network)
                .with("debug.self-described=" + selfDescribed)
                .optimizing()
                .start()) {
            processes.assertSuccess();
        }
    }

    private static Stream<Arguments> networks() {
        return Stream.concat(
                Cases.always("tcp, false", "sci, true", "dma, false"),
                Cases.thoroughly("tcp, true", "sci, false", "auto, false"));
    }

    /** Where the blocks of the two ends lie. */
    private enum Placement {
        HEAP,
        NATIVE,
        SESSION
    }

    /** One block of a message. */
    private record Block(
            int number, int bytes, SendMode send, ReceiveMode receive, Placement source, Placement target) {
        long seed() {
            return number * 0x1_0001L + bytes;
        }
    }

    /** Rank 0 sends all cases, one message each, and one of all; then rank 1 does. */
    static final class Program {
        private final Session session;
        private final Channel channel;
        private final int peer;
        private final Memory memory;

        Program(Session session, Arena arena) {
            this.session = session;
            this.channel = session.channel();
            this.peer = 1 - session.rank();
            this.memory = new Memory(session, arena);
        }

        public static void main(String[] args) {
            try (Session session = Session.open();
                    Arena arena = Arena.ofShared()) {
                new Program(session, arena).run();
            }
        }

        private void run() {
            List<List<Block>> messages = new ArrayList<>();
            for (Block block : blocks(SIZES.length)) {
                messages.add(List.of(block));
            }
            List<Block> mixed = blocks(SIZES.length - 1);
            Collections.shuffle(mixed, new Random(7));
            messages.add(mixed.reversed());
            messages.add(mixed);
            for (int sender = 0; sender < 2; sender++) {
                for (List<Block> message : messages) {
                    if (session.rank() == sender) {
                        send(message);
                    } else {
                        receive(message);
                    }
                }
            }
        }

        private static List<Block> blocks(int sizes) {
            List<Block> blocks = new ArrayList<>();
            for (int i = 0; i < sizes; i++) {
                for (SendMode send : SendMode.values()) {
                    for (ReceiveMode receive : ReceiveMode.values()) {
                        for (Placement source : placements(SIZES[i], blocks.size())) {
                            Placement target = Placement.values()[(blocks.size() / 3 + source.ordinal()) % 3];
                            blocks.add(new Block(blocks.size(), SIZES[i], send, receive, source, target));
                        }
                    }
                }
            }
            return blocks;
        }

        /** Large blocks, which take the time, come from one kind of memory per pair of flags, each kind in turn. */
        private static List<Placement> placements(int bytes, int turn) {
            List<Placement> all = List.of(Placement.values());
            return bytes < LARGE_BYTES ? all : List.of(all.get(turn % all.size()));
        }

        private void send(List<Block> message) {
            memory.reset();
            List<MemorySegment> later = new ArrayList<>();
            OutgoingMessage out = channel.beginPacking(peer, 20, SECONDS);
            for (Block block : message) {
                MemorySegment bytes = memory.take(block.source, block.bytes);
                if (block.send == SendMode.LATER) {
                    bytes.fill((byte) 0x55); // what counts is what is there at the end of packing
                } else {
                    Contents.fill(bytes, block.seed());
                }
                out.pack(bytes, block.send, block.receive);
                if (block.send == SendMode.SAFER) {
                    bytes.fill((byte) 0xAA); // the block is the program's again
                }
                later.add(bytes);
            }
            for (int i = 0; i < message.size(); i++) {
                if (message.get(i).send == SendMode.LATER) {
                    Contents.fill(later.get(i), message.get(i).seed());
                }
            }
            out.endPacking(20, SECONDS);
        }

        private void receive(List<Block> message) {
            memory.reset();
            List<MemorySegment> blocks = new ArrayList<>();
            IncomingMessage in = channel.beginUnpacking(20, SECONDS).within(20, SECONDS);
            for (Block block : message) {
                MemorySegment bytes = memory.take(block.target, block.bytes);
                in.unpack(bytes, block.send, block.receive);
                if (block.receive == ReceiveMode.EXPRESS) {
                    Contents.check(bytes, block.seed(), block);
                    bytes.fill((byte) 0); // it is complete: nothing may come any more, or the next check fails
                }
                blocks.add(bytes);
            }
            in.endUnpacking();
            for (int i = 0; i < message.size(); i++) {
                if (message.get(i).receive == ReceiveMode.CHEAPER) {
                    Contents.check(blocks.get(i), message.get(i).seed(), message.get(i));
                } else {
                    assertUntouched(blocks.get(i), message.get(i));
                }
            }
        }

        private static void assertUntouched(MemorySegment bytes, Block block) {
            for (long i = 0; i < bytes.byteSize(); i++) {
                if (bytes.get(java.lang.foreign.ValueLayout.JAVA_BYTE, i) != 0) {
                    throw new AssertionError(block + " was written after it had been handed over, at byte " + i);
                }
            }
        }
    }

    /** Blocks are cut from three large ones, which serve each message anew. */
    private static final class Memory {
        private static final int BYTES = 64 << 20;

        private final MemorySegment[] pools;
        private final long[] used;

        Memory(Session session, Arena arena) {
            pools = new MemorySegment[] {
                MemorySegment.ofArray(new byte[BYTES]), arena.allocate(BYTES), session.allocate(BYTES)
            };
            used = new long[pools.length];
        }

        void reset() {
            java.util.Arrays.fill(used, 0);
        }

        MemorySegment take(Placement placement, long bytes) {
            int pool = placement.ordinal();
            MemorySegment taken = pools[pool].asSlice(used[pool], bytes);
            used[pool] += bytes;
            return taken;
        }
    }
}
