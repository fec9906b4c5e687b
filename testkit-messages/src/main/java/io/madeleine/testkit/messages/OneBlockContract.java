package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.assertSays;
import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.Pattern;
import io.madeleine.testkit.messages.TestThreads.Body;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The contract of messages of one block that one call sends or receives: they behave like messages in several steps,
 * and the two forms can be mixed.
 */
public interface OneBlockContract extends MessageFixture {
    int SERIES = 400;
    int SENDERS = 3;
    int EACH_SENDS = 300;

    /** More small messages than a ring holds. */
    int MOST_AT_ONCE = 200_000;

    /** More bytes than a network buffers while its peer receives nothing. */
    int HUGE = 24 << 20;

    @Test
    default void shouldCarryABlockWhicheverFormTheEndsTake() {
        open(2);
        Random random = new Random(1);
        List<OneBlockSample> samples = new ArrayList<>();
        for (int i = 0; i < SERIES; i++) {
            samples.add(OneBlockSample.random(i, random));
        }
        together(
                () -> {
                    try (Arena confined = Arena.ofConfined()) {
                        MemorySegment memory = OneBlockSample.memory(new Random(2), confined);
                        samples.forEach(sample -> sample.sendTo(channel(0), memory));
                    }
                },
                () -> {
                    Random ways = new Random(3);
                    try (Arena confined = Arena.ofConfined()) {
                        MemorySegment memory = OneBlockSample.memory(new Random(4), confined);
                        samples.forEach(sample -> sample.receiveFrom(channel(1), memory, ways));
                    }
                });
        checkUsable(0, 1);
    }

