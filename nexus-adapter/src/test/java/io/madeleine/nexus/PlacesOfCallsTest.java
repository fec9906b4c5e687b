package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A caller that makes one call after the other never exceeds a bound of one call. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PlacesOfCallsTest {
    private static final int CALLS = 3_000;

    @RemoteService(maxConcurrent = 1)
    interface Numbers {
        int value();

        CompletableFuture<Integer> future();

        Flow.Publisher<Integer> stream();
    }

    private static final class Sevens implements Numbers {
        @Override
        public int value() {
            return 7;
        }

        @Override
        public CompletableFuture<Integer> future() {
            return CompletableFuture.supplyAsync(() -> 7, task -> Thread.startVirtualThread(task));
        }

        @Override
        public Flow.Publisher<Integer> stream() {
            return subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {
                    subscriber.onNext(7);
                    subscriber.onComplete();
                }

                @Override
                public void cancel() {}
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldTakeTheNextCallOfACallerThatHasItsAnswer(String network) throws Exception {
        ContextOptions options = ContextOptions.DEFAULT.withMaxRunning(1);
        try (World world = new World(network, 2, options, context -> context.export(Numbers.class, new Sevens()))) {
            Numbers numbers = world.of(1).service(0, Numbers.class);
            for (int i = 0; i < CALLS; i++) {
                assertEquals(7, numbers.value());
            }
            for (int i = 0; i < CALLS; i++) {
                assertEquals(7, numbers.future().get(20, TimeUnit.SECONDS));
            }
            for (int i = 0; i < CALLS; i++) {
                assertEquals(List.of(7), Publishers.toList(numbers.stream()).get(20, TimeUnit.SECONDS));
            }
            World.await(() -> world.of(0).runningCount() == 0);
        }
    }
}
