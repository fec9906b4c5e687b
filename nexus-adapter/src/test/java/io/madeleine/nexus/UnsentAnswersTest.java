package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers and notices that the other side does not take keep threads until the call's deadline, not for good. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnsentAnswersTest {
    private static final int LARGE = 8_000_000;
    private static final int MAX_RUNNING = 3;
    private static final int SERVER = 0;
    private static final int SLOW = 1;
    private static final int OTHER = 2;
    private static final int CANCELLED = 30;
    private static final int MOST_FILLINGS = 4;

    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch taken = new CountDownLatch(1);

    @RemoteService
    interface Blocks {
        @CallTimeout(millis = 1_500)
        byte[] block(int bytes);

        @CallTimeout(millis = 3_000)
        CompletableFuture<byte[]> blockLater(int bytes);

        @CallTimeout(millis = 200)
        void take(byte[] bytes);

        @CallTimeout(millis = 1_500)
        Held held(int bytes);
    }

    /** While a latch is set, whoever reads a gate waits for it. */
    private record Gate(int number) {
        Gate {
            CountDownLatch latch = readOn;
            try {
                assertTrue(latch == null || latch.await(20, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private record Held(Gate first, byte[] then) {}

    private static volatile @Nullable CountDownLatch readOn;
    private static final Gate OPEN = new Gate(0);

    private static final class Giving implements Blocks {
        @Override
        public byte[] block(int bytes) {
            return new byte[bytes];
        }

        @Override
        public CompletableFuture<byte[]> blockLater(int bytes) {
            return CompletableFuture.completedFuture(new byte[bytes]);
        }

        @Override
        public void take(byte[] bytes) {}

        @Override
        public Held held(int bytes) {
            return new Held(OPEN, new byte[bytes]);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldServeOthersOnceTheDeadlineIsOver(String network) throws Exception {
        ContextOptions options = ContextOptions.DEFAULT.withMaxRunning(MAX_RUNNING);
        try (World world = new World(network, 3, options, context -> {
            context.export(Blocks.class, new Giving());
            addStop(context);
        })) {
            Blocks slow = stopReceiving(world);
            List<CompletableFuture<Void>> calls = new ArrayList<>();
            for (int i = 0; i < MAX_RUNNING; i++) {
                calls.add(CompletableFuture.runAsync(
                        () -> assertThrows(DeadlineExceededException.class, () -> slow.block(LARGE)),
                        task -> Thread.ofPlatform().start(task)));
            }
            for (CompletableFuture<Void> call : calls) {
                call.get(20, TimeUnit.SECONDS);
            }
            World.await(() -> world.of(SERVER).runningCount() == 0);
            assertEquals(LARGE, world.of(OTHER).service(SERVER, Blocks.class).block(LARGE).length);
            taken.countDown();
            assertEquals(LARGE, slow.block(LARGE).length);
        } finally {
            taken.countDown();
        }
    }

    /** The server has given up the rest; that is no answer that cannot be read. */
    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldEndByItsDeadlineACallWhoseAnswerHasBegunToArriveThen(String network) throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        readOn = gate;
        try (World world = new World(network, 2, context -> context.export(Blocks.class, new Giving()))) {
            Blocks blocks = world.of(SLOW).service(SERVER, Blocks.class);
            CompletableFuture<Void> call = CompletableFuture.runAsync(
                    () -> assertThrows(DeadlineExceededException.class, () -> blocks.held(LARGE)),
                    task -> Thread.ofPlatform().start(task));
            World.await(() -> world.of(SERVER).sendFailureCount() == 1);
            gate.countDown();
            call.get(20, TimeUnit.SECONDS);
        } finally {
            gate.countDown();
            readOn = null;
        }
    }

    /** The server cancels such calls at their deadline itself. */
    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldGiveUpNoticesOfCancelledCallsThatTheServerDoesNotTake(String network) throws Exception {
        ContextOptions options = ContextOptions.DEFAULT.withMaxQueuedBytes(1);
        try (World world = new World(network, 2, options, context -> {
            context.export(Blocks.class, new Giving());
            addStop(context);
        })) {
            Context caller = world.of(SLOW);
            Blocks blocks = caller.service(SERVER, Blocks.class);
            caller.startpoint(SERVER, "stop").rsr("stop", new Arguments());
            assertTrue(entered.await(20, TimeUnit.SECONDS));
            List<CompletableFuture<byte[]>> calls = new ArrayList<>();
            for (int i = 0; i < CANCELLED; i++) {
                calls.add(blocks.blockLater(1));
            }
            // now the connection takes nothing any more, not even what a socket's buffers hold
            for (int i = 0; i < MOST_FILLINGS; i++) {
                assertThrows(DeadlineExceededException.class, () -> blocks.take(new byte[LARGE]));
            }
            for (CompletableFuture<byte[]> call : calls) {
                assertThrows(ExecutionException.class, () -> call.get(20, TimeUnit.SECONDS));
            }
            World.await(() -> caller.sendFailureCount() >= CANCELLED);
            taken.countDown();
        } finally {
            taken.countDown();
        }
    }

    /** The service of the server, for a caller that takes nothing from now on. */
    private Blocks stopReceiving(World world) throws InterruptedException {
        Blocks blocks = world.of(SLOW).service(SERVER, Blocks.class);
        assertEquals(LARGE, blocks.block(LARGE).length);
        world.of(SERVER).startpoint(SLOW, "stop").rsr("stop", new Arguments());
        assertTrue(entered.await(20, TimeUnit.SECONDS));
        return blocks;
    }

    /** Adds a handler that runs until {@link #taken}; nothing else is taken meanwhile. */
    private void addStop(Context context) {
        context.endpoint("stop").nonThreaded("stop", (_, _) -> {
            entered.countDown();
            boolean _ = taken.await(50, TimeUnit.SECONDS);
        });
    }
}
