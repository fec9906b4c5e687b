package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.receive;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.together;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.Pattern;
import io.madeleine.testkit.messages.TestThreads.Body;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The contract of stacks that overflow: a call fails before it changes anything, and messages continue to flow. */
public interface StackContract extends MessageFixture {
    List<Integer> BYTES = List.of(8, 3_000, 70_000);
    int LAST = -1;
    int WARM_UP = 6;

    /** How often an all-or-nothing call is tested: code that is compiled in between moves the end of the stack. */
    int DIVES = 3;

    long STACK_BYTES = 256 << 10;

    private static void inSmallStack(Body body) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(
                null,
                () -> {
                    try {
                        body.run();
                        done.complete(null);
                    } catch (Throwable e) {
                        done.completeExceptionally(e);
                    }
                },
                "diver",
                STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
        join(done);
    }

    private static void dive(Runnable action) {
        StackDive dive = new StackDive(action);
        inSmallStack(dive::dive);
        dive.check();
    }

    private void sendOne(MemorySegment block, int kind, boolean asynchronously) {
        try (OutgoingMessage out = channel(0).beginPacking(1, 10, TimeUnit.SECONDS)) {
            out.packInt(kind);
            if (kind >= 0) {
                out.pack(block, SendMode.CHEAPER, CHEAPER);
            }
            if (asynchronously) {
                assertTrue(out.endPackingAsync().await(10, TimeUnit.SECONDS), "the end of packing");
            } else {
                out.endPacking(10, TimeUnit.SECONDS);
            }
        }
    }

    private static int receiveOne(Channel channel, MemorySegment[] blocks, boolean asynchronously) {
        try (IncomingMessage in = channel.beginUnpacking(10, TimeUnit.SECONDS)) {
            int kind = in.unpackInt();
            if (kind >= 0) {
                in.unpack(blocks[kind], SendMode.CHEAPER, CHEAPER);
            }
            if (asynchronously) {
                assertTrue(in.endUnpackingAsync().await(10, TimeUnit.SECONDS), "the end of unpacking");
            } else {
                in.endUnpacking(10, TimeUnit.SECONDS);
            }
            if (kind >= 0) {
                Pattern.check(kind, blocks[kind]);
            }
            return kind;
        }
    }

    /** Receives a message whose sender may have run out of stack. */
    private static int receiveAny(Channel channel, MemorySegment[] blocks) {
        try {
            return receiveOne(channel, blocks, false);
        } catch (MessageAbortedException _) {
            return 0;
        }
    }

