package io.madeleine.testkit.messages;

import io.madeleine.testkit.ContractViolation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** The threads of a test: each one must end in time, and reports what it throws. */
final class TestThreads {
    private static final long PATIENCE_NS = 40_000_000_000L;

    private TestThreads() {}

    /** The body of a test's thread. */
    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

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
}
