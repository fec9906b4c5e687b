package io.madeleine.pmm.handshake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionLink;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two connection managers over lines that are queues, and a clock that the test turns. */
@Timeout(30)
class ConnectionManagerTest {
    private static final ProcessIdentity LEFT = new ProcessIdentity(1, 0);
    private static final ProcessIdentity RIGHT = new ProcessIdentity(2, 0);
    private static final byte[] SECRET = {1, 2, 3, 4};
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long MAX_WAIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

    /** Of all sides: nobody sleeps in it, and thousands of them would take more descriptors than a process may have. */
    private static final SelectorReactor REACTOR = new SelectorReactor();

    private long nowNs = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(5); // it wraps round in each test that waits
    private final Side left = new Side(LEFT, "session", SECRET);
    private final Side right = new Side(RIGHT, "session", SECRET);

    /** One process. */
    private final class Side {
        final ProcessIdentity self;
        final ConnectionManager connections;

        Side(ProcessIdentity self, String session, byte[] secret) {
            this(self, session, secret, 4);
        }

        Side(ProcessIdentity self, String session, byte[] secret, int maxUnauthenticated) {
            this.self = self;
            ProcessContext context =
                    new ProcessContext(session, self, secret, REACTOR, System.getLogger("io.madeleine.handshake.test"));
            this.connections = new ConnectionManager(
                    "loop",
                    context,
                    new HandshakeLimits(TIMEOUT_NS, maxUnauthenticated, MAX_WAIT_NS, "loop.handshake"),
                    Runnable::run);
        }

        PendingConnection request(ProcessIdentity peer, boolean initiator, long digest) {
            PendingConnection wanted = connections.prepare(
                    "main", new ConnectionRequest(peer, "there", initiator, List.of(), digest, nowNs + DEADLINE_NS));
            connections.request(wanted);
            return wanted;
        }
    }

    /** One end of a line. */
    private class End implements HandshakeLine {
        final Deque<byte[]> sent = new ArrayDeque<>();

        @Nullable
        PendingConnection established;

        @Nullable
        String failure;

        boolean decided;

        @Override
        public String remote() {
            return "the other side";
        }

        @Override
        public void send(byte[] frame) {
            assertTrue(frame.length <= HandshakeFrames.MAX_FRAME_BYTES);
            sent.add(frame);
        }

        @Override
        public void established(PendingConnection wanted, byte[] lastFrame) {
            sendLast(lastFrame);
            established = wanted;
            wanted.complete(new NoConnection(wanted.request().peer()));
        }

        @Override
        public void failed(byte[] lastFrame, String reason, boolean isDecided) {
            sendLast(lastFrame);
            failure = reason;
            decided = isDecided;
        }

        private void sendLast(byte[] frame) {
            if (frame.length > 0) {
                send(frame);
            }
        }
    }

    /** A line between two sides. */
    private final class Line {
        final End caller = new End();
        final End called = new End();
        final Handshake calling;
        final Handshake answering;

        Line(Side from, PendingConnection wanted, Side to) {
            answering = to.connections.accept(called, nowNs);
            answering.start();
            calling = from.connections.call(wanted, caller, nowNs);
            calling.start();
        }

        /** A line that is protected, as its ends see it. */
        Line(Side from, Protection seenByCaller, PendingConnection wanted, Side to, Protection seenByCalled) {
            answering = to.connections.accept(called, nowNs);
            calling = from.connections.call(wanted, caller, nowNs);
            calling.start(seenByCaller);
            answering.start(seenByCalled);
        }

        /** Carries frames until there are none. */
        void carry() {
            while (!caller.sent.isEmpty() || !called.sent.isEmpty()) {
                carry(caller, answering);
                carry(called, calling);
            }
        }

        private void carry(End from, Handshake to) {
            byte[] frame = from.sent.poll();
            if (frame != null) {
                to.receive(ByteBuffer.wrap(frame), nowNs);
            }
        }
    }

