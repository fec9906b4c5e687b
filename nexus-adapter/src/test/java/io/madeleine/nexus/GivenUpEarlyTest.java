package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that are cancelled while they are being sent: the notice goes before the call, and must not be lost. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GivenUpEarlyTest {
    /** Its codec cancels the call for which it is written. */
    private record Cancels(int number) {}

    @RemoteService
    interface Service {
        CompletableFuture<Integer> future(Cancels cancels);

        Flow.Publisher<Integer> stream(Cancels cancels);

        CompletableFuture<Integer> takes(Cancels cancels, Flow.Publisher<Integer> numbers);

        void returnsAtOnce();
    }

    /** Never publishes. */
    private record Silent(Runnable whenCancelled) implements Flow.Publisher<Integer> {
        @Override
        public void subscribe(Flow.Subscriber<? super Integer> subscriber) {
            subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {}

                @Override
                public void cancel() {
                    whenCancelled.run();
                }
            });
        }
    }

    private static final class Implementation implements Service {
        @Override
        public CompletableFuture<Integer> future(Cancels cancels) {
            return new CompletableFuture<>();
        }

        @Override
        public Flow.Publisher<Integer> stream(Cancels cancels) {
            return new Silent(() -> {});
        }

        @Override
        public CompletableFuture<Integer> takes(Cancels cancels, Flow.Publisher<Integer> numbers) {
            return future(cancels);
        }

        @Override
        public void returnsAtOnce() {}
    }

    private static World world() {
        return new World("sci", 2, context -> {
            Calls calls = context.calls();
            context.codecs()
                    .register(
                            Cancels.class,
                            Codec.of(
                                    (value, arguments) -> {
                                        arguments.putInt(value.number());
                                        PendingCall call = calls.find(calls.lastId());
                                        assertTrue(call != null && calls.giveUp(call));
                                    },
                                    request -> new Cancels(request.getInt())));
            context.export(Service.class, new Implementation());
        });
    }

    private static void awaitCancelled(World world) {
        world.of(1).service(0, Service.class).returnsAtOnce(); // so the call and the notices before it have arrived
        World.await(() -> world.of(0).runningCount() == 0);
    }

    @Test
    void shouldCancelACallWhoseNoticeHasGoneBeforeIt() {
        try (World world = world()) {
            CompletableFuture<Integer> _ = world.of(1).service(0, Service.class).future(new Cancels(1));
            awaitCancelled(world);
        }
    }

    @Test
    void shouldCancelAStreamWhoseNoticeHasGoneBeforeItsCall() {
        try (World world = world()) {
            CompletableFuture<?> _ = Publishers.toList(world.of(1).service(0, Service.class).stream(new Cancels(1)));
            awaitCancelled(world);
        }
    }

    @Test
    void shouldEndAStreamParameterOfACallThatWasCancelledBeforeItWasSent() {
        AtomicBoolean uploadCancelled = new AtomicBoolean();
        try (World world = world()) {
            CompletableFuture<Integer> _ = world.of(1)
                    .service(0, Service.class)
                    .takes(new Cancels(1), new Silent(() -> uploadCancelled.set(true)));
            awaitCancelled(world);
            World.await(uploadCancelled::get);
        }
    }
}
