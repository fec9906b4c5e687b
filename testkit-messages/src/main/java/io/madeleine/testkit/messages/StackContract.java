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

/** The contract of stacks that overflow: a call fails before it changes anything, and messages continue to flow. */
abstract class StackContract extends TurnContract {
    private static final int[] BYTES = {8, 3_000, 70_000};
    private static final int LAST = -1;
    private static final int WARM_UP = 6;

    /** How often an all-or-nothing call is tested: code that is compiled in between moves the end of the stack. */
    private static final int DIVES = 3;

    private static final long STACK_BYTES = 256 << 10;

    /** How many calls must succeed, counted from the end of the stack upwards. */
    private static final int SUCCESSES = 6;

    /** The distance of attempts in frames: an overflow takes long. */
    private static final int FRAMES_PER_TRY = 3;

    /**
     * Runs an action at the end of the stack, again with some frames more room, and so on, until it has enough room.
     */
    private static final class Dive {
        private static final int CALLS_UNTIL_SETTLED = 1_000;

        /**
         * {@link Runnable#run}. The field is not a constant, so that no compiler inlines the call into {@link #dive}: a
         * frame of {@code dive} would then already contain the room that the action needs, and the action would never
         * be short of room.
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

        /**
         * Returns the handle after it has been linked and compiled, since that must not happen at the end of the stack.
         */
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
                throw new AssertionError(e); // a Runnable throws no checked exception
            }
        }

        @SuppressWarnings("InfiniteRecursion") // on purpose
        void dive() {
            try {
                dive();
            } catch (StackOverflowError _) {
                // attempts begin here, on the way up
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
        assertTrue(dive.overflows > 0, "no call ran out of stack");
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

    /** Receives a message whose sender may have run out of stack. */
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
        eventually("nothing is left to do", () -> sessions().demand(1) == 0);
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

    /** Makes a close fail for lack of stack as detected by the message itself, not by an overflow in the call. */
    private static final class VainClose implements Runnable {
        private final AutoCloseable message;
        private boolean hasFailed;
        private @Nullable StackOverflowError last;

        VainClose(AutoCloseable message) {
            this.message = message;
            boolean _ = isSeenByMessage(new StackOverflowError()); // initialises classes: not at the end of the stack
        }

        @Override
        public void run() {
            if (hasFailed || isSeenByMessage(last)) {
                hasFailed = true;
                return;
            }
            try {
                message.close();
                throw new AssertionError("close succeeded; expected it to run out of stack", last);
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
                        @SuppressWarnings("resource") // its close fails on purpose
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