    /** What one end sees of a protected line. */
    private record Protection(byte kind, int session) implements ChannelBinding {
        @Override
        public byte[] with(byte peerKind, boolean isInitiator) {
            return ByteBuffer.allocate(2 + Integer.BYTES)
                    .put(isInitiator ? kind : peerKind)
                    .put(isInitiator ? peerKind : kind)
                    .putInt(session)
                    .array();
        }
    }

    private static String failureOf(PendingConnection wanted) {
        assertTrue(wanted.future().isDone(), "still pending");
        return String.valueOf(
                assertThrows(CompletionException.class, () -> wanted.future().join())
                        .getCause()
                        .getMessage());
    }

    private static void assertContains(String part, @Nullable String text) {
        assertTrue(text != null && text.contains(part), "\"" + part + "\" is missing in: " + text);
    }

    private void pass(long ns) {
        nowNs += ns;
        left.connections.poll(nowNs);
        right.connections.poll(nowNs);
    }

    // ---- pairing

    @Test
    void shouldConnectWhicheverSideWantsFirst() {
        for (boolean acceptorFirst : new boolean[] {true, false}) {
            PendingConnection early = acceptorFirst ? right.request(LEFT, false, 42) : null;
            PendingConnection calling = left.request(RIGHT, true, 42);
            Line line = new Line(left, calling, right);
            line.carry();
            assertEquals(acceptorFirst, calling.isDone());
            PendingConnection answering = early == null ? right.request(LEFT, false, 42) : early;
            line.carry();
            assertEquals(RIGHT, calling.future().join().peer());
            assertEquals(LEFT, answering.future().join().peer());
            assertEquals(calling, line.caller.established);
            assertEquals(0, right.connections.waitingCount());
        }
        pass(2 * MAX_WAIT_NS);
        assertEquals(Long.MAX_VALUE, left.connections.untilNextNs(nowNs), "nothing is left to look at");
        assertEquals(Long.MAX_VALUE, right.connections.untilNextNs(nowNs));
    }

    @Test
    void shouldTakeTheNextLineIfOneBreaksBeforeItIsAConnection() {
        PendingConnection answering = right.request(LEFT, false, 42);
        PendingConnection calling = left.request(RIGHT, true, 42);
        Handshake[] broken = new Handshake[1];
        End breaking = new End() {
            @Override
            public void established(PendingConnection wanted, byte[] lastFrame) {
                broken[0].fail("the line broke", false);
            }
        };
        broken[0] = right.connections.accept(breaking, nowNs);
        HandshakeFrames peer = HandshakeFrames.initiator(SECRET);
        broken[0].receive(ByteBuffer.wrap(peer.hello()), nowNs);
        challenge(peer, breaking.sent.poll());
        broken[0].receive(ByteBuffer.wrap(peer.join(join("session", RIGHT, 42))), nowNs);
        assertFalse(answering.isDone());
        new Line(left, calling, right).carry();
        assertTrue(answering.isDone(), "its peer called again in vain");
        assertEquals(LEFT, answering.future().join().peer());
        assertEquals(RIGHT, calling.future().join().peer());
    }

    private static HandshakeFrames.Join join(String session, ProcessIdentity acceptor, long digest) {
        return new HandshakeFrames.Join(session, "main", LEFT, acceptor, digest);
    }

