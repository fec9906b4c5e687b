package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.LossKind;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.testkit.LoopFabric;
import io.madeleine.testkit.LoopPmm;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A link that throws what no link throws costs its connection, and nothing else. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BrokenLinkTest {
    private static final int SMALL = 8;
    private static final int LARGE = 1 << 20;
    private static final Set<Class<?>> FAILING = Set.of(ProtocolConnection.class, DynamicLink.class, StaticLink.class);

    private final LoopFabric fabric = new LoopFabric();
    private volatile Error thrown = new AssertionError("of the link");
    private volatile String failing = "";

    /** Whether the link has done what it was called for when it throws. */
    private volatile boolean failsAfterwards;

    /** How the connections of rank 0 on channel "default" have ended. */
    private final Map<Object, Queue<String>> ends = Collections.synchronizedMap(new IdentityHashMap<>());

    private LocalSessions sessions = open();

    /** The links of rank 0 on channel "default" throw when they are told to. */
    private LocalSessions open() {
        List<LoopTm> tms = List.of(
                LoopTm.withDynamicBuffers("group", LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, Long.MAX_VALUE));
        LoopFabric copying = new LoopFabric();
        List<LoopTm> cells =
                List.of(LoopTm.withStaticBuffers("cells", AggregationMode.ASYMMETRIC, Long.MAX_VALUE, 1024));
        return LocalSessions.of(2)
                .network("loop", rank -> rank == 0 ? breakable(new LoopPmm(fabric, tms)) : new LoopPmm(fabric, tms))
                .network("sound", _ -> new LoopPmm(fabric, tms))
                .network(
                        "copying",
                        rank -> rank == 0 ? breakable(new LoopPmm(copying, cells)) : new LoopPmm(copying, cells))
                .channel("default", "loop")
                .channel("copied", "copying")
                .channel("other", "sound")
                .open();
    }

    private ProtocolModule breakable(ProtocolModule driver) {
        return (ProtocolModule) wrapped(ProtocolModule.class, driver);
    }

    private Object wrapped(Class<?> type, Object target) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, method, arguments) -> {
            if (type == ProtocolConnection.class && List.of("finish", "giveUp").contains(method.getName())) {
                ends.computeIfAbsent(target, _ -> new ConcurrentLinkedQueue<>()).add(method.getName());
            }
            boolean fails = FAILING.contains(type) && method.getName().equals(failing);
            if (fails && !failsAfterwards) {
                throw thrown;
            }
            try {
                Object result = method.invoke(target, arguments);
                if (fails) {
                    throw thrown;
                }
                return method.getName().equals("progress") ? result : wrappedResult(result);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    private @Nullable Object wrappedResult(@Nullable Object result) {
        return switch (result) {
            case Adapter adapter -> wrapped(Adapter.class, adapter);
            case ProtocolChannel channel -> wrapped(ProtocolChannel.class, channel);
            case ProtocolConnection connection -> wrapped(ProtocolConnection.class, connection);
            case DynamicLink link -> wrapped(DynamicLink.class, link);
            case StaticLink link -> wrapped(StaticLink.class, link);
            case CompletableFuture<?> future -> future.thenApply(this::wrappedResult);
            case List<?> list
            when !list.isEmpty() && list.getFirst() instanceof TransmissionLink ->
                list.stream().map(this::wrappedResult).toList();
            case null, default -> result;
        };
    }

    @BeforeEach
    void warmUp() {
        exchange("default");
    }

    @AfterEach
    void close() {
        sessions.close();
    }

    private Channel channel(int rank) {
        return sessions.channel(rank);
    }

    private static MemorySegment block(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    /** One message in each direction. */
    private void exchange(String name) {
        for (int from = 0; from < 2; from++) {
            try (OutgoingMessage out = sessions.session(from).channel(name).beginPacking(1 - from)) {
                out.packInt(from).endPacking();
            }
            try (IncomingMessage in = sessions.session(1 - from).channel(name).beginUnpacking()) {
                assertEquals(from, in.unpackInt());
                in.endUnpacking();
            }
        }
    }

    private static PeerFailedException failureOf(Runnable call) {
        PeerFailedException thrown = assertThrows(PeerFailedException.class, call::run);
        if (thrown.rank() >= 0) { // not for want of any peer
            assertEquals(LossKind.CONNECTION, thrown.kind(), thrown::getMessage);
        }
        return thrown;
    }

    private static CompletableFuture<PeerFailedException> startFailing(Runnable call) {
        return CompletableFuture.supplyAsync(
                () -> failureOf(call), task -> Thread.ofPlatform().daemon().start(task));
    }

    /** Both ends know, here why, and nobody else has taken harm. */
    private void checkGivenUp() throws Exception {
        for (Runnable call : List.<Runnable>of(
                () -> channel(0).beginPacking(1), () -> channel(0).beginUnpacking(1))) {
            String text = String.valueOf(failureOf(call).getMessage());
            assertTrue(text.contains("this process has given the connection up: " + thrown), text);
        }
        PeerFailedException there =
                startFailing(this::receiveLargeAtOtherEnd).get(20, TimeUnit.SECONDS); // which may have begun to arrive
        assertEquals(0, there.rank());
        exchange("other");
    }

    private void receiveLargeAtOtherEnd() {
        try (IncomingMessage in = channel(1).beginUnpacking(0)) {
            in.unpack(block(LARGE), SendMode.CHEAPER, ReceiveMode.CHEAPER).endUnpacking();
        }
    }

    private OutgoingMessage begin(int bytes) {
        return channel(0).beginPacking(1).pack(block(bytes), SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }

    @Test
    void shouldGiveTheConnectionUpIfALinkFailsWhileAMessageIsEnded() throws Exception {
        failing = "send";
        try (OutgoingMessage out = begin(SMALL)) {
            assertSame(thrown, assertThrows(AssertionError.class, out::endPacking));
        }
        checkGivenUp();
    }

    @Test
    void shouldGiveTheConnectionUpIfALinkFailsWhileAMessageIsEndedAsynchronously() throws Exception {
        failing = "send";
        try (OutgoingMessage out = begin(SMALL)) {
            assertSame(thrown, assertThrows(AssertionError.class, out::endPackingAsync));
        }
        checkGivenUp();
    }

    @Test
    void shouldFailACompletionIfALinkFailsUnderItsLeader() throws Exception {
        try (OutgoingMessage out = begin(LARGE)) {
            Completion sent = out.endPackingAsync();
            failing = "send";
            String text = String.valueOf(failureOf(sent::await).getMessage());
            assertTrue(text.contains("given the connection up"), text);
        }
        checkGivenUp();
    }

    @Test
    void shouldGiveTheConnectionUpIfALinkFailsWhileAMessageIsClosed() throws Exception {
        CompletableFuture<PeerFailedException> there = startFailing(this::receiveLargeAtOtherEnd);
        OutgoingMessage out = begin(LARGE);
        out.pack(block(SMALL), SendMode.SAFER, ReceiveMode.EXPRESS);
        failing = "send";
        out.close();
        failing = "front";
        assertEquals(0, there.get(20, TimeUnit.SECONDS).rank());
        checkGivenUp();
    }

    @Test
    void shouldGiveTheConnectionUpIfALinkFailsWhileAHeldMessageIsUnpacked() throws Exception {
        try (OutgoingMessage out = channel(1).beginPacking(0)) {
            out.packInt(1).endPacking();
        }
        try (IncomingMessage in = channel(0).beginUnpacking()) {
            failing = "receive";
            assertSame(thrown, assertThrows(AssertionError.class, in::unpackInt));
            failureOf(in::unpackInt);
        }
        checkGivenUp();
    }

    @Test
    void shouldNotTakeLeaveInOrderOfAPeerThatItHasGivenUp() {
        OutgoingMessage out = begin(LARGE);
        failing = "send";
        assertThrows(AssertionError.class, out::endPacking);
        sessions.session(0).close();
        List<String> ofGivenUp = ends.values().stream()
                .map(List::copyOf)
                .filter(calls -> calls.contains("giveUp"))
                .findFirst()
                .orElseThrow();
        assertEquals(List.of("giveUp"), ofGivenUp);
    }

    @Test
    void shouldGiveTheConnectionUpIfALinkFailsWhileItIsPolled() throws Exception {
        failing = "front";
        String text = String.valueOf(failureOf(() -> {
                    try (OutgoingMessage out = channel(1).beginPacking(0)) {
                        out.packInt(1).endPacking();
                    }
                    channel(0).beginUnpacking();
                })
                .getMessage());
        assertTrue(text.contains("given the connection up"), text);
        checkGivenUp();
    }

    @Test
    void shouldFailWhoWaitsForAMessageOfWhichALinkFails() throws Exception {
        try (OutgoingMessage out = channel(1).beginPacking(0)) {
            out.packInt(1);
            out.pack(block(LARGE), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            CompletableFuture<PeerFailedException> there = startFailing(out::endPacking);
            try (IncomingMessage in = channel(0).beginUnpacking()) {
                in.unpackInt();
                in.unpack(block(LARGE), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                failing = "receive";
                Throwable seen = assertThrows(Throwable.class, in::endUnpacking);
                assertTrue(seen == thrown || seen instanceof PeerFailedException, seen::toString);
            }
            assertEquals(0, there.get(20, TimeUnit.SECONDS).rank());
        }
        checkGivenUp();
    }

    // ---- memory that is short

    private void runOutOfMemory(String method, boolean afterwards) {
        thrown = new OutOfMemoryError("of the link");
        failsAfterwards = afterwards;
        failing = method;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveTheConnectionUpIfMemoryEndsWithinALinkThatSends(boolean afterwards) throws Exception {
        runOutOfMemory("send", afterwards);
        try (OutgoingMessage out = begin(SMALL)) {
            assertSame(thrown, assertThrows(OutOfMemoryError.class, out::endPacking));
            failing = "";
        }
        if (afterwards) { // it has left, once
            try (IncomingMessage in = channel(1).beginUnpacking(0)) {
                in.unpack(block(SMALL)).endUnpacking();
            }
        }
        checkGivenUp();
    }

    @ParameterizedTest
    @ValueSource(strings = {"skip", "release"})
    void shouldGiveTheConnectionUpIfMemoryEndsWithinALinkThatDrops(String method) throws Exception {
        try (OutgoingMessage out = channel(1).beginPacking(0)) {
            out.pack(block(SMALL), SendMode.CHEAPER, ReceiveMode.CHEAPER).endPacking();
        }
        runOutOfMemory(method, true);
        try (IncomingMessage in = channel(0).beginUnpacking()) {
            in.discard();
        } catch (OutOfMemoryError e) {
            assertSame(thrown, e);
        }
        failing = "";
        checkGivenUp();
    }

    @Test
    void shouldGoOnWhereItWasIfMemoryEndsWhileALinkLooksOrReceives() {
        for (String method : List.of("front", "receive")) {
            try (OutgoingMessage out = channel(1).beginPacking(0)) {
                out.packInt(7).pack(block(LARGE)).endPackingAsync();
            }
            IncomingMessage in = channel(0).beginUnpacking();
            runOutOfMemory(method, method.equals("receive"));
            MemorySegment received = block(LARGE);
            assertThrows(OutOfMemoryError.class, () -> {
                assertEquals(7, in.unpackInt());
                in.unpack(received).endUnpacking();
            });
            failing = "";
            in.close();
            exchange("default");
        }
    }

    @Test
    void shouldReceiveFurtherMessagesIfMemoryEndsWhereEventsAreAskedFor() {
        for (int number = 0; number < 2; number++) {
            try (OutgoingMessage out = channel(1).beginPacking(0)) {
                out.packInt(number).endPacking();
            }
        }
        try (IncomingMessage in = channel(0).beginUnpacking(1)) {
            assertEquals(0, in.unpackInt());
            sessions.session(0).progress(); // finds the second message, and wants no events until the first has ended
            runOutOfMemory("receiveInterest", false);
            assertSame(thrown, assertThrows(OutOfMemoryError.class, in::endUnpacking));
            failing = "";
        }
        try (IncomingMessage in = channel(0).beginUnpacking(1, 20, TimeUnit.SECONDS)) {
            assertEquals(1, in.unpackInt());
            in.endUnpacking();
        }
        exchange("default");
    }

    @Test
    void shouldSendNothingMoreOfAMessageIfMemoryEndsWhileItIsGivenUp() {
        Channel sender = sessions.session(0).channel("copied");
        OutgoingMessage out = sender.beginPacking(1);
        out.packInt(1);
        runOutOfMemory("abandon", false);
        assertSame(thrown, assertThrows(OutOfMemoryError.class, out::close));
        failing = "";
        sender.tryBeginPacking(1).ifPresent(OutgoingMessage::close); // gives it up in place of its user
        try (IncomingMessage in = sessions.session(1).channel("copied").beginUnpacking(0)) {
            assertThrows(MessageAbortedException.class, in::unpackInt);
        }
        exchange("copied");
    }
}
