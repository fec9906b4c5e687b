package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import io.madeleine.api.Signal;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EngineSignalTest {
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWakeWaitersOfEitherKindOfThread(boolean virtual) throws Exception {
        try (SelectorReactor reactor = new SelectorReactor();
                ProgressEngine engine = new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.BLOCK, 0, 0))) {
            Signal signal = new EngineSignal(engine);
            AtomicBoolean condition = new AtomicBoolean();
            CompletableFuture<Boolean> met = new CompletableFuture<>();
            Runnable wait = () -> met.complete(signal.await(condition::get, 20, TimeUnit.SECONDS));
            Thread waiter = virtual
                    ? Thread.ofVirtual().start(wait)
                    : Thread.ofPlatform().start(wait);
            Thread.sleep(50);
            assertFalse(met.isDone());
            condition.set(true);
            signal.signal();
            assertTrue(met.get(5, TimeUnit.SECONDS));
            waiter.join();
        }
    }

    @Test
    void shouldEndWaitAtItsDeadlineOrWithTheSession() throws Exception {
        SelectorReactor reactor = new SelectorReactor();
        ProgressEngine engine = new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.ADAPTIVE, 20_000, 5));
        Signal signal = new EngineSignal(engine);
        assertFalse(signal.await(() -> false, 5, TimeUnit.MILLISECONDS));
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                signal.await(() -> false);
            } catch (SessionException e) {
                ended.complete(e);
            }
        });
        Thread.sleep(50);
        engine.close();
        ended.get(5, TimeUnit.SECONDS);
        assertThrows(SessionException.class, () -> signal.await(() -> false));
        reactor.close();
    }
}
