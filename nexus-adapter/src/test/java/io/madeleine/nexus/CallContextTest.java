package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The call that is carried out is known, with its deadline and its cancellation, to other threads that work for it. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallContextTest {
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger interrupted = new AtomicInteger();
    private final CountDownLatch never = new CountDownLatch(1);

    @RemoteService
    interface Front {
        @CallTimeout(millis = 5_000)
        List<Long> leftElsewhere() throws Exception;

        CompletableFuture<Integer> waitsElsewhere();

        CompletableFuture<Integer> callsAndWaits();

        @CallTimeout(millis = 5_000)
        Flow.Publisher<Boolean> itemsOfACall();
    }

    @RemoteService
    interface Back {
        long leftMillis();

        CompletableFuture<Integer> waits();
    }

    private final class BackImplementation implements Back {
        @Override
        public long leftMillis() {
            return TimeUnit.NANOSECONDS.toMillis(
                    RemoteCall.current().orElseThrow().remainingNs());
        }

        @Override
        public CompletableFuture<Integer> waits() {
            return CompletableFuture.completedFuture(waitUntilInterrupted());
        }
    }

    private int waitUntilInterrupted() {
        waiting.incrementAndGet();
        try {
            never.await();
        } catch (InterruptedException e) {
            interrupted.incrementAndGet();
        }
        return 0;
    }

    /** Works in threads of an executor. */
    private final class FrontImplementation implements Front {
        private final Context context;
        private final ExecutorService threads;
        private final AtomicInteger cancelActions = new AtomicInteger();
        private final CompletableFuture<Integer> unanswered = new CompletableFuture<>();

        FrontImplementation(Context context, ExecutorService threads) {
            this.context = context;
            this.threads = threads;
        }

        @Override
        public List<Long> leftElsewhere() throws Exception {
            Back back = context.service(1, Back.class);
            CompletableFuture<Long> ran = new CompletableFuture<>();
            threads.execute(RemoteCall.wrap(() -> {
                ran.complete(back.leftMillis());
            }));
            Callable<Long> callable = RemoteCall.wrap((Callable<Long>) back::leftMillis);
            return List.of(
                    ran.get(),
                    threads.submit(callable).get(),
                    CompletableFuture.supplyAsync(RemoteCall.wrapSupplier(back::leftMillis), threads)
                            .join(),
                    CompletableFuture.supplyAsync(back::leftMillis, RemoteCall.wrap(threads))
                            .join(),
                    CompletableFuture.supplyAsync(back::leftMillis, threads).join()); // knows nothing
        }

        @Override
        public CompletableFuture<Integer> waitsElsewhere() {
            RemoteCall.current().orElseThrow().onCancel(cancelActions::incrementAndGet);
            CompletableFuture<Integer> other =
                    CompletableFuture.supplyAsync(CallContextTest.this::waitUntilInterrupted, RemoteCall.wrap(threads));
            return CompletableFuture.completedFuture(waitUntilInterrupted() + other.join());
        }

        @Override
        public CompletableFuture<Integer> callsAndWaits() {
            CompletableFuture<Integer> _ = context.service(1, Back.class).waits();
            return unanswered;
        }

        @Override
        public Flow.Publisher<Boolean> itemsOfACall() {
            return Publishers.of(() -> List.of(RemoteCall.current().isPresent()).iterator());
        }
    }

    @Test
    void shouldLetDeadlinesFollowToWrappedTasksAndExecutors() throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool();
                World world = new World("sci", 2, context -> {
                    context.export(Front.class, new FrontImplementation(context, threads));
                    context.export(Back.class, new BackImplementation());
                })) {
            List<Long> left = world.of(1).service(0, Front.class).leftElsewhere();
            for (long each : left.subList(0, 4)) {
                assertTrue(each > 0 && each <= 5_000, left::toString);
            }
            assertTrue(left.get(4) > 5_000, left::toString);
        }
    }

    @Test
    void shouldInterruptWrappedTasksAndRunActionsIfTheCallIsCancelled() throws Exception {
        AtomicReference<FrontImplementation> front = new AtomicReference<>();
        try (ExecutorService threads = Executors.newCachedThreadPool();
                World world = new World("sci", 2, context -> {
                    FrontImplementation made = new FrontImplementation(context, threads);
                    context.export(Front.class, made);
                    if (context.rank() == 0) {
                        front.set(made);
                    }
                })) {
            CompletableFuture<Integer> call =
                    world.of(1).service(0, Front.class).waitsElsewhere();
            World.await(() -> waiting.get() == 2); // what is cancelled before it begins never runs
            assertTrue(call.cancel(true));
            World.await(
                    () -> interrupted.get() == 2 && front.get().cancelActions.get() == 1);
            assertFalse(
                    threads.submit(() -> Thread.currentThread().isInterrupted()).get());
        }
    }

    @Test
    void shouldGiveUpTheCallsThatACancelledCallHasMade() throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool();
                World world = new World("sci", 2, context -> {
                    context.export(Front.class, new FrontImplementation(context, threads));
                    context.export(Back.class, new BackImplementation());
                })) {
            CompletableFuture<Integer> call =
                    world.of(1).service(0, Front.class).callsAndWaits();
            World.await(() -> waiting.get() == 1);
            assertTrue(call.cancel(true));
            World.await(() -> interrupted.get() == 1 && world.of(0).outstandingCount() == 0);
        }
    }

    @Test
    void shouldPublishAndSubscribeAsPartOfTheCall() throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool();
                World world = new World(
                        "sci", 2, context -> context.export(Front.class, new FrontImplementation(context, threads)))) {
            assertEquals(
                    List.of(true),
                    Publishers.toList(world.of(1).service(0, Front.class).itemsOfACall())
                            .get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldWrapNothingOutsideOfCalls() {
        Runnable task = () -> {};
        assertSame(task, RemoteCall.wrap(task));
    }
}