    private static void challenge(HandshakeFrames peer, byte @Nullable [] frame) {
        try {
            assertTrue(peer.readChallenge(
                    ByteBuffer.wrap(frame == null ? new byte[0] : frame).position(7)));
        } catch (MalformedFrameException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldForgetWhatIsNotWantedAnyMore() {
        PendingConnection answering = right.request(LEFT, false, 42);
        boolean _ = answering.future().cancel(false);
        PendingConnection calling = left.request(RIGHT, true, 42);
        Line line = new Line(left, calling, right);
        line.carry();
        assertEquals(1, right.connections.waitingCount(), "it waits for the next one");
        left.connections.closeChannel("main");
        assertContains("the channel was closed", failureOf(calling));
        assertContains("it is not wanted any more", line.caller.failure);
        right.connections.close();
        assertContains("the process closes its adapter", line.called.failure);
    }

    @Test
    void shouldKeepTheNewerOfTwoRequestsAndOfTwoCalls() {
        PendingConnection calling = left.request(RIGHT, true, 42);
        Line first = new Line(left, calling, right);
        first.carry();
        Line second = new Line(left, calling, right);
        second.carry();
        assertContains("the peer called again", first.called.failure);
        assertEquals(1, right.connections.waitingCount());
        PendingConnection answering = right.request(LEFT, false, 42);
        assertEquals(answering, second.called.established);

        PendingConnection former = right.request(new ProcessIdentity(3, 0), false, 42);
        PendingConnection newer = right.request(new ProcessIdentity(3, 0), false, 42);
        assertContains("a second request for the same connection was made", failureOf(former));
        assertFalse(newer.isDone());
    }

    @Test
    void shouldCloseAConnectionWhoseRequestWasCancelled() {
        PendingConnection wanted = left.request(RIGHT, true, 42);
        boolean _ = wanted.future().cancel(false);
        AtomicInteger closed = new AtomicInteger();
        wanted.complete(new NoConnection(RIGHT, closed));
        assertEquals(1, closed.get());
        PendingConnection other = left.request(RIGHT, true, 42);
        other.complete(new NoConnection(RIGHT, closed));
        assertEquals(1, closed.get(), "somebody has it");
    }

    @Test
    void shouldNotConnectWhatWasCancelledBeforeTheVerdictCame() {
        PendingConnection answering = right.request(LEFT, false, 42);
        PendingConnection calling = left.request(RIGHT, true, 42);
        Line line = new Line(left, calling, right);
        while (!answering.isDone()) {
            line.carry(line.caller, line.answering);
            if (!answering.isDone()) {
                line.carry(line.called, line.calling);
            }
        }
        boolean _ = calling.future().cancel(false);
        line.carry();
        assertContains("it is not wanted any more", line.caller.failure);
        assertEquals(null, line.caller.established);
    }

    @Test
    void shouldEndEverythingWhenItCloses() {
        End silent = new End();
        right.connections.accept(silent, nowNs).start();
        Line waiting = new Line(left, left.request(RIGHT, true, 42), right);
        waiting.carry();
        PendingConnection outgoing = right.request(new ProcessIdentity(3, 0), true, 42);
        End unanswered = new End();
        right.connections.call(outgoing, unanswered, nowNs).start();
        PendingConnection incoming = right.request(new ProcessIdentity(4, 0), false, 42);
        right.connections.close();
        for (String failure :
                new String[] {silent.failure, unanswered.failure, failureOf(outgoing), failureOf(incoming)}) {
            assertContains("the adapter is closing", failure);
        }
        assertContains("the process closes its adapter", waiting.called.failure);
        assertTrue(silent.decided && unanswered.decided && waiting.called.decided);
        assertEquals(0, right.connections.waitingCount());
    }

    // ---- protected lines

    @Test
    void shouldConnectOverAProtectedLineThatBothEndsSeeAlike() {
        PendingConnection answering = right.request(LEFT, false, 42);
        PendingConnection calling = left.request(RIGHT, true, 42);
        Line line = new Line(left, new Protection((byte) 1, 7), calling, right, new Protection((byte) 2, 7));
        assertTrue(line.caller.sent.isEmpty(), "the acceptor says first that it has taken the certificate");
        line.carry();
        assertEquals(RIGHT, calling.future().join().peer());
        assertEquals(LEFT, answering.future().join().peer());
    }

    @Test
    void shouldRefuseAThirdPartyBetweenTwoProtectedLines() {
        PendingConnection answering = right.request(LEFT, false, 42);
        PendingConnection calling = left.request(RIGHT, true, 42);
        Line line = new Line(left, new Protection((byte) 1, 7), calling, right, new Protection((byte) 2, 8));
        line.carry();
        assertContains("or a third party stands between them", line.caller.failure);
        assertContains("or a third party stands between them", line.called.failure);
        assertTrue(line.caller.decided && line.called.decided && !answering.isDone());
    }

    /** Each says by its first frame how it protects the line; a third party may change that. */
    @Test
    void shouldRefuseAProtectedLineWhoseKindWasChangedOnTheWay() {
        for (boolean ready : new boolean[] {true, false}) {
            PendingConnection answering = right.request(LEFT, false, 42);
            PendingConnection calling = left.request(RIGHT, true, 42);
            Line line = new Line(left, new Protection((byte) 1, 7), calling, right, new Protection((byte) 2, 7));
            if (!ready) {
                line.carry(line.called, line.calling);
            }
            byte[] first = (ready ? line.called : line.caller).sent.element();
            first[first.length - 1] ^= 4;
            line.carry();
            assertContains("or a third party stands between them", line.caller.failure);
            assertFalse(answering.isDone());
        }
    }

    @Test
    void shouldTakeReadyOnceAndOnAProtectedLineOnly() {
        End open = new End();
        Handshake unprotected = left.connections.call(left.request(RIGHT, true, 42), open, nowNs);
        unprotected.start();
        unprotected.receive(ByteBuffer.wrap(HandshakeFrames.ready((byte) 2)), nowNs);
        assertContains("frame 6 out of turn", open.failure);

        End early = new End();
        Handshake unprotectedYet = left.connections.call(left.request(RIGHT, true, 42), early, nowNs);
        unprotectedYet.receive(ByteBuffer.wrap(HandshakeFrames.ready((byte) 2)), nowNs);
        assertContains("frame 6 out of turn", early.failure);

        for (byte[] twice : new byte[][] {HandshakeFrames.ready((byte) 2), new byte[] {HandshakeFrames.VERDICT}}) {
            End end = new End();
            Handshake calling = left.connections.call(left.request(RIGHT, true, 42), end, nowNs);
            calling.start(new Protection((byte) 1, 7));
            calling.receive(ByteBuffer.wrap(HandshakeFrames.ready((byte) 2)), nowNs);
            assertEquals(null, end.failure);
            assertFalse(calling.isOver());
            calling.receive(ByteBuffer.wrap(twice), nowNs);
            assertContains("frame " + twice[0] + " out of turn", end.failure);
            assertTrue(calling.isOver());
        }
    }

    // ---- refusals say what, which side and which key

    @Test
    void shouldRefuseAnotherSecretOnBothSides() {
        Side stranger = new Side(LEFT, "session", new byte[] {9});
        PendingConnection calling = stranger.request(RIGHT, true, 42);
        PendingConnection answering = right.request(LEFT, false, 42);
        Line line = new Line(stranger, calling, right);
        line.carry();
        assertContains("do not have the same session secret (madeleine.session.secret)", line.caller.failure);
        assertContains("do not have the same session secret (madeleine.session.secret)", line.called.failure);
        assertTrue(line.caller.decided && line.called.decided);
        pass(DEADLINE_NS);
        assertContains("(this side accepts): the peer did not call", failureOf(answering));
        assertContains("do not have the same session secret", failureOf(answering));
    }

    @Test
    void shouldRefuseADifferentSelectionTableOnBothSides() {
        PendingConnection calling = left.request(RIGHT, true, 42);
        PendingConnection answering = right.request(LEFT, false, 43);
        Line line = new Line(left, calling, right);
        line.carry();
        String expected = "the selection tables differ (digest 2a at the initiator 1.0, 2b at the acceptor 2.0)";
        assertContains(expected, line.caller.failure);
        assertContains(expected, failureOf(answering));
        assertTrue(line.caller.decided);
    }

    @Test
    void shouldRefuseAnotherSessionAndAnotherProcess() {
        Side elsewhere = new Side(LEFT, "other", SECRET);
        Line line = new Line(elsewhere, elsewhere.request(RIGHT, true, 42), right);
        line.carry();
        assertContains("is in session \"session\", not in \"other\"", line.caller.failure);
        line = new Line(left, left.request(new ProcessIdentity(3, 0), true, 42), right);
        line.carry();
        assertContains("this is process 2.0, not 3.0", line.caller.failure);
    }

    @Test
    void shouldTellVersionsOfBothSides() {
        End end = new End();
        Handshake answering = right.connections.accept(end, nowNs);
        byte[] hello = HandshakeFrames.initiator(SECRET).hello();
        ByteBuffer.wrap(hello).putShort(5, (short) 77);
        answering.receive(ByteBuffer.wrap(hello), nowNs);
        assertContains("the peer speaks version 77", end.failure);
        byte[] reject = end.sent.remove();
        ByteBuffer.wrap(reject).putShort(5, (short) 77);
        PendingConnection calling = left.request(RIGHT, true, 42);
        End caller = new End();
        left.connections.call(calling, caller, nowNs).receive(ByteBuffer.wrap(reject), nowNs);
        assertContains("it has 77, this process " + HandshakeFrames.VERSION, caller.failure);
        assertContains("run the same release in all processes", caller.failure);
    }

    // ---- deadlines

    @Test
    void shouldEndWhatTakesTooLongAndNameTheKey() {
        End silent = new End();
        right.connections.accept(silent, nowNs).start();
        PendingConnection calling = left.request(RIGHT, true, 42);
        End unanswered = new End();
        left.connections.call(calling, unanswered, nowNs).start();
        assertEquals(TIMEOUT_NS, right.connections.untilNextNs(nowNs));
        pass(TIMEOUT_NS - 1);
        assertEquals(null, silent.failure);
        pass(1);
        assertContains("longer than 10000 ms (loop.handshake.timeout)", silent.failure);
        assertContains("longer than 10000 ms (loop.handshake.timeout)", unanswered.failure);
        assertFalse(unanswered.decided, "it may be faster the next time");
        assertFalse(calling.isDone());
        pass(DEADLINE_NS - TIMEOUT_NS);
        assertContains("(this side calls): the deadline has come, and the handshake took longer", failureOf(calling));
    }

    @Test
    void shouldSayThatThePeerHasNotAnsweredIfNothingElseIsKnown() {
        PendingConnection calling = left.request(RIGHT, true, 42);
        pass(DEADLINE_NS);
        assertContains("the deadline has come, and the peer has not answered; is the channel", failureOf(calling));
    }

    @Test
    void shouldLetAnAuthenticatedPeerWaitForItsTimeAndNotForLonger() {
        PendingConnection calling = left.request(RIGHT, true, 42);
        Line line = new Line(left, calling, right);
        line.carry();
        right.connections.poll(nowNs + MAX_WAIT_NS - 1);
        assertEquals(1, right.connections.waitingCount());
        right.connections.poll(nowNs + MAX_WAIT_NS);
        line.carry();
        assertContains("process 2.0 has not opened channel \"main\" to you within 60000 ms", line.caller.failure);
        assertContains("is the channel configured on network loop", line.caller.failure);
        assertContains("or is one of them slow to open it?", line.caller.failure);
    }

    /** A driver sleeps until the time that it is told, and then calls once. */
    @Test
    void shouldEndEachThingInTimeForADriverThatSleepsUntilTheNextDeadline() {
        long startNs = nowNs;
        End[] silent = {new End(), new End()};
        for (End each : silent) {
            right.connections.accept(each, nowNs).start();
            nowNs += TimeUnit.SECONDS.toNanos(1);
        }
        End[] unanswered = {new End(), new End()};
        for (End each : unanswered) {
            right.connections
                    .call(right.request(new ProcessIdentity(3, 0), true, 42), each, nowNs)
                    .start();
            nowNs += TimeUnit.SECONDS.toNanos(1);
        }
        Line waiting = new Line(left, left.request(RIGHT, true, 42), right);
        waiting.carry();
        PendingConnection incoming = right.request(new ProcessIdentity(4, 0), false, 42);
        PendingConnection cancelled = right.request(new ProcessIdentity(5, 0), false, 42);
        boolean _ = cancelled.future().cancel(false);

        assertFalse(right.connections.poll(nowNs), "nothing is due");
        List<String> seen = new ArrayList<>();
        for (int i = 0; right.connections.untilNextNs(nowNs) != Long.MAX_VALUE; i++) {
            assertTrue(i < 20, "it is told to come again and again: " + seen);
            nowNs += right.connections.untilNextNs(nowNs);
            assertTrue(right.connections.poll(nowNs));
            seen.add(TimeUnit.NANOSECONDS.toSeconds(nowNs - startNs) + ": " + failed(silent) + failed(unanswered)
                    + failed(waiting.called) + (incoming.isDone() ? 1 : 0));
        }
        assertTrue(
                seen.containsAll(List.of("10: 1000", "11: 2000", "12: 2100", "13: 2200", "34: 2201", "64: 2211")),
                seen::toString);
    }

    private static int failed(End... ends) {
        return (int) Arrays.stream(ends).filter(end -> end.failure != null).count();
    }

    /** After the challenge it is up to the peer's program when it wants the connection. */
    @Test
    void shouldLetACallThatWaitsForThePeersProgramTakeLongerThanAHandshakeMay() {
        Line line = new Line(left, left.request(RIGHT, true, 42), right);
        line.carry();
        pass(2 * TIMEOUT_NS);
        assertEquals(null, line.caller.failure);
        PendingConnection _ = right.request(LEFT, false, 42);
        line.carry();
        assertTrue(line.caller.established != null);
    }

    @Test
    void shouldRefuseAReadyOfAnotherLength() {
        for (int length : new int[] {7, 9}) {
            End end = new End();
            Handshake calling = left.connections.call(left.request(RIGHT, true, 42), end, nowNs);
            calling.start(new Protection((byte) 1, 7));
            calling.receive(ByteBuffer.wrap(Arrays.copyOf(HandshakeFrames.ready((byte) 2), length)), nowNs);
            assertContains("a READY of " + (length - 7) + " bytes, 1 expected", end.failure);
        }
    }

    @Test
    void shouldLetAnAuthenticatedPeerWaitForLessThanAHandshakeMayTake() {
        HandshakeLimits impatient = new HandshakeLimits(TIMEOUT_NS, 4, TIMEOUT_NS / 2, "");
        ProcessContext context =
                new ProcessContext("session", RIGHT, SECRET, REACTOR, System.getLogger("io.madeleine.handshake.test"));
        ConnectionManager connections = new ConnectionManager("loop", context, impatient, Runnable::run);
        End end = new End();
        Handshake answering = connections.accept(end, nowNs);
        HandshakeFrames peer = HandshakeFrames.initiator(SECRET);
        answering.receive(ByteBuffer.wrap(peer.hello()), nowNs);
        challenge(peer, end.sent.poll());
        answering.receive(ByteBuffer.wrap(peer.join(join("session", RIGHT, 42))), nowNs);
        assertEquals(TIMEOUT_NS / 2, connections.untilNextNs(nowNs));
    }

    @Test
    void shouldDropWhoHasBeenSilentForLongestIfThereAreTooMany() {
        List<End> ends = new ArrayList<>();
        List<Handshake> answering = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ends.add(new End());
            answering.add(right.connections.accept(ends.get(i), nowNs));
        }
        answering
                .getFirst()
                .receive(ByteBuffer.wrap(HandshakeFrames.initiator(SECRET).hello()), nowNs);
        right.connections.accept(new End(), nowNs);
        right.connections.accept(new End(), nowNs);
        assertEquals(null, ends.get(0).failure, "it has spoken");
        assertEquals(null, ends.get(3).failure);
        assertContains("more than 4 connections at once (loop.handshake.max-unauthenticated)", ends.get(2).failure);
    }

    // ---- frames that are not what they should be

    /**
     * Each frame of a handshake in turn is cut short, lengthened, changed or replaced; nothing but a clean refusal
     * follows.
     */
    @Test
    void shouldSurviveFramesThatWereCorrupted() {
        Random random = new Random(1);
        for (int round = 0; round < 3_000; round++) {
            Side caller = new Side(LEFT, "session", SECRET);
            Side acceptor = new Side(RIGHT, "session", SECRET);
            PendingConnection answering = acceptor.request(LEFT, false, 42);
            PendingConnection calling = caller.request(RIGHT, true, 42);
            Line line = new Line(caller, calling, acceptor);
            int victim = round % 4;
            for (int i = 0; !line.caller.sent.isEmpty() || !line.called.sent.isEmpty(); i++) {
                boolean fromCaller = !line.caller.sent.isEmpty();
                byte[] frame = (fromCaller ? line.caller : line.called).sent.remove();
                byte[] carried = i == victim ? corrupted(frame, random) : frame;
                (fromCaller ? line.answering : line.calling).receive(ByteBuffer.wrap(carried), nowNs);
            }
            boolean verdict = victim == 3;
            assertTrue(line.caller.established == null, "it believes a corrupted frame");
            assertEquals(line.caller.failure != null, calling.future().isCompletedExceptionally());
            assertEquals(verdict, answering.future().isDone(), "round " + round);
            assertTrue(
                    line.caller.failure != null || line.called.failure != null, "round " + round + " ended in nothing");
        }
    }

    private static byte[] corrupted(byte[] frame, Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(frame, random.nextInt(frame.length));
            case 1 -> Arrays.copyOf(frame, frame.length + 1 + random.nextInt(9));
            case 2 -> {
                byte[] noise = new byte[1 + random.nextInt(300)];
                random.nextBytes(noise);
                noise[0] = (byte) (7 + random.nextInt(100));
                yield noise;
            }
            default -> {
                byte[] changed = frame.clone();
                int at = random.nextInt(5, frame.length);
                if (frame[0] == HandshakeFrames.HELLO) { // its nonce is anything
                    at = random.nextInt(7);
                }
                changed[at] ^= (byte) (1 << random.nextInt(8));
                yield changed;
            }
        };
    }

