package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What interceptors, stages and publishers of programs must not do ends the call that they do it for, and says who it
 * was.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WrongAnswersTest {
    @RemoteService
    interface Shop {
        CompletableFuture<String> later();

        Flow.Publisher<String> all(String how);

        int count(Flow.Publisher<String> items);
    }

    /** A stage that takes nobody who waits for it. */
    private static final class OddStage extends CompletableFuture<String> {
        @Override
        public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
            throw new IllegalStateException("nobody may wait");
        }
    }

    /** Does not publish all of it, and does not say why. */
    private static final class Broken implements Flow.Publisher<String> {
        @Override
        @SuppressWarnings("NullAway") // what is tested
        public void subscribe(Flow.Subscriber<? super String> subscriber) {
            subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {
                    subscriber.onNext("a");
                    subscriber.onError(null);
                }

                @Override
                public void cancel() {}
            });
        }
    }

    private static final class Implementation implements Shop {
        @Override
        public CompletableFuture<String> later() {
            return new OddStage();
        }

        @Override
        @SuppressWarnings("NullAway") // what is tested
        public Flow.Publisher<String> all(String how) {
            return how.equals("none") ? null : new Broken();
        }

        @Override
        public int count(Flow.Publisher<String> items) {
            return Publishers.toList(items).join().size();
        }
    }

    /** Answers with what the caller asks for. */
    private static final class Cache implements ServerInterceptor {
        private static final Map<String, Object> ANSWERS =
                Map.of("text", "from the cache", "future", CompletableFuture.completedFuture("from the cache"));

        @Override
        public @Nullable Object intercept(RemoteCall call, Invocation next) throws Throwable {
            String wanted = call.metadata().get("answer").orElse("");
            return wanted.isEmpty() ? next.proceed() : ANSWERS.get(wanted);
        }
    }

    private static World world(ContextOptions options) {
        return new World("sci", 2, options, context -> context.export(Shop.class, new Implementation()));
    }

    private static Shop shop(World world, String answer) {
        ClientInterceptor wanting = (call, next) -> {
            call.put("answer", answer);
            return next.proceed();
        };
        return world.of(1).startpoint(0, Shop.class.getName()).service(Shop.class, List.of(wanting));
    }

    private static String failureOf(CompletableFuture<?> future) {
        ExecutionException failed = assertThrows(ExecutionException.class, () -> future.get(20, TimeUnit.SECONDS));
        return String.valueOf(failed.getCause());
    }

    @Test
    void shouldNameTheInterceptorThatAnswersWithNoFutureOrStreamAndForgetTheCall() throws Exception {
        ContextOptions options = ContextOptions.DEFAULT.withMaxRunning(4).withServerInterceptor(new Cache());
        try (World world = world(options)) {
            for (String answer : List.of("text", "none")) {
                Shop shop = shop(world, answer);
                for (int i = 0; i < 3; i++) {
                    for (CompletableFuture<?> call : List.of(shop.later(), Publishers.toList(shop.all("none")))) {
                        String failure = failureOf(call);
                        assertTrue(failure.contains(Cache.class.getName()), failure);
                        assertTrue(failure.contains(answer.equals("text") ? "a java.lang.String" : "null"), failure);
                    }
                }
            }
            World.await(() -> world.of(0).runningCount() == 0);
            assertEquals("from the cache", shop(world, "future").later().get(20, TimeUnit.SECONDS));
            String failure = failureOf(Publishers.toList(shop(world, "").all("none")));
            assertTrue(failure.contains("Shop.all returned null: expected a Flow.Publisher"), failure);
        }
    }

    /** Answers everything with the same. */
    private record Constant(@Nullable Object answer) implements ClientInterceptor {
        @Override
        public @Nullable Object intercept(OutgoingCall call, Invocation next) {
            return answer;
        }
    }

    @Test
    void shouldNameTheClientInterceptorThatAnswersWithAnotherType() {
        try (World world = world(ContextOptions.DEFAULT)) {
            Startpoint startpoint = world.of(1).startpoint(0, Shop.class.getName());
            for (Object answer : new Object[] {"text", null}) {
                Shop shop = startpoint.service(Shop.class, List.of(new Constant(answer)));
                for (String failure : List.of(
                        failureOf(shop.later()),
                        String.valueOf(assertThrows(IllegalStateException.class, () -> shop.all("none"))),
                        String.valueOf(assertThrows(
                                IllegalStateException.class, () -> shop.count(Publishers.of(List.of())))))) {
                    assertTrue(failure.contains(Constant.class.getName()), failure);
                    assertTrue(failure.contains(answer == null ? "null" : "a java.lang.String"), failure);
                }
            }
            Shop shop = startpoint.service(Shop.class, List.of(new Constant(7)));
            assertEquals(7, shop.count(Publishers.of(List.of())));
        }
    }

    @Test
    void shouldForgetACallWhoseStageCannotBeWaitedFor() {
        try (World world = world(ContextOptions.DEFAULT)) {
            Shop shop = world.of(1).service(0, Shop.class);
            String failure = failureOf(shop.later());
            assertTrue(failure.contains("nobody may wait"), failure);
            World.await(() -> world.of(0).runningCount() == 0);
        }
    }

    @Test
    void shouldTakeAStreamThatFailsWithNullForAFailure() {
        try (World world = world(ContextOptions.DEFAULT)) {
            Shop shop = world.of(1).service(0, Shop.class);
            String result = failureOf(Publishers.toList(shop.all("broken")));
            assertTrue(result.contains("the publisher of Shop.all has called onError(null)"), result);
            String parameter = assertThrows(RemoteException.class, () -> shop.count(new Broken()))
                    .toString();
            assertTrue(parameter.contains("the publisher of parameter 1 of Shop.count has called"), parameter);
            String here = failureOf(Publishers.toList(new Broken()));
            assertTrue(here.contains("onError(null)"), here);
        }
    }
}
