package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What is written with interceptors: authentication, tracing, metrics, retries; and what travels beside calls and
 * failures.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterceptorsTest {
    private final AtomicInteger runs = new AtomicInteger();

    @RemoteService
    interface Store {
        String get(String key) throws IOException;

        CompletableFuture<String> later(String key);

        Flow.Publisher<String> all();

        String traceOfNext();

        String seen(String name);
    }

    /** Fails as its keys say. */
    private final class Implementation implements Store {
        private static final Executor OTHERS = Executors.newVirtualThreadPerTaskExecutor();
        private final Context context;

        Implementation(Context context) {
            this.context = context;
        }

        @Override
        public String get(String key) throws IOException {
            int run = runs.incrementAndGet();
            RemoteCall.current().orElseThrow().answerWith("run", "" + run);
            switch (key) {
                case "missing" ->
                    throw new CallException(ErrorCode.NOT_FOUND, "no such key")
                            .with("key", key)
                            .with("shelf", "3");
                case "broken" -> throw new IOException("the disk");
                case "at the third" -> {
                    if (run < 3) {
                        throw new CallException(ErrorCode.UNAVAILABLE, "not yet");
                    }
                }
                default -> {}
            }
            return key + " of rank " + context.rank();
        }

        @Override
        public CompletableFuture<String> later(String key) {
            return CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return get(key);
                        } catch (IOException e) {
                            throw new CompletionException(e);
                        }
                    },
                    RemoteCall.wrap(OTHERS));
        }

        @Override
        public Flow.Publisher<String> all() {
            RemoteCall.current().orElseThrow().answerWith("shelves", "3");
            return Publishers.of(List.of("a", "b"));
        }

        @Override
        public String traceOfNext() {
            return CompletableFuture.supplyAsync(
                            () -> context.service(1, Store.class).seen("trace"), RemoteCall.wrap(OTHERS))
                    .join();
        }

        @Override
        public String seen(String name) {
            return RemoteCall.current().orElseThrow().metadata().get(name).orElse("nothing");
        }
    }

    private World world(ContextOptions options) {
        return new World("sci", 2, options, context -> context.export(Store.class, new Implementation(context)));
    }

    @Test
    void shouldLetInOnlyWhoIsAuthenticated() throws Exception {
        ServerInterceptor guard = (call, next) -> {
            if (!call.metadata().get("token").orElse("").equals("s3cret")) {
                throw new CallException(
                        ErrorCode.UNAUTHENTICATED, "who calls " + call.method().getName() + "?");
            }
            return next.proceed();
        };
        ClientInterceptor key = (call, next) -> {
            call.put("token", "s3cret");
            return next.proceed();
        };
        try (World world = world(ContextOptions.DEFAULT.withServerInterceptor(guard))) {
            Startpoint remote = world.of(1).startpoint(0, Store.class.getName());
            Store stranger = remote.service(Store.class);
            RemoteException no = assertThrows(RemoteException.class, () -> stranger.get("a"));
            assertEquals(ErrorCode.UNAUTHENTICATED, no.code());
            assertTrue(no.getMessage().contains("who calls get?"), no::getMessage);
            CompletionException later = assertThrows(
                    CompletionException.class, () -> stranger.later("a").join());
            assertEquals(ErrorCode.UNAUTHENTICATED, ErrorCode.of(later.getCause()));
            assertThrows(
                    Exception.class, () -> Publishers.toList(stranger.all()).get(20, TimeUnit.SECONDS));
            assertEquals(0, runs.get());

            Store friend = remote.service(Store.class, List.of(key));
            assertEquals("a of rank 0", friend.get("a"));
            assertEquals("a of rank 0", friend.later("a").join());
            assertEquals(List.of("a", "b"), Publishers.toList(friend.all()).get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldCarryATraceThroughProcessesAndThreads() {
        AtomicInteger traces = new AtomicInteger();
        ClientInterceptor tracing = (call, next) -> {
            call.put(
                    "trace",
                    RemoteCall.current()
                            .flatMap(served -> served.metadata().get("trace"))
                            .orElseGet(() -> "trace " + traces.incrementAndGet()));
            return next.proceed();
        };
        try (World world = world(ContextOptions.DEFAULT.withClientInterceptor(tracing))) {
            assertEquals("trace 1", world.of(1).service(0, Store.class).traceOfNext());
        }
        try (World world = world(ContextOptions.DEFAULT)) {
            assertEquals("nothing", world.of(1).service(0, Store.class).traceOfNext());
        }
    }

    @Test
    void shouldMeasureCallsOfEveryKindAtBothEnds() throws Exception {
        Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();
        ClientInterceptor client = (call, next) -> {
            String what = "client " + call.method().getName();
            try {
                Object result = next.proceed();
                if (result instanceof CompletableFuture<?> future) {
                    future.whenComplete((_, thrown) -> count(counts, what, thrown));
                } else if (result instanceof Flow.Publisher<?> publisher) {
                    return counted(publisher, counts, what);
                } else {
                    count(counts, what, null);
                }
                return result;
            } catch (Throwable e) {
                count(counts, what, e);
                throw e;
            }
        };
        ServerInterceptor server = (call, next) -> {
            count(counts, "server " + call.method().getName(), null);
            return next.proceed();
        };
        ContextOptions options =
                ContextOptions.DEFAULT.withClientInterceptor(client).withServerInterceptor(server);
        try (World world = world(options)) {
            Store store = world.of(1).service(0, Store.class);
            store.get("a");
            assertThrows(RemoteException.class, () -> store.get("missing"));
            assertThrows(CompletionException.class, () -> store.later("missing").join());
            World.await(() -> counts.containsKey("client later NOT_FOUND"));
            assertEquals(List.of("a", "b"), Publishers.toList(store.all()).get(20, TimeUnit.SECONDS));
            assertEquals(1, counts.get("client get OK").get());
            assertEquals(1, counts.get("client get NOT_FOUND").get());
            assertEquals(2, counts.get("server get OK").get());
            assertEquals(1, counts.get("server later OK").get());
            assertEquals(1, counts.get("client all OK").get());
            assertEquals(1, counts.get("server all OK").get());
        }
    }

    /** Counts the ends of its streams. */
    private static <T> Flow.Publisher<T> counted(
            Flow.Publisher<T> publisher, Map<String, AtomicInteger> counts, String what) {
        return subscriber -> publisher.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscriber.onSubscribe(subscription);
            }

            @Override
            public void onNext(T item) {
                subscriber.onNext(item);
            }

            @Override
            public void onError(Throwable thrown) {
                count(counts, what, thrown);
                subscriber.onError(thrown);
            }

            @Override
            public void onComplete() {
                count(counts, what, null);
                subscriber.onComplete();
            }
        });
    }

    private static void count(
            Map<String, AtomicInteger> counts, String what, @org.jspecify.annotations.Nullable Throwable thrown) {
        String end = thrown == null ? "OK" : ErrorCode.of(thrown).name();
        counts.computeIfAbsent(what + " " + end, _ -> new AtomicInteger()).incrementAndGet();
    }

    @Test
    void shouldMakeCallsAgainThatSayTheyMayBe() throws Exception {
        ClientInterceptor retries = (call, next) -> {
            for (int attempt = 1; ; attempt++) {
                try {
                    return next.proceed();
                } catch (NexusException e) {
                    if (attempt == 5 || ErrorCode.of(e) != ErrorCode.UNAVAILABLE) {
                        throw e;
                    }
                }
            }
        };
        try (World world = world(ContextOptions.DEFAULT.withClientInterceptor(retries))) {
            Store store = world.of(1).service(0, Store.class);
            assertEquals("at the third of rank 0", store.get("at the third"));
            assertEquals(3, runs.get());
            assertThrows(RemoteException.class, () -> store.get("missing"));
            assertEquals(4, runs.get());
        }
    }

    @Test
    void shouldBringMetadataWithAnswersOfEveryKind() throws Exception {
        OutgoingCall[] last = new OutgoingCall[1];
        ClientInterceptor watching = (call, next) -> {
            last[0] = call;
            return next.proceed();
        };
        try (World world = world(ContextOptions.DEFAULT.withClientInterceptor(watching))) {
            Store store = world.of(1).service(0, Store.class);
            store.get("a");
            assertEquals(Map.of("run", "1"), last[0].answerMetadata().asMap());
            assertThrows(RemoteException.class, () -> store.get("missing"));
            assertEquals(Map.of("run", "2"), last[0].answerMetadata().asMap());
            store.later("a").join();
            assertEquals(Map.of("run", "3"), last[0].answerMetadata().asMap());
            Publishers.toList(store.all()).get(20, TimeUnit.SECONDS);
            assertEquals(Map.of("shelves", "3"), last[0].answerMetadata().asMap());
            store.seen("a");
            assertTrue(last[0].answerMetadata().isEmpty());
        }
    }

    @Test
    void shouldBringCodesAndDetailsWithFailures() {
        try (World world = world(ContextOptions.DEFAULT)) {
            Store store = world.of(1).service(0, Store.class);
            RemoteException missing = assertThrows(RemoteException.class, () -> store.get("missing"));
            assertEquals(ErrorCode.NOT_FOUND, missing.code());
            assertEquals(Map.of("key", "missing", "shelf", "3"), missing.details());
            assertEquals(CallException.class.getName(), missing.remoteType());
            assertEquals("no such key", missing.getMessage());
            IOException broken = assertThrows(IOException.class, () -> store.get("broken"));
            assertEquals(ErrorCode.UNKNOWN, ErrorCode.of(broken));
            assertInstanceOf(RemoteException.class, broken.getCause());
            NexusException none = assertThrows(
                    NexusException.class,
                    () -> world.of(1).startpoint(0, "none").service(Store.class).get("a"));
            assertEquals(ErrorCode.UNIMPLEMENTED, ErrorCode.of(none));
        }
    }

    @Test
    void shouldBringMetadataOfAnyLengthUpToTheirBound() {
        String[] value = {""};
        ClientInterceptor putting = (call, next) -> {
            call.put("long", value[0]);
            return next.proceed();
        };
        try (World world = world(ContextOptions.DEFAULT.withClientInterceptor(putting))) {
            Store store = world.of(1).service(0, Store.class);
            for (int length : new int[] {0, 1, 500, 511, 512, 513, 1023, 1024, 4_000, 8_100}) {
                value[0] = "x".repeat(length);
                assertEquals(value[0], store.seen("long"), () -> length + " characters");
            }
            value[0] = "x".repeat(9_000);
            IllegalArgumentException no = assertThrows(IllegalArgumentException.class, () -> store.seen("long"));
            assertTrue(no.getMessage().contains("more than 8192 bytes"), no::getMessage);
        }
    }
}