    @Test
    default void shouldKeepTheOrderOfEachThreadThatSendsInOneCall() {
        open(2);
        Body[] bodies = new Body[SENDERS + 1];
        for (int sender = 0; sender < SENDERS; sender++) {
            int number = sender;
            bodies[sender] = () -> {
                MemorySegment block = block(8);
                for (int i = 0; i < EACH_SENDS; i++) {
                    block.set(JAVA_INT, 0, number);
                    block.set(JAVA_INT, 4, i);
                    if (i % 16 < 12) {
                        channel(0).send(1, block, SendMode.CHEAPER, CHEAPER);
                    } else {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.pack(block, SendMode.CHEAPER, CHEAPER);
                            out.endPacking();
                        }
                    }
                }
            };
        }
        bodies[SENDERS] = () -> {
            MemorySegment block = block(8);
            int[] next = new int[SENDERS];
            for (int i = 0; i < SENDERS * EACH_SENDS; i++) {
                channel(1).receive(block, SendMode.CHEAPER, CHEAPER);
                int sender = block.get(JAVA_INT, 0);
                assertEquals(next[sender]++, block.get(JAVA_INT, 4));
            }
        };
        together(bodies);
        eventually("nothing is left to do", () -> sessions().demand(0) == 0);
    }

    @Test
    default void shouldHandEachMessageToOneOfThoseWhoReceiveInOneCall() {
        open(2);
        AtomicInteger sum = new AtomicInteger();
        Body receiver = () -> {
            MemorySegment block = block(8);
            for (int i = 0; i < EACH_SENDS; i++) {
                channel(1).receive(0, block, SendMode.CHEAPER, CHEAPER);
                sum.addAndGet(block.get(JAVA_INT, 0));
            }
        };
        together(receiver, receiver, () -> {
            MemorySegment block = block(8);
            for (int i = 0; i < 2 * EACH_SENDS; i++) {
                block.set(JAVA_INT, 0, i);
                channel(0).send(1, block, SendMode.CHEAPER, CHEAPER);
            }
        });
        assertEquals(EACH_SENDS * (2 * EACH_SENDS - 1), sum.get());
    }

    @Test
    default void shouldTellWhoReceivesABlockThatWasNotSentSoAndGoOn() {
        open(2);
        int[][] packed = {{8}, {8}, {}, {8, 8}, {8, 70_000}, {70_000}, {70_000}};
        int[] unpacked = {7, 9, 8, 8, 8, 8, 69_999};
        together(
                () -> {
                    for (int[] sizes : packed) {
                        send(channel(0), 1, 1, sizes);
                        channel(0).send(1, block(2, 12), SendMode.CHEAPER, CHEAPER);
                    }
                },
                () -> {
                    for (int bytes : unpacked) {
                        AsymmetricMessageException thrown = assertThrows(
                                AsymmetricMessageException.class,
                                () -> channel(1).receive(block(bytes), SendMode.CHEAPER, CHEAPER));
                        assertSays("from rank 0 to rank 1 on channel default", thrown);
                        MemorySegment block = block(12);
                        channel(1).receive(block, SendMode.CHEAPER, CHEAPER);
                        Pattern.check(2, block);
                    }
                });
        checkUsable(0, 1);
    }

    @Test
    default void shouldBoundTheWaitsOfOneCall() throws Exception {
        open(2);
        MemorySegment small = block(8);
        assertThrows(
                DeadlineExceededException.class,
                () -> channel(1).receive(0, small, 0, 8, SendMode.CHEAPER, CHEAPER, 5, TimeUnit.MILLISECONDS));
        assertThrows(
                DeadlineExceededException.class,
                () -> channel(1).receive(small, 0, 8, SendMode.CHEAPER, CHEAPER, 5, TimeUnit.MILLISECONDS));
        try (OutgoingMessage inTheWay = channel(0).beginPacking(1)) {
            CompletableFuture<Void> other = start(() -> assertThrows(
                    DeadlineExceededException.class,
                    () -> channel(0).send(1, small, 0, 8, SendMode.CHEAPER, CHEAPER, 5, TimeUnit.MILLISECONDS)));
            join(other);
            inTheWay.packInt(5);
            inTheWay.endPacking();
        }
        assertThrows(
                DeadlineExceededException.class,
                () -> channel(0).send(1, block(HUGE), 0, HUGE, SendMode.CHEAPER, CHEAPER, 20, TimeUnit.MILLISECONDS));
        channel(1).receive(0, small, 0, 4, SendMode.SAFER, EXPRESS);
        assertThrows(MessageAbortedException.class, () -> channel(1).receive(block(HUGE), SendMode.CHEAPER, CHEAPER));
        checkUsable(0, 1);
    }

    @Test
    default void shouldDeliverWhatASendInOneCallDoesNotFailForAndNothingElse() {
        open(2);
        int bytes = 70_000;
        int last = 300;
        BitSet sent = new BitSet();
        BitSet received = new BitSet();
        together(
                () -> {
                    Random random = new Random(5);
                    MemorySegment block = block(bytes);
                    for (int i = 0; i < last; i++) {
                        block.set(JAVA_INT, 0, i);
                        Pattern.fill(i, block.asSlice(4));
                        try {
                            channel(0)
                                    .send(
                                            1,
                                            block,
                                            0,
                                            bytes,
                                            SendMode.CHEAPER,
                                            CHEAPER,
                                            random.nextInt(200),
                                            MICROSECONDS);
                            sent.set(i);
                        } catch (DeadlineExceededException _) {
                            // the message must not arrive
                        }
                    }
                    block.set(JAVA_INT, 0, last);
                    channel(0).send(1, block, SendMode.CHEAPER, CHEAPER);
                },
                () -> {
                    MemorySegment block = block(bytes);
                    for (int number = 0; number < last; ) {
                        try {
                            channel(1).receive(0, block, SendMode.CHEAPER, CHEAPER);
                            number = block.get(JAVA_INT, 0);
                            if (number < last) {
                                Pattern.check(number, block.asSlice(4));
                                assertFalse(received.get(number), "received twice: message " + number);
                                received.set(number);
                            }
                        } catch (MessageAbortedException _) {
                            // the sender has aborted the message
                        }
                    }
                });
        assertEquals(sent, received);
    }

    @Test
    default void shouldNotSendOrReceiveWhatIsNoMemoryForIt() {
        open(2);
        Arena closed = Arena.ofShared();
        MemorySegment freed = closed.allocate(8);
        closed.close();
        assertThrows(MessageAbortedException.class, () -> channel(0).send(1, freed, SendMode.CHEAPER, CHEAPER));
        assertThrows(MessageAbortedException.class, () -> channel(1).receive(0, block(8), SendMode.CHEAPER, CHEAPER));
        assertThrows(
                IndexOutOfBoundsException.class, () -> channel(0).send(1, block(8), 1, 8, SendMode.CHEAPER, CHEAPER));
        assertThrows(
                IndexOutOfBoundsException.class, () -> channel(1).receive(block(8), 1, 8, SendMode.CHEAPER, CHEAPER));
        assertThrows(
                IllegalArgumentException.class,
                () -> channel(1).receive(block(8).asReadOnly(), SendMode.CHEAPER, CHEAPER));
        assertThrows(IllegalArgumentException.class, () -> channel(0).send(0, block(8), SendMode.CHEAPER, CHEAPER));
        channel(0).send(1, block(1, 8), SendMode.CHEAPER, CHEAPER);
        assertThrows(MessageAbortedException.class, () -> channel(1).receive(0, freed, SendMode.CHEAPER, CHEAPER));
        checkUsable(0, 1);
    }

    @Test
    default void shouldSendAtOnceOrNotAtAll() {
        open(2);
        MemorySegment block = block(8);
        int sent = 0;
        while (sent < MOST_AT_ONCE && trySend(Pattern.fill(sent, block))) {
            sent++;
        }
        for (int i = 0; i < sent; i++) {
            channel(1).receive(0, block, SendMode.SAFER, EXPRESS);
            Pattern.check(i, block);
        }
        assertTrue(channel(1).tryBeginUnpacking(0).isEmpty(), "nothing of a message that was not sent");
        checkUsable(0, 1);
    }

    @Test
    default void shouldSendAtOnceAgainThoughNobodyDrivesTheSender() {
        open(2);
        MemorySegment block = block(8);
        for (int sent = 0, taken = 0; taken < 1_000; taken++) {
            while (sent < taken + MOST_AT_ONCE && trySend(Pattern.fill(sent, block))) {
                sent++;
            }
            if (sent == 0) {
                return; // a network that sends nothing at once
            }
            int next = sent;
            if (taken == next) {
                eventually("there is room again", () -> trySend(Pattern.fill(next, block)));
                sent++;
            }
            channel(1).receive(0, block, SendMode.SAFER, EXPRESS);
            Pattern.check(taken, block);
        }
    }

    @Test
    default void shouldNotSendAtOnceWhileAnotherMessageIsSent() {
        open(2);
        MemorySegment block = block(8);
        try (OutgoingMessage open = channel(0).beginPacking(1)) {
            assertFalse(trySend(block));
            open.pack(Pattern.fill(7, block), SendMode.SAFER, EXPRESS);
            open.endPacking();
        }
        MemorySegment received = block(8);
        channel(1).receive(0, received, SendMode.SAFER, EXPRESS);
        Pattern.check(7, received);
        checkUsable(0, 1);
    }

    @Test
    default void shouldTellWhatCanNeverBeSentAtOnce() {
        open(2);
        MemorySegment block = block(8);
        assertThrows(
                IndexOutOfBoundsException.class, () -> channel(0).trySend(1, block, 1, 8, SendMode.SAFER, EXPRESS));
        assertThrows(IllegalArgumentException.class, () -> channel(0).trySend(0, block, 0, 8, SendMode.SAFER, EXPRESS));
        sessions().die(1);
        assertThrows(PeerFailedException.class, () -> {
            long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (System.nanoTime() - giveUpNs < 0) {
                boolean _ = trySend(block);
                int _ = sessions().session(0).progress();
            }
        });
    }

    /** A message that does not fit one packet is not sent at all. */
    @Test
    default void shouldSendAHeaderAndABodyAtOnceOrNotAtAll() {
        open(2);
        int headerBytes = 56;
        for (int bodyBytes : new int[] {0, 1, 24, 300, 2_000, 6_000, 100_000}) {
            MemorySegment blocks = Pattern.fill(bodyBytes, block(3 + headerBytes + bodyBytes));
            if (!trySend(blocks, 3, headerBytes, bodyBytes)) {
                assertTrue(channel(1).tryBeginUnpacking(0).isEmpty(), "nothing of a message that was not sent");
                continue;
            }
            MemorySegment header = block(headerBytes);
            MemorySegment body = block(bodyBytes);
            try (IncomingMessage message = channel(1).beginUnpacking(0)) {
                message.unpack(header, SendMode.SAFER, EXPRESS);
                assertEquals(-1, blocks.asSlice(3, headerBytes).mismatch(header), bodyBytes + " bytes behind it");
                message.unpack(body, SendMode.CHEAPER, CHEAPER);
                message.endUnpacking();
            }
            assertEquals(-1, blocks.asSlice(3 + headerBytes).mismatch(body), bodyBytes + " bytes");
        }
        checkUsable(0, 1);
    }

    @Test
    default void shouldTellWhichHeadersAndBodiesCanNeverBeSentAtOnce() {
        open(2);
        MemorySegment blocks = block(8);
        for (long[] place : new long[][] {{-1, 4, 4}, {0, 9, 0}, {0, 4, 5}, {1, 4, 4}, {0, -1, 4}, {0, 4, -1}}) {
            assertThrows(IndexOutOfBoundsException.class, () -> trySend(blocks, place[0], place[1], place[2]));
        }
        assertThrows(IndexOutOfBoundsException.class, () -> trySend(blocks, 4, 4, Long.MAX_VALUE));
        assertThrows(
                IllegalArgumentException.class,
                () -> channel(0).trySend(0, blocks, 0, 4, 4, SendMode.CHEAPER, CHEAPER));
        checkUsable(0, 1);
    }

    @Test
    default void shouldHandAHeaderAndABodySentAtOnceToTheHandler() {
        open(2);
        MemorySegment received = block(8);
        AtomicInteger sum = new AtomicInteger();
        channel(1).onMessage(message -> {
            message.unpack(received, 0, 4, SendMode.SAFER, EXPRESS);
            message.unpack(received, 4, 4, SendMode.CHEAPER, CHEAPER);
            message.endUnpacking();
            message.close();
            sum.addAndGet(received.get(JAVA_INT, 0) + 2 * received.get(JAVA_INT, 4));
        });
        MemorySegment blocks = block(8);
        int expected = 0;
        for (int i = 1; i <= 100; i++) {
            blocks.set(JAVA_INT, 0, i);
            blocks.set(JAVA_INT, 4, 1000 + i);
            expected += trySend(blocks, 0, 4, 4) ? i + 2 * (1000 + i) : 0;
        }
        int wanted = expected;
        eventually("all are handled", () -> sum.get() == wanted);
    }

    private boolean trySend(MemorySegment blocks, long offset, long headerBytes, long bodyBytes) {
        return channel(0).trySend(1, blocks, offset, headerBytes, bodyBytes, SendMode.CHEAPER, CHEAPER);
    }

    private boolean trySend(MemorySegment block) {
        return channel(0).trySend(1, block, 0, block.byteSize(), SendMode.SAFER, EXPRESS);
    }

    @Test
    default void shouldHandAMessageSentInOneCallToTheHandler() {
        open(2);
        AtomicInteger sum = new AtomicInteger();
        channel(1).onMessage(message -> {
            sum.addAndGet(message.unpackInt());
            message.endUnpacking();
            message.close();
        });
        MemorySegment block = block(4);
        for (int i = 1; i <= 100; i++) {
            block.set(JAVA_INT, 0, i);
            channel(0).send(1, block, SendMode.SAFER, EXPRESS);
        }
        eventually("all are handled", () -> sum.get() == 5050);
    }

    @Test
    default void shouldFailInOneCallOnceThePeerHasDied() {
        open(2);
        MemorySegment block = block(8);
        together(
                () -> {
                    for (int i = 0; i < 3; i++) {
                        channel(0).send(1, block(i, 8), SendMode.CHEAPER, CHEAPER);
                    }
                },
                () -> {
                    for (int i = 0; i < 3; i++) {
                        channel(1).receive(block, SendMode.CHEAPER, CHEAPER);
                        Pattern.check(i, block);
                    }
                });
        sessions().die(0);
        PeerFailedException thrown =
                assertThrows(PeerFailedException.class, () -> channel(1).receive(0, block, SendMode.CHEAPER, CHEAPER));
        assertEquals(0, thrown.rank());
        assertThrows(PeerFailedException.class, () -> channel(1).receive(block, SendMode.CHEAPER, CHEAPER));
        assertThrows(PeerFailedException.class, () -> channel(1).send(0, block, SendMode.CHEAPER, CHEAPER));
        eventually("nothing is left to do", () -> sessions().demand(1) == 0);
    }
}
