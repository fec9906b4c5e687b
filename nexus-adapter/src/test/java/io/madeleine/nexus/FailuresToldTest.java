package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is told of failures: codes of causes, which subscriber has failed, and by whose time a call is late. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FailuresToldTest {
    @RemoteService
    interface Teller {
        void wrapped();

        @CallTimeout(millis = 100)
        void waits() throws InterruptedException;

        Flow.Publisher<String> all();

        void codeless();

        Flow.Publisher<String> codelessStream();

        void take(Flow.Publisher<String> items);
    }

    /** A failure of a program that overrides what it should not. */
    private static final class Codeless extends CallException {
        private static final long serialVersionUID = 1L;

        Codeless() {
            super(ErrorCode.ABORTED, "no code");
        }

        @Override
        public ErrorCode code() {
            throw new IllegalStateException("as a test");
        }

        @Override
        public Map<String, String> details() {
            throw new IllegalStateException("as a test");
        }
    }

    private static final class Implementation implements Teller {
        @Override
        public void codeless() {
            throw new Codeless().with("item", "7");
        }

        @Override
        public Flow.Publisher<String> codelessStream() {
            return subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {
                    subscriber.onError(new Codeless());
                }

                @Override
                public void cancel() {}
            });
        }

        @Override
        public void wrapped() {
            CallException inner = new CallException(ErrorCode.NOT_FOUND, "no such item").with("item", "7");
            throw new IllegalStateException("outer", new RuntimeException("between", inner));
        }

        @Override
        public void waits() throws InterruptedException {
            Thread.sleep(20_000);
        }

        @Override
        public Flow.Publisher<String> all() {
            return Publishers.of(List.of("a", "b"));
        }

        @Override
        public void take(Flow.Publisher<String> items) {
            items.subscribe(new Clumsy());
        }
    }

    /** Fails on what it is given. */
    private static final class Clumsy implements Flow.Subscriber<String> {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            throw new IllegalStateException("it slipped");
        }

        @Override
        public void onNext(String item) {}

        @Override
        public void onError(Throwable thrown) {}

        @Override
        public void onComplete() {}
    }

    private static World world() {
        return new World("sci", 2, context -> context.export(Teller.class, new Implementation()));
    }

    @Test
    void shouldTellAllListenersThoughOneThrowsAnError() {
        FailureReports failures = new FailureReports(0);
        List<String> heard = new ArrayList<>();
        failures.listen((Refusal.Listener) _ -> {
            throw new AssertionError("as a test");
        });
        failures.listen((Refusal.Listener) refusal -> heard.add("refused " + refusal.count()));
        failures.listen((SendFailureListener) (_, _) -> {
            throw new AssertionError("as a test");
        });
        failures.listen((SendFailureListener) (peer, _) -> heard.add("not sent to " + peer));
        failures.refused(new Refusal(1, 2, 3, Refusal.Reason.OVERLOADED, 4));
        failures.sendFailed(1, new IllegalStateException("as a test"));
        assertEquals(List.of("refused 4", "not sent to 1"), heard);
        assertEquals(4, failures.refusedCount());
        assertEquals(1, failures.sendFailureCount());
    }

    /** Code in other languages, or compiled with tools, throws checked exceptions where none is declared. */
    @Test
    void shouldTellAllListenersThoughOneThrowsAnUndeclaredException() {
        FailureReports failures = new FailureReports(0);
        List<String> heard = new ArrayList<>();
        failures.listen((Refusal.Listener) _ -> throwUndeclared());
        failures.listen((Refusal.Listener) refusal -> heard.add("refused " + refusal.count()));
        failures.listen((SendFailureListener) (_, _) -> throwUndeclared());
        failures.listen((SendFailureListener) (peer, _) -> heard.add("not sent to " + peer));
        failures.listen((HandlerFailureListener) (_, _, _, _) -> throwUndeclared());
        failures.listen((HandlerFailureListener) (_, handler, _, _) -> heard.add("failed " + handler));
        failures.refused(new Refusal(1, 2, 3, Refusal.Reason.OVERLOADED, 4));
        failures.sendFailed(1, new IllegalStateException("as a test"));
        try (World world = new World("sci", 1, _ -> {})) {
            failures.handlerFailed(world.of(0).endpoint(), "add", 1, new IllegalStateException("as a test"));
        }
        assertEquals(List.of("refused 4", "not sent to 1", "failed add"), heard);
        assertEquals(4, failures.refusedCount());
        assertEquals(1, failures.sendFailureCount());
        assertEquals(1, failures.handlerFailureCount());
    }

    private static void throwUndeclared() {
        throw Sneaky.asUnchecked(new InterruptedException("as a test"));
    }

    @Test
    void shouldRefuseAFailureWithoutACode() {
        assertThrows(NullPointerException.class, () -> new CallException(null, "no code"));
        assertThrows(NullPointerException.class, () -> new CallException(null, "no code", new RuntimeException()));
    }

    /** A call that is not answered waits until its deadline, and a stream for ever. */
    @Test
    void shouldTellOfAFailureWhoseOwnMethodsFail() throws Exception {
        try (World world = world()) {
            Teller teller = world.of(1).service(0, Teller.class);
            RemoteException failure = assertThrows(RemoteException.class, teller::codeless);
            assertEquals(ErrorCode.UNKNOWN, failure.code());
            assertEquals("no code", failure.getMessage());
            assertEquals(Map.of("item", "7"), failure.details());
            ExecutionException stream = assertThrows(
                    ExecutionException.class,
                    () -> Publishers.toList(teller.codelessStream()).get(20, TimeUnit.SECONDS));
            assertEquals("no code", stream.getCause().getMessage());
        }
    }

    @Test
    void shouldBringCodeAndDetailsOfEveryCause() {
        try (World world = world()) {
            Teller teller = world.of(1).service(0, Teller.class);
            RemoteException outer = assertThrows(RemoteException.class, teller::wrapped);
            assertEquals(ErrorCode.UNKNOWN, outer.code());
            RemoteException between = assertInstanceOf(RemoteException.class, outer.getCause());
            assertEquals("between", between.getMessage());
            RemoteException inner = assertInstanceOf(RemoteException.class, between.getCause());
            assertEquals(ErrorCode.NOT_FOUND, inner.code());
            assertEquals(Map.of("item", "7"), inner.details());
        }
    }

    @Test
    void shouldNameTheSubscriberThatThrowsAndItsStream() throws Exception {
        BlockingQueue<String> warnings = new LinkedBlockingQueue<>();
        Logger logger = Logger.getLogger("io.madeleine.nexus");
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord line) {
                warnings.add(line.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        try (World world = world()) {
            Teller teller = world.of(1).service(0, Teller.class);
            teller.all().subscribe(new Clumsy());
            String result = String.valueOf(warnings.poll(20, TimeUnit.SECONDS));
            assertTrue(result.contains(Clumsy.class.getName()) && result.contains("Teller.all of rank 0"), result);
            teller.take(Publishers.of(List.of("a")));
            String parameter = String.valueOf(warnings.poll(20, TimeUnit.SECONDS));
            assertTrue(parameter.contains(Clumsy.class.getName()), parameter);
            assertTrue(parameter.contains("parameter 1 of Teller.take, called by rank 1"), parameter);
        } finally {
            logger.removeHandler(handler);
        }
    }

    @Test
    void shouldSayOfACallThatInterceptorsHaveHeldUpHowLongItMightTake() {
        ClientInterceptor slow = (_, next) -> {
            Thread.sleep(150);
            return next.proceed();
        };
        try (World world = world()) {
            Teller teller = world.of(1).startpoint(0, Teller.class.getName()).service(Teller.class, List.of(slow));
            String late = String.valueOf(
                    assertThrows(DeadlineExceededException.class, teller::waits).getMessage());
            assertTrue(late.contains("was not sent") && late.contains("100 ms"), late);
        }
    }

    /** The caller's own thread may be slower than the answer. */
    @Test
    void shouldTakeWhatTheDeadlineHasDoneThereForTheDeadline() {
        try (World world = world()) {
            ServiceMethod waits = ServiceMethod.all(Teller.class, world.of(1).codecs(), 1).values().stream()
                    .filter(method -> method.method().getName().equals("waits"))
                    .findFirst()
                    .orElseThrow();
            Calls calls = world.of(1).calls();
            PendingCall.Sync call = new PendingCall.Sync(
                    calls.nextId(),
                    0,
                    waits,
                    System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500),
                    null,
                    world.of(1).node().session().newSignal(),
                    -1);
            calls.begin(call, world.of(1).startpoint(0, Teller.class.getName()).targets()[0], null);
            assertTrue(call.awaitDone(TimeUnit.SECONDS.toNanos(20)));
            assertInstanceOf(DeadlineExceededException.class, call.failure());
        }
    }
}