    private static MemorySegment[] blocks() {
        MemorySegment[] blocks = new MemorySegment[BYTES.size()];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = block(i, BYTES.get(i));
        }
        return blocks;
    }

    @Test
    default void shouldSendOnWhereAStackEndsWhileSending() {
        assumeTrue(!setup().selfDescribed(), "takes its time, and descriptions are blocks as others");
        open(2);
        MemorySegment[] blocks = blocks();
        MemorySegment[] into = blocks();
        together(
                () -> {
                    AtomicInteger count = new AtomicInteger();
                    Runnable sendNext = () -> {
                        int kind = count.getAndIncrement() % BYTES.size();
                        sendOne(blocks[kind], kind, count.get() % 2 == 0);
                    };
                    for (int i = 0; i < WARM_UP; i++) { // initialises classes: not at the end of the stack
                        sendNext.run();
                    }
                    dive(sendNext);
                    sendOne(blocks[0], LAST, false);
                },
                () -> {
                    while (receiveAny(channel(1), into) != LAST) {
                        // on to the next
                    }
                });
        checkUsable(0, 1);
        eventually("nothing is left to do", () -> sessions().demand(0) == 0);
    }

    @Test
    default void shouldReceiveOnWhereAStackEndsWhileReceiving() {
        assumeTrue(!setup().selfDescribed(), "takes its time, and descriptions are blocks as others");
        open(2);
        MemorySegment[] blocks = blocks();
        MemorySegment[] into = blocks();
        AtomicBoolean over = new AtomicBoolean();
        together(
                () -> {
                    for (int i = 0; !over.get(); i++) {
                        sendOne(blocks[i % BYTES.size()], i % BYTES.size(), false);
                    }
                    sendOne(blocks[0], LAST, false);
                },
                () -> {
                    AtomicInteger count = new AtomicInteger();
                    Runnable receiveNext = () -> receiveOne(channel(1), into, count.incrementAndGet() % 2 == 0);
                    for (int i = 0; i < WARM_UP; i++) {
                        receiveNext.run();
                    }
                    dive(receiveNext);
                    over.set(true);
                    while (receiveOne(channel(1), into, false) != LAST) {
                        // on to the next
                    }
                });
        checkUsable(0, 1);
        eventually("nothing is left to do", () -> sessions().demand(1) == 0);
    }

    @Test
    default void shouldSendInOneCallOrNotAtAllWhereAStackEnds() {
        assumeTrue(!setup().selfDescribed(), "descriptions are blocks as others");
        open(2);
        List<Integer> sent = new ArrayList<>();
        List<Integer> received = new ArrayList<>();
        together(
                () -> {
                    MemorySegment block = block(Integer.BYTES);
                    AtomicInteger count = new AtomicInteger();
                    Runnable sendNext = () -> {
                        int number = count.getAndIncrement();
                        block.set(JAVA_INT, 0, number);
                        channel(0).send(1, block, SendMode.CHEAPER, CHEAPER);
                        sent.add(number);
                    };
                    for (int i = 0; i < WARM_UP; i++) {
                        sendNext.run();
                    }
                    for (int i = 0; i < DIVES; i++) {
                        dive(sendNext);
                    }
                    block.set(JAVA_INT, 0, LAST);
                    channel(0).send(1, block, SendMode.CHEAPER, CHEAPER);
                },
                () -> {
                    MemorySegment block = block(Integer.BYTES);
                    while (true) {
                        try {
                            channel(1).receive(block, SendMode.CHEAPER, CHEAPER);
                        } catch (MessageAbortedException _) {
                            continue; // a call that was done in several steps
                        }
                        if (block.get(JAVA_INT, 0) == LAST) {
                            return;
                        }
                        received.add(block.get(JAVA_INT, 0));
                    }
                });
        assertEquals(sent, received);
        checkUsable(0, 1);
    }

    @Test
    default void shouldReceiveInOneCallOrNotAtAllWhereAStackEnds() {
        assumeTrue(!setup().selfDescribed(), "descriptions are blocks as others");
        open(2);
        AtomicBoolean over = new AtomicBoolean();
        together(
                () -> {
                    MemorySegment block = block(Integer.BYTES);
                    for (int i = 0; !over.get(); i++) {
                        block.set(JAVA_INT, 0, i);
                        channel(0).send(1, block, SendMode.CHEAPER, CHEAPER);
                    }
                    block.set(JAVA_INT, 0, LAST);
                    channel(0).send(1, block, SendMode.CHEAPER, CHEAPER);
                },
                () -> {
                    MemorySegment block = block(Integer.BYTES);
                    AtomicInteger last = new AtomicInteger(-1);
                    Runnable receiveNext = () -> {
                        channel(1).receive(0, block, SendMode.CHEAPER, CHEAPER);
                        assertEquals(last.incrementAndGet(), block.get(JAVA_INT, 0), "a message was lost or repeated");
                    };
                    for (int i = 0; i < WARM_UP; i++) {
                        receiveNext.run();
                    }
                    for (int i = 0; i < DIVES; i++) {
                        dive(receiveNext);
                    }
                    over.set(true);
                    do {
                        channel(1).receive(block, SendMode.CHEAPER, CHEAPER);
                    } while (block.get(JAVA_INT, 0) != LAST);
                });
        checkUsable(0, 1);
        eventually("nothing is left to do", () -> sessions().demand(1) == 0);
    }

    @Test
    default void shouldGiveUpAMessageWhoseUserCouldNotCloseIt() {
        open(2);
        together(
                () -> {
                    inSmallStack(() -> {
                        @SuppressWarnings("resource") // its close fails on purpose
                        OutgoingMessage out = channel(0).beginPacking(1).packInt(1);
                        new StackDive(new VainClose(out)).dive();
                    });
                    send(channel(0), 1, 7, 100);
                    send(channel(0), 1, 8, 70_000);
                    send(channel(0), 1, 9, 100);
                },
                () -> {
                    assertThrows(MessageAbortedException.class, () -> {
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            in.unpackInt();
                            in.endUnpacking();
                        }
                    });
                    receive(channel(1), 7, 100);
                    inSmallStack(() -> new StackDive(new VainClose(channel(1).beginUnpacking())).dive());
                    receive(channel(1), 9, 100);
                });
        checkUsable(0, 1);
    }
}
