package io.madeleine.switching;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static io.madeleine.api.SendMode.SAFER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.Signal;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.testkit.LoopFabric;
import io.madeleine.testkit.LoopPmm;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Channels, messages and what belongs to them refuse null by the parameter's name, and go on as if nothing had been
 * said.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NullsTest {
    private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);

    private static LocalSessions sessions;

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
    }

    @AfterAll
    static void close() {
        sessions.close();
    }

    /** A call with null, and the parameter that is null. */
    private record Nulled<T>(String parameter, Consumer<T> call) {}

    private static <T> Nulled<T> call(String parameter, Consumer<T> call) {
        return new Nulled<>(parameter, call);
    }

    private static <T> void check(Nulled<T> call, T target) {
        NullPointerException refused =
                assertThrows(NullPointerException.class, () -> call.call().accept(target));
        assertTrue(String.valueOf(refused.getMessage()).contains(call.parameter()), refused::toString);
    }

    static Stream<Nulled<Channel>> onChannels() {
        return Stream.of(
                call("handler", channel -> channel.onMessage(null)),
                call("unit", channel -> channel.beginPacking(1, 0, null)),
                call("unit", channel -> channel.beginUnpacking(0, null)),
                call("unit", channel -> channel.beginUnpacking(1, 0, null)),
                call("block", channel -> channel.send(1, null, SAFER, EXPRESS)),
                call("sendMode", channel -> channel.send(1, EMPTY, null, EXPRESS)),
                call("receiveMode", channel -> channel.send(1, EMPTY, SAFER, null)),
                call("unit", channel -> channel.send(1, EMPTY, 0, 0, SAFER, EXPRESS, 0, null)),
                call("block", channel -> channel.receive(null, SAFER, EXPRESS)),
                call("sendMode", channel -> channel.receive(EMPTY, null, EXPRESS)),
                call("receiveMode", channel -> channel.receive(1, EMPTY, SAFER, null)),
                call("unit", channel -> channel.receive(EMPTY, 0, 0, SAFER, EXPRESS, 0, null)),
                call("block", channel -> channel.receive(1, null, SAFER, EXPRESS)),
                call("unit", channel -> channel.receive(1, EMPTY, 0, 0, SAFER, EXPRESS, 0, null)));
    }

    @ParameterizedTest
    @MethodSource("onChannels")
    void shouldRefuseNullInChannels(Nulled<Channel> call) {
        check(call, sessions.channel(0));
        exchange(_ -> {}, _ -> {});
    }

    static Stream<Nulled<OutgoingMessage>> onOutgoingMessages() {
        return Stream.of(
                call("block", out -> out.pack((MemorySegment) null)),
                call("block", out -> out.pack((MemorySegment) null, SAFER, EXPRESS)),
                call("block", out -> out.pack(null, 0, 0, SAFER, EXPRESS)),
                call("block", out -> out.pack((BlockLayout) null, SAFER, EXPRESS)),
                call("block", out -> out.pack((ByteBuffer) null, SAFER, EXPRESS)),
                call("block", out -> out.pack((byte[]) null, SAFER, EXPRESS)),
                call("block", out -> out.pack((short[]) null, SAFER, EXPRESS)),
                call("block", out -> out.pack((char[]) null, SAFER, EXPRESS)),
                call("block", out -> out.pack((int[]) null, SAFER, EXPRESS)),
                call("block", out -> out.pack((long[]) null, SAFER, EXPRESS)),
                call("block", out -> out.pack((float[]) null, SAFER, EXPRESS)),
                call("block", out -> out.pack((double[]) null, SAFER, EXPRESS)),
                call("sendMode", out -> out.pack(EMPTY, null, EXPRESS)),
                call("receiveMode", out -> out.pack(EMPTY, 0, 0, SAFER, null)),
                call("sendMode", out -> out.pack(BlockLayout.of(EMPTY, 0, 0), null, EXPRESS)),
                call("value", out -> out.packUtf8(null)),
                call("unit", out -> out.within(0, null)),
                call("unit", out -> out.endPacking(0, null)));
    }

    @ParameterizedTest
    @MethodSource("onOutgoingMessages")
    void shouldRefuseNullInOutgoingMessages(Nulled<OutgoingMessage> call) {
        exchange(out -> check(call, out), _ -> {});
    }

    static Stream<Nulled<IncomingMessage>> onIncomingMessages() {
        return Stream.of(
                call("block", in -> in.unpack((MemorySegment) null)),
                call("block", in -> in.unpack((MemorySegment) null, SAFER, EXPRESS)),
                call("block", in -> in.unpack(null, 0, 0, SAFER, EXPRESS)),
                call("block", in -> in.unpack((BlockLayout) null, SAFER, EXPRESS)),
                call("block", in -> in.unpack((ByteBuffer) null, SAFER, EXPRESS)),
                call("block", in -> in.unpack((byte[]) null, SAFER, EXPRESS)),
                call("block", in -> in.unpack((short[]) null, SAFER, EXPRESS)),
                call("block", in -> in.unpack((char[]) null, SAFER, EXPRESS)),
                call("block", in -> in.unpack((int[]) null, SAFER, EXPRESS)),
                call("block", in -> in.unpack((long[]) null, SAFER, EXPRESS)),
                call("block", in -> in.unpack((float[]) null, SAFER, EXPRESS)),
                call("block", in -> in.unpack((double[]) null, SAFER, EXPRESS)),
                call("sendMode", in -> in.unpack(EMPTY, null, EXPRESS)),
                call("receiveMode", in -> in.unpack(EMPTY, 0, 0, SAFER, null)),
                call("receiveMode", in -> in.unpack(BlockLayout.of(EMPTY, 0, 0), SAFER, null)),
                call("unit", in -> in.within(0, null)),
                call("unit", in -> in.endUnpacking(0, null)));
    }

    @ParameterizedTest
    @MethodSource("onIncomingMessages")
    void shouldRefuseNullInIncomingMessages(Nulled<IncomingMessage> call) {
        exchange(_ -> {}, in -> check(call, in));
    }

    static Stream<Nulled<Signal>> onSignals() {
        return Stream.of(
                call("condition", signal -> signal.await(null)),
                call("condition", signal -> signal.await(null, 0, TimeUnit.SECONDS)),
                call("unit", signal -> signal.await(() -> true, 0, null)));
    }

    @ParameterizedTest
    @MethodSource("onSignals")
    void shouldRefuseNullInSignals(Nulled<Signal> call) {
        for (Signal signal : List.of(
                sessions.session(0).newSignal(), sessions.session(0).channel().newSignal())) {
            check(call, signal);
            signal.await(() -> true);
        }
    }

    @Test
    void shouldRefuseNullInCompletionsAndKeepTheActionThatTheyHave() throws Exception {
        CompletableFuture<String> called = new CompletableFuture<>();
        OutgoingMessage out = sessions.channel(0).beginPacking(1);
        out.pack(new byte[2_000], SAFER, CHEAPER);
        Completion sent = out.endPackingAsync();
        sent.onDone(() -> called.complete("action"));
        check(call("action", completion -> completion.onDone(null)), sent);
        check(call("unit", completion -> completion.await(0, null)), sent);
        try (IncomingMessage in = sessions.channel(1).beginUnpacking(0)) {
            in.unpack(new byte[2_000], SAFER, CHEAPER).endUnpacking();
        }
        assertEquals("action", called.get(20, TimeUnit.SECONDS));
        out.close();
    }

    private static void exchange(Consumer<OutgoingMessage> atSender, Consumer<IncomingMessage> atReceiver) {
        try (OutgoingMessage out = sessions.channel(0).beginPacking(1)) {
            out.packInt(7);
            atSender.accept(out);
            out.packInt(8).endPacking();
        }
        try (IncomingMessage in = sessions.channel(1).beginUnpacking(0)) {
            assertEquals(7, in.unpackInt());
            atReceiver.accept(in);
            assertEquals(8, in.unpackInt());
            in.endUnpacking();
        }
    }
}
