package io.madeleine.testkit.messages;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.ContractViolation;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;

/** The common part of the contract tests of messages: sessions, threads that must end, and blocks. */
@Timeout(value = 90, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class MessageContract {
    static final long PATIENCE_NS = 40_000_000_000L;
    static final int[] SIZES = {0, 1, 7, 8, 111, 112, 113, 1023, 1024, 4096, 8192, 32768, 65536, (1 << 20) + 3, 16 << 20
    };

    @Parameter
    MessageSetup setup = MessageSetup.loops().findFirst().orElseThrow();

    /**
     * The arena of the current test. It is freed at once, since large blocks accumulate faster than they are collected.
     */
    private static volatile Arena memory = Arena.ofAuto();

    private static volatile boolean inHeap;

    private @Nullable LocalSessions sessions;

    /** The body of a test's thread. */
    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    void open(int size) {
        open(setup.sessions(size));
    }

    void open(LocalSessions.Builder builder) {
        memory = Arena.ofShared();
        inHeap = setup.postsHeapMemory();
        sessions = builder.open();
    }

    LocalSessions sessions() {
        LocalSessions opened = sessions;
        if (opened == null) {
            throw new IllegalStateException("the sessions are not open; expected open() first");
        }
        return opened;
    }

    Channel channel(int rank) {
        return sessions().channel(rank);
    }

    @AfterEach
    void close() {
        LocalSessions opened = sessions;
        sessions = null;
        if (opened != null) {
            try {
                opened.close();
            } finally {
                memory.close();
                memory = Arena.ofAuto();
            }
        }
    }

    // ---- threads

    static CompletableFuture<Void> start(Body body) {
        return start(Thread.ofPlatform().daemon(), body);
    }

    static CompletableFuture<Void> start(Thread.Builder builder, Body body) {
        CompletableFuture<Void> future = new CompletableFuture<>();
        builder.start(() -> {
            try {
                body.run();
                future.complete(null);
            } catch (Throwable e) {
                future.completeExceptionally(e);
            }
        });
        return future;
    }

    /**
     * Waits for the end of a thread. Throws its failure, or an error with all stack traces if the thread does not end
     * in time.
     */
    static void join(CompletableFuture<Void> thread) {
        try {
            thread.get(PATIENCE_NS, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof AssertionError failed ? failed : new AssertionError(e.getCause());
        } catch (TimeoutException _) {
            throw new ContractViolation("a thread hangs:\n" + stacks());
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted:\n" + stacks(), e);
        }
    }

    /** The stack traces of all other threads that are in our code. */
    private static String stacks() {
        StringBuilder text = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            List<String> ours = Arrays.stream(stack)
                    .map(StackTraceElement::toString)
                    .filter(frame -> frame.contains("io.madeleine"))
                    .toList();
            if (!ours.isEmpty() && thread != Thread.currentThread()) {
                text.append(thread).append(", ").append(thread.getState()).append('\n');
                ours.forEach(frame -> text.append("    ").append(frame).append('\n'));
            }
        });
        return text.toString();
    }

    /** Runs the bodies in parallel, each in a thread of its own; fails if one fails or hangs. */
    static void together(Body... bodies) {
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (Body body : bodies) {
            threads.add(start(body));
        }
        long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < PATIENCE_NS) {
            if (threads.stream().allMatch(CompletableFuture::isDone)
                    || threads.stream().anyMatch(CompletableFuture::isCompletedExceptionally)) {
                break;
            }
            pause(1);
        }
        threads.sort(Comparator.comparing(thread -> !thread.isCompletedExceptionally())); // join failed threads first
        for (CompletableFuture<Void> thread : threads) {
            join(thread);
        }
    }

    /** Waits until another thread has made the condition true. */
    static void eventually(String what, BooleanSupplier met) {
        long startNs = System.nanoTime();
        while (!met.getAsBoolean()) {
            if (System.nanoTime() - startNs > PATIENCE_NS) {
                throw new ContractViolation("not met in time: " + what + "; threads:\n" + stacks());
            }
            Thread.onSpinWait();
        }
    }

    /** Asserts that the message of a failure contains a text. */
    static void assertSays(String text, Throwable thrown) {
        String message = String.valueOf(thrown.getMessage());
        if (!message.contains(text)) {
            throw new ContractViolation("expected a failure that says \"" + text + "\", found: " + message);
        }
    }

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- messages

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

    /** Checks that the connection between two ranks works in both directions. */
    void checkUsable(int one, int other) {
        together(
                () -> {
                    send(channel(one), other, 1000, 8, 200, 70_000);
                    receive(channel(one), 2000, 8, 200, 70_000);
                },
                () -> {
                    receive(channel(other), 1000, 8, 200, 70_000);
                    send(channel(other), one, 2000, 8, 200, 70_000);
                });
        together(() -> send(channel(one), other, 3000, 12), () -> receive(channel(other), 3000, 12));
    }
}
