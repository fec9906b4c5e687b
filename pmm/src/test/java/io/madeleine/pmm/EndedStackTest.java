package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProgressSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A stack that comes to its end in a wait, or in a round, takes nothing with it that others need. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EndedStackTest {
    private static final int FRAMES = 200;
    private static final int DIVES = 4;
    private static final int WARM_UP = 50;

    private final SelectorReactor reactor = new SelectorReactor();
    private final AtomicInteger polls = new AtomicInteger();
    private ProgressEngine engine;

    /** There is always something to do. */
    private final class Busy implements ProgressSource {
        @Override
        public int poll(long nowNs) {
            return polls.incrementAndGet() & 1;
        }

        @Override
        public boolean armForBlocking() {
            return false;
        }

        @Override
        public void disarm() {}
    }

    /** Does something at the end of the stack, and again with a frame more room, and so on; counts the ends. */
    private static final class Dive {
        private final Runnable action;
        private int tries;
        private int overflows;

        Dive(Runnable action) {
            this.action = action;
        }

        @SuppressWarnings("InfiniteRecursion") // that is what it is for
        void dive() {
            try {
                dive();
            } catch (StackOverflowError _) {
                // up from here
            }
            if (tries < FRAMES) {
                tries++;
                try {
                    action.run();
                } catch (StackOverflowError _) {
                    overflows++;
                }
            }
        }
    }

    @BeforeEach
    void open() {
        engine = new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.ADAPTIVE, 20_000, 5));
        engine.addSource(new Busy());
    }

    @AfterEach
    void close() {
        engine.close();
        reactor.close();
    }

    private void awaitSomePolls() {
        int enough = polls.get() + 3;
        assertTrue(engine.await(new Waitable(), () -> polls.get() - enough >= 0, System.nanoTime() + 20_000_000_000L));
    }

    private void awaitInVain() {
        assertFalse(engine.await(new Waitable(), () -> false, System.nanoTime() + 100_000));
    }

    private void checkAfter(Runnable action) throws Exception {
        for (int i = 0; i < WARM_UP; i++) { // classes are not initialised down there
            action.run();
        }
        for (int i = 0; i < DIVES; i++) {
            Dive dive = new Dive(action);
            Thread diver = new Thread(null, dive::dive, "diver", 256 << 10);
            diver.start();
            diver.join();
            assertTrue(dive.overflows > 0, "no stack came to its end");
            CompletableFuture.runAsync(
                            this::awaitSomePolls, task -> Thread.ofPlatform().start(task))
                    .get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldLeaveTheLeadWhereAStackEndsInAWait() throws Exception {
        checkAfter(this::awaitSomePolls);
    }

    @Test
    void shouldLeaveTheLeadWhereAStackEndsInAWaitThatIsInVain() throws Exception {
        checkAfter(this::awaitInVain);
    }

    @Test
    void shouldLeaveTheLeadWhereAStackEndsInARound() throws Exception {
        checkAfter(engine::progress);
    }

    @Test
    void shouldOfferTheLeadToWhoWaitsBesideAStackThatEnds() throws Exception {
        CompletableFuture<Void> beside = CompletableFuture.runAsync(
                () -> assertFalse(engine.await(new Waitable(), () -> false, System.nanoTime() + 1_000_000_000)),
                task -> Thread.ofPlatform().start(task));
        checkAfter(this::awaitSomePolls);
        beside.get(10, TimeUnit.SECONDS);
    }
}
