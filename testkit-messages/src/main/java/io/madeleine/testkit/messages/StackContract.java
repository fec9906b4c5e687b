package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
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
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The contract of stacks that come to their end: a call fails before it changes anything, and messages flow on. */
abstract class StackContract extends TurnContract {
    private static final int[] BYTES = {8, 3_000, 70_000};
    private static final int LAST = -1;
    private static final int WARM_UP = 6;

    /** So often is a call tried that is done as a whole or not at all: what is compiled meanwhile moves the end of the stack. */
    private static final int DIVES = 3;

    private static final long STACK_BYTES = 256 << 10;

    /** So many calls are to succeed, from the end of the stack upwards. */
    private static final int SUCCESSES = 6;

    /** A try is made every so many frames: an overflow takes its time. */
    private static final int FRAMES_PER_TRY = 3;

    /** Does something at the end of the stack, and again with a frame more room, and so on, until there is room enough. */
    private static final class Dive {
        private static final int CALLS_UNTIL_SETTLED = 1_000;

        /**
         * {@link Runnable#run}, which no compiler inlines, as this is not a constant: a frame of {@link #dive} that had the room for
         * what is tried would end the dive where there is room for it, and nothing would be tried without.
         */
        @SuppressWarnings("FieldMayBeFinal")
        private static MethodHandle run = settled();

        private final Runnable action;
        private int frames;
        private int overflows;
        private int successes;

        Dive(Runnable action) {
            this.action = action;
        }

        /** What is called for the first time, or often, is made and compiled on the way: not down there. */
        private static MethodHandle settled() {
            try {
                MethodHandle run = MethodHandles.publicLookup()
                        .findVirtual(Runnable.class, "run", MethodType.methodType(void.class));
                Runnable nothing = () -> {};
                for (int i = 0; i < CALLS_UNTIL_SETTLED; i++) {
                    run.invokeExact(nothing);
                }
                return run;
            } catch (Throwable e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private void attempt() {
            try {
                run.invokeExact(action);
            } catch (Error | RuntimeException e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError(e); // a Runnable throws none
            }
        }

        @SuppressWarnings("InfiniteRecursion") // that is what it is for
        void dive() {
            try {
                dive();
            } catch (StackOverflowError _) {
                // up from here
            }
            if (successes < SUCCESSES && ++frames % FRAMES_PER_TRY == 0) {
                try {
                    attempt();
                    successes++;
                } catch (StackOverflowError _) {
                    overflows++;
                }
            }
        }
    }

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
        Dive dive = new Dive(action);
        inSmallStack(dive::dive);
        assertTrue(dive.overflows > 0, "no stack came to its end");
        assertEquals(SUCCESSES, dive.successes);
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

    /** Whose sender's stack came to its end, perhaps. */
    private static int receiveAny(Channel channel, MemorySegment[] blocks) {
        try {
            return receiveOne(channel, blocks, false);
        } catch (MessageAbortedException _) {
            return 0;
        }
    }

    private static MemorySegment[] blocks() {
        MemorySegment[] blocks = new MemorySegment[BYTES.length];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = block(i, BYTES[i]);
        }
        return blocks;
    }

    @Test
    void shouldSendOnWhereAStackEndsWhileSending() {
        assumeTrue(!setup.selfDescribed(), "takes its time, and descriptions are blocks as others");
        open(2);
        MemorySegment[] blocks = blocks();
        MemorySegment[] into = blocks();
        together(
                () -> {
                    AtomicInteger count = new AtomicInteger();
                    Runnable sendNext = () -> {
                        int kind = count.getAndIncrement() % BYTES.length;
                        sendOne(blocks[kind], kind, count.get() % 2 == 0);
                    };
                    for (int i = 0; i < WARM_UP; i++) { // classes are not initialised down there
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
        assertEquals(0, sessions().demand(0));
    }

    @Test
    void shouldReceiveOnWhereAStackEndsWhileReceiving() {
        assumeTrue(!setup.selfDescribed(), "takes its time, and descriptions are blocks as others");
        open(2);
        MemorySegment[] blocks = blocks();
        MemorySegment[] into = blocks();
        AtomicBoolean over = new AtomicBoolean();
        together(
                () -> {
                    for (int i = 0; !over.get(); i++) {
                        sendOne(blocks[i % BYTES.length], i % BYTES.length, false);
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
        assertEquals(0, sessions().demand(1));
    }

    @Test
    void shouldSendInOneCallOrNotAtAllWhereAStackEnds() {
        assumeTrue(!setup.selfDescribed(), "descriptions are blocks as others");
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
                            continue; // where it took several steps
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
    void shouldReceiveInOneCallOrNotAtAllWhereAStackEnds() {
        assumeTrue(!setup.selfDescribed(), "descriptions are blocks as others");
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
                        assertEquals(last.incrementAndGet(), block.get(JAVA_INT, 0), "none is lost, none comes again");
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
        assertEquals(0, sessions().demand(1));
    }

    /** Has a close fail for want of room for it, as seen by the message: not for want of room even for the call. */
    private static final class VainClose implements Runnable {
        private final AutoCloseable message;
        private boolean hasFailed;
        private @Nullable StackOverflowError last;

        VainClose(AutoCloseable message) {
            this.message = message;
            boolean _ = isSeenByMessage(new StackOverflowError()); // classes are not initialised down there
        }

        @Override
        public void run() {
            if (hasFailed || isSeenByMessage(last)) {
                hasFailed = true;
                return;
            }
            try {
                message.close();
                throw new AssertionError("closed", last);
            } catch (StackOverflowError e) {
                last = e;
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        private static boolean isSeenByMessage(@Nullable StackOverflowError seen) {
            return seen != null && seen.getStackTrace()[0].getMethodName().equals("ensureToClose");
        }
    }

    @Test
    void shouldGiveUpAMessageWhoseUserCouldNotCloseIt() {
        open(2);
        together(
                () -> {
                    inSmallStack(() -> {
                        @SuppressWarnings("resource") // that is what does not work
                        OutgoingMessage out = channel(0).beginPacking(1).packInt(1);
                        new Dive(new VainClose(out)).dive();
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
                    inSmallStack(() -> new Dive(new VainClose(channel(1).beginUnpacking())).dive());
                    receive(channel(1), 9, 100);
                });
        checkUsable(0, 1);
    }
}
