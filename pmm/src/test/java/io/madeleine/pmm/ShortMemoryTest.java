package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShortMemoryTest {
    @Test
    void shouldTryAStepAgainThatMemoryWasTooShortFor() {
        try (SelectorReactor reactor = new SelectorReactor();
                ProgressEngine engine = new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.BLOCK, 0, 0))) {
            AtomicInteger tries = new AtomicInteger();
            Waitable done = new Waitable();
            engine.enqueue(() -> {
                if (tries.incrementAndGet() < 3) {
                    throw new OutOfMemoryError("as a test");
                }
                engine.signal(done);
                return true;
            });
            for (int i = 0; i < 10 && tries.get() < 3; i++) {
                engine.progress();
            }
            assertTrue(
                    engine.await(done, () -> tries.get() == 3, Deadlines.after(20, TimeUnit.SECONDS)),
                    () -> tries + " tries");
        }
    }
}