    @Test
    void shouldSurviveRandomFramesBehindATrueProof() {
        Random random = new Random(2);
        for (int round = 0; round < 2_000; round++) {
            Side acceptor = new Side(RIGHT, "session", SECRET);
            End end = new End();
            Handshake answering = acceptor.connections.accept(end, nowNs);
            HandshakeFrames peer = HandshakeFrames.initiator(SECRET);
            answering.receive(ByteBuffer.wrap(peer.hello()), nowNs);
            challenge(peer, end.sent.poll());
            byte[] body = new byte[random.nextInt(120)];
            random.nextBytes(body);
            answering.receive(ByteBuffer.wrap(peer.proven(HandshakeFrames.JOIN, body)), nowNs);
            assertTrue(end.failure != null, "a body of noise is no JOIN");
        }
    }

    @Test
    void shouldHearNothingAfterTheEnd() {
        End end = new End();
        Handshake answering = right.connections.accept(end, nowNs);
        answering.receive(ByteBuffer.wrap(new byte[] {99}), nowNs);
        assertContains("the peer sent something else than the handshake", end.failure);
        end.sent.clear();
        answering.receive(ByteBuffer.wrap(HandshakeFrames.initiator(SECRET).hello()), nowNs);
        assertTrue(end.sent.isEmpty() && answering.isOver());
    }

    /** What a driver would have made. */
    private record NoConnection(ProcessIdentity peer, AtomicInteger closed) implements ProtocolConnection {
        NoConnection(ProcessIdentity peer) {
            this(peer, new AtomicInteger());
        }

        @Override
        public boolean bidirectional() {
            return true;
        }

        @Override
        public List<TransmissionLink> links() {
            return List.of();
        }

        @Override
        public void start(ConnectionListener listener) {}

        @Override
        public void receiveInterest(boolean wanted) {}

        @Override
        public void finish() {}

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }
}
