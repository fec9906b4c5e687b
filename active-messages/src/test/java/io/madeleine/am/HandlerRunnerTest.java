package io.madeleine.am;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 20, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandlerRunnerTest {
    private final List<String> log = new ArrayList<>();
    private final HandlerRunner runner = new HandlerRunner(why -> log.add(String.valueOf(why.getMessage())));

    private HandlerRunner.Step step(Runnable action) {
        return new HandlerRunner.Step() {
            @Override
            protected void run() {
                action.run();
            }
        };
    }

    @Test
    void shouldRunWhatAHandlerPostsWhenTheHandlerIsThrough() {
        runner.post(() -> {
            runner.post(() -> log.add("posted"));
            runner.post(step(() -> log.add("step")));
            log.add("handler");
        });
        assertEquals(List.of("handler", "posted", "step"), log);
    }

    @Test
    void shouldLeaveToTheThreadThatHasEnteredWhatAnotherOnePosts() throws Exception {
        assertTrue(runner.tryEnter());
        Thread other = Thread.ofPlatform().start(() -> {
            runner.post(() -> log.add(Thread.currentThread().getName()));
            runner.post(step(() -> log.add("step")));
        });
        other.join();
        assertEquals(List.of(), log);
        runner.leave();
        assertEquals(List.of("step", Thread.currentThread().getName()), log);
    }

    @Test
    void shouldKeepTheOtherStepsIfOneCannotBeRun() {
        HandlerRunner failing = new HandlerRunner(why -> {
            throw new IllegalStateException(why); // as where the stack has ended
        });
        assertTrue(failing.tryEnter());
        failing.post(step(() -> log.add("first")));
        failing.post(step(() -> log.add("second")));
        failing.post(step(() -> {
            throw new IllegalArgumentException();
        }));
        assertThrows(IllegalStateException.class, failing::runPosted);
        assertTrue(failing.runPosted());
        assertEquals(List.of("second", "first"), log);
        failing.leave();
    }

    @Test
    void shouldLetOneEnterOnce() throws Exception {
        assertTrue(runner.tryEnter());
        assertFalse(runner.tryEnter());
        assertTrue(runner.isRunByCaller());
        Thread other = Thread.ofPlatform().start(() -> log.add(runner.tryEnter() + " " + runner.isRunByCaller()));
        other.join();
        assertEquals(List.of("false false"), log);
        runner.leave();
        assertFalse(runner.isRunByCaller());
    }

    @Test
    void shouldRunAStepThatIsPostedTwiceOnceAndAgainWhenItPostsItself() {
        AtomicInteger left = new AtomicInteger(2);
        HandlerRunner.Step[] again = new HandlerRunner.Step[1];
        again[0] = step(() -> {
            log.add("step");
            if (left.decrementAndGet() > 0) {
                runner.post(again[0]);
            }
        });
        runner.post(() -> {
            runner.post(again[0]);
            runner.post(again[0]);
        });
        assertEquals(List.of("step", "step"), log);
    }

    @Test
    void shouldGoOnWithTheOthersWhenOneThrowsAndLeavesTheThreadInterrupted() {
        runner.post(() -> {
            runner.post(() -> {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("first");
            });
            runner.post(() -> log.add("interrupted " + Thread.currentThread().isInterrupted()));
        });
        assertEquals(List.of("first", "interrupted false"), log);
        assertTrue(Thread.interrupted());
    }

    @Test
    void shouldRunAllThatThreadsPostOneAtATime() throws Exception {
        int count = 50_000;
        int[] runs = new int[1]; // not atomic
        Runnable poster = () -> {
            for (int i = 0; i < count; i++) {
                runner.post(() -> runs[0]++);
                runner.post(step(() -> runs[0]++));
            }
        };
        Thread other = Thread.ofPlatform().start(poster);
        poster.run();
        other.join();
        runner.post(() -> log.add("end"));
        assertEquals(List.of("end"), log);
        assertEquals(4 * count, runs[0]);
    }
}
