package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Session;
import io.madeleine.nexus.wire.RequestLayout;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.testkit.LoopFabric;
import io.madeleine.testkit.LoopPmm;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Contexts and what belongs to them refuse null by the parameter's name, and go on as if nothing had been said. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NullsTest {
    private static final Handler NOTHING = (_, _) -> {};

    @RemoteService
    interface Adder {
        int add(int a, int b);
    }

    @RemoteService
    interface Streams {
        Flow.Publisher<Integer> numbers();

        int take(Flow.Publisher<Integer> numbers);
    }

    private static final class StreamsImplementation implements Streams {
        @Override
        public Flow.Publisher<Integer> numbers() {
            return Publishers.of(List.of(1));
        }

        @Override
        public int take(Flow.Publisher<Integer> numbers) {
            check("subscriber", it -> it.subscribe(null), numbers);
            return Publishers.toList(numbers).join().size();
        }
    }

    private static LocalSessions sessions;
    private static Context context;

    @BeforeAll
    static void open() {
        LoopFabric fabric = new LoopFabric();
        sessions = LocalSessions.of(2)
                .network(
                        "loop",
                        _ -> new LoopPmm(
                                fabric,
                                List.of(LoopTm.withStaticBuffers("short", AggregationMode.ASYMMETRIC, 112, 1024))))
                .open();
        context = Context.open(sessions.session(0));
    }

    @AfterAll
    static void close() {
        context.close();
        sessions.close();
    }

    /** A call with null, and the parameter that is null. */
    private record Nulled(String parameter, Consumer<Context> call) {}

    private static Nulled call(String parameter, Consumer<Context> call) {
        return new Nulled(parameter, call);
    }

    private static <T> void check(String parameter, Consumer<T> call, T target) {
        NullPointerException refused = assertThrows(NullPointerException.class, () -> call.accept(target));
        assertTrue(String.valueOf(refused.getMessage()).contains(parameter), refused::toString);
    }

    static Stream<Nulled> onContexts() {
        return Stream.of(
                call("name", it -> it.endpoint(null)),
                call("name", it -> it.startpoint(0, null)),
                call("type", it -> it.export(null, new Object())),
                call("implementation", it -> it.export(Adder.class, null)),
                call("type", it -> it.service(0, null)),
                call("approver", it -> it.allowAttach(0, null)),
                call("bind", it -> it.allowAttach(null, List.of("localhost"), _ -> null)),
                call("hosts", it -> it.allowAttach(new InetSocketAddress(0), null, _ -> null)),
                call("approver", it -> it.allowAttach(new InetSocketAddress(0), List.of("localhost"), null)),
                call("url", it -> it.attach(null)),
                call("condition", it -> it.await(null)),
                call("condition", it -> it.await(null, 0, TimeUnit.SECONDS)),
                call("unit", it -> it.await(() -> true, 0, null)),
                call("timeout", it -> it.barrier(null)),
                call("timeout", it -> it.drain(null)),
                call("listener", it -> it.onHandlerFailure(null)),
                call("listener", it -> it.onRefusal(null)),
                call("listener", it -> it.onSendFailure(null)),
                call("type", it -> it.codecs().of(null)),
                call("type", it -> it.codecs().register(null, it.codecs().of(String.class))),
                call("codec", it -> it.codecs().register(NullsTest.class, null)));
    }

    static Stream<Nulled> onEndpoints() {
        return Stream.of(
                call("handlerName", it -> it.endpoint().threaded(null, NOTHING)),
                call("handler", it -> it.endpoint().threaded("x", null)),
                call("handler", it -> it.endpoint().nonThreaded("x", null)),
                call("threading", it -> it.endpoint().handler("x", null, NOTHING)),
                call("type", it -> it.endpoint().serve(null, new Object())),
                call("implementation", it -> it.endpoint().serve(Adder.class, null)),
                call("data", it -> it.endpoint().attach(null)),
                call("type", it -> it.endpoint().local(null)),
                call("first", it -> Startpoint.toAll(null)),
                call("others", it -> Startpoint.toAll(it.startpoint(0, "x"), (Startpoint[]) null)),
                call("other", it -> Startpoint.toAll(it.startpoint(0, "x"), (Startpoint) null)),
                call("handler", it -> it.startpoint(0, "x").rsr(null, new Arguments())),
                call("arguments", it -> it.startpoint(0, "x").rsr("x", null)),
                call("arguments", it -> it.startpoint(0, "x").rsr(1, null)),
                call("type", it -> it.startpoint(0, "x").service(null)),
                call("interceptors", it -> it.startpoint(0, "x").service(Adder.class, null)),
                call("wanted", it -> it.startpoint(0, "x").via((String[]) null)),
                call("wanted", it -> it.startpoint(0, "x").via((String) null)));
    }

    static Stream<Nulled> onOthers() {
        ContextOptions options = ContextOptions.DEFAULT;
        return Stream.of(
                call("argumentTimeout", _ -> options.withArgumentTimeout(null)),
                call("callTimeout", _ -> options.withCallTimeout(null)),
                call("connectTimeout", _ -> options.withConnectTimeout(null)),
                call("silenceTimeout", _ -> options.withSilenceTimeout(null)),
                call("closeTimeout", _ -> options.withCloseTimeout(null)),
                call("context", _ -> options.withTls(null)),
                call("runner", _ -> options.withExecutor(null)),
                call("interceptor", _ -> options.withClientInterceptor(null)),
                call("interceptor", _ -> options.withServerInterceptor(null)),
                call("value", _ -> new Arguments().putString(null)),
                call("array", _ -> new Arguments().putBytes(null)),
                call("array", _ -> new Arguments().putShorts(null)),
                call("array", _ -> new Arguments().putChars(null)),
                call("array", _ -> new Arguments().putInts(null)),
                call("array", _ -> new Arguments().putLongs(null)),
                call("array", _ -> new Arguments().putFloats(null)),
                call("array", _ -> new Arguments().putDoubles(null)),
                call("segment", _ -> new Arguments().putSegment(null)),
                call("startpoint", _ -> new Arguments().putStartpoint(null)),
                call("codec", _ -> new Arguments().put("x", null)),
                call("name", _ -> Metadata.of(null, "x")),
                call("value", _ -> Metadata.of("x", null)),
                call("name", _ -> Metadata.EMPTY.get(null)),
                call("items", _ -> Publishers.of(null)),
                call("publisher", _ -> Publishers.forEach(null, 1, _ -> {})),
                call("consumer", _ -> Publishers.forEach(Publishers.of(List.of()), 1, null)),
                call("publisher", _ -> Publishers.toList(null)),
                call("task", _ -> RemoteCall.wrap((Runnable) null)),
                call("task", _ -> RemoteCall.wrap((Callable<?>) null)),
                call("task", _ -> RemoteCall.wrapSupplier(null)),
                call("executor", _ -> RemoteCall.wrap((Executor) null)));
    }

    @ParameterizedTest
    @MethodSource({"onContexts", "onEndpoints", "onOthers"})
    void shouldRefuseNullByTheNameOfTheParameter(Nulled call) {
        check(call.parameter(), call.call(), context);
        try (Endpoint served = context.export(Adder.class, Integer::sum)) {
            assertEquals(3, context.service(0, Adder.class).add(1, 2), served::toString);
        }
    }

    @Test
    void shouldRefuseNullWhenAContextIsOpenedAndLeaveTheChannelFree() {
        Session other = sessions.session(1);
        check("session", Context::open, (Session) null);
        check("setup", it -> Context.open(it, null), other);
        check("channel", it -> Context.open(it, ContextOptions.DEFAULT, _ -> {}), (Channel) null);
        check("channels", it -> Context.open(it, ContextOptions.DEFAULT, _ -> {}), (List<Channel>) null);
        check("options", it -> Context.open(it.channel(), null, _ -> {}), other);
        check("setup", it -> Context.open(it.channel(), ContextOptions.DEFAULT, null), other);
        Context.open(other).close();
    }

    @Test
    void shouldRefuseNullAsTheSubscriberOfEveryStream() throws Exception {
        try (Endpoint served = context.export(Streams.class, new StreamsImplementation())) {
            Streams streams = context.service(0, Streams.class);
            check("subscriber", it -> it.subscribe(null), streams.numbers());
            check("subscriber", it -> it.subscribe(null), Publishers.of(List.of(1)));
            assertEquals(2, streams.take(Publishers.of(List.of(1, 2))), served::toString);
            assertEquals(List.of(1), Publishers.toList(streams.numbers()).get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldRefuseNullInRequestsAndKeepTheArgument() throws Exception {
        CompletableFuture<byte[]> taken = new CompletableFuture<>();
        try (Endpoint endpoint = context.endpoint().threaded("take", (_, request) -> {
            try {
                check("target", it -> it.get((MemorySegment) null), request);
                check("target", it -> it.get(null, 0, 2), request);
                check("allocator", it -> it.getSegment(null), request);
                check("codec", it -> it.get((Codec<?>) null), request);
                taken.complete(request.getSegment(Arena.ofAuto()).toArray(RequestLayout.BYTE));
            } catch (Throwable e) {
                taken.completeExceptionally(e);
            }
        })) {
            endpoint.startpoint().rsr("take", new Arguments().putBytes(new byte[] {1, 2}));
            assertEquals(2, taken.get(20, TimeUnit.SECONDS).length);
        }
    }
}
