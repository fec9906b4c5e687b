package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.handshake.HandshakeFrames;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.InternetAddress;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.testkit.RecordingLogger;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.reactor.IoTransport;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens when two adapters, or an adapter and somebody else, make each other's acquaintance. */
@Timeout(60)
class HandshakeTest {
    private Pair pair;

    @BeforeEach
    void open() {
        pair = new Pair();
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    private void use(Pair other) {
        pair.close();
        pair = other;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private CompletableFuture<ProtocolConnection> call(String channel) {
        return pair.left.connect(channel, pair.right, true, 42);
    }

    private CompletableFuture<ProtocolConnection> answer(String channel, long digest) {
        return pair.right.connect(channel, pair.left, false, digest);
    }

    private void driveUntilDone(Future<?>... futures) {
        pair.driveUntil(() -> List.of(futures).stream().allMatch(Future::isDone));
    }

    private static void assertContains(String part, String text) {
        assertTrue(text.contains(part), () -> "\"" + part + "\" is missing in: " + text);
    }

    /** Drives the adapters while a stranger talks to one of them. */
    private <T> T whileDriving(Callable<T> stranger) throws Exception {
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<T> done = executor.submit(stranger);
            driveUntilDone(done);
            return done.get();
        }
    }

    private Socket stranger() throws IOException {
        Socket socket = new Socket();
        int port = InternetAddress.parse(pair.right.adapter.address(), "tcp").port();
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5000);
        socket.setSoTimeout(15_000);
        return socket;
    }

    private static void sendFrame(Socket socket, byte[] frame) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(ByteBuffer.allocate(2 + frame.length)
                .putShort((short) frame.length)
                .put(frame)
                .array());
    }

    /** The next frame, or an empty one at the end of the stream. */
    private static ByteBuffer readFrame(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        try {
            return ByteBuffer.wrap(in.readNBytes(in.readUnsignedShort()));
        } catch (java.io.EOFException | SocketException _) {
            return ByteBuffer.allocate(0);
        }
    }

    private static byte rejectCode(ByteBuffer frame) {
        assertEquals(HandshakeFrames.REJECT, frame.get());
        assertEquals(HandshakeFrames.MAGIC, frame.getInt());
        frame.getShort();
        return frame.get();
    }

    private void assertStillWorks() throws Exception {
        Pair.Ends ends = pair.connect("afterwards");
        assertEquals(LinkStatus.COMPLETE, ends.left().link.send(header(0), new BufferGroup(), 0));
        pair.driveUntil(() -> ends.right().link.front() != 0);
    }

    /** Strangers must not fill the log: there are fewer lines than so many, and one more for each second. */
    private void assertSeldomLogs(int few, long startNs) {
        long seconds = (System.nanoTime() - startNs) / 1_000_000_000;
        List<String> lines = pair.right.log.lines();
        assertTrue(lines.size() < few + seconds, () -> lines.size() + " lines in " + seconds + " s");
    }

    private static long header(int payloadBytes) {
        return PacketHeader.of(payloadBytes, 0, 0, PacketHeader.FIRST);
    }

    @Test
    void shouldNotListenWhereOtherHostsComeWithoutASecret() {
        Pair.assumeIo();
        for (String bind : new String[] {"0.0.0.0", "::"}) {
            TcpPmm pmm = new TcpPmm(
                    TcpConfig.from(Pair.config("madeleine.tm.tcp.adapters.default.bind = \"" + bind + "\"")));
            NettyReactor reactor = (NettyReactor) pmm.offerReactor().orElseThrow();
            ProcessContext context = new ProcessContext(
                    Pair.SESSION, new ProcessIdentity(1, 0), Pair.SECRET, false, reactor, new RecordingLogger());
            String message = assertThrows(ConfigurationException.class, () -> pmm.openAdapter("default", context))
                    .getMessage();
            assertTrue(message.contains("madeleine.session.secret is empty"), message);
            assertTrue(message.contains("madeleine.tm.tcp.adapters.default.bind = " + bind), message);
            reactor.close();
        }
    }

    @Test
    void shouldConnectWhicheverSideComesFirst() throws Exception {
        var early = answer("one", 42);
        var late = call("one");
        driveUntilDone(early, late);
        assertEquals(pair.left.identity, early.get().peer());
        assertEquals(pair.right.identity, late.get().peer());
        var first = call("two");
        for (int i = 0; i < 2000; i++) {
            pair.poll();
        }
        assertFalse(first.isDone(), "the peer has not asked for it yet");
        var second = answer("two", 42);
        driveUntilDone(first, second);
        assertTrue(first.get().bidirectional() && second.get().bidirectional());
    }

    @Test
    void shouldConnectWhileBothSidesOnlySleep() throws Exception {
        var calling = call("main");
        var answering = answer("main", 42);
        Thread left = Thread.ofPlatform().start(() -> sleepUntil(pair.left, calling));
        sleepUntil(pair.right, answering);
        left.join();
        assertTrue(calling.isDone() && answering.isDone());
    }

    private static void sleepUntil(Pair.Side side, Future<?> done) {
        long startNs = System.nanoTime();
        while (!done.isDone() && System.nanoTime() - startNs < Pair.PATIENCE.toNanos()) {
            side.block(Pair.PATIENCE);
        }
    }

    @Test
    void shouldKeepTheConnectionsOfChannelsApart() throws Exception {
        var a = call("a");
        var b = call("b");
        var otherB = answer("b", 42);
        var otherA = answer("a", 42);
        driveUntilDone(a, b, otherA, otherB);
        Pair.End outA = new Pair.End(a.get());
        Pair.End inA = new Pair.End(otherA.get());
        Pair.End inB = new Pair.End(otherB.get());
        outA.link.send(header(0), new BufferGroup(), 0);
        pair.driveUntil(() -> inA.link.front() != 0);
        assertEquals(0, inB.link.front());
    }

    @Test
    void shouldLoseNoPacketThatComesTogetherWithTheVerdict() throws Exception {
        for (int round = 0; round < 200; round++) {
            var calling = call("c" + round);
            var answering = answer("c" + round, 42);
            while (!answering.isDone()) {
                pair.left.poll();
                pair.right.poll();
            }
            Pair.End talker = new Pair.End(answering.get());
            assertEquals(LinkStatus.COMPLETE, talker.link.send(header(0), new BufferGroup(), 0));
            driveUntilDone(calling);
            Pair.End listener = new Pair.End(calling.get());
            pair.driveUntil(() -> listener.link.front() == header(0));
        }
    }

    @Test
    @Tag("measures")
    void shouldRefuseAnotherSecretAtBothEnds() throws Exception {
        use(new Pair(new Pair.Side(1, Pair.SESSION, Pair.SECRET), new Pair.Side(2, Pair.SESSION, bytes("another"))));
        var calling = call("main");
        var answering = pair.right
                .adapter
                .openChannel("main")
                .connect(new io.madeleine.pmm.spi.ConnectionRequest(
                        pair.left.identity,
                        "",
                        false,
                        pair.right.pmm.transmissionModules(),
                        42,
                        System.nanoTime() + 3_000_000_000L));
        driveUntilDone(calling, answering);
        assertContains("do not have the same session secret", Pair.failureOf(calling));
        assertContains("do not have the same session secret", Pair.failureOf(answering));
    }

    @Test
    void shouldRefuseAnotherSession() throws Exception {
        use(new Pair(new Pair.Side(1, "session-1", Pair.SECRET), new Pair.Side(2, "session-2", Pair.SECRET)));
        var calling = call("main");
        driveUntilDone(calling);
        assertContains("is in session \"session-2\", not in \"session-1\"", Pair.failureOf(calling));
    }

    @Test
    void shouldRefuseADifferentSelectionTableAtBothEnds() throws Exception {
        var calling = call("main");
        var answering = answer("main", 43);
        driveUntilDone(calling, answering);
        assertContains("the selection tables differ (digest 2a", Pair.failureOf(calling));
        assertContains("the selection tables differ (digest 2a", Pair.failureOf(answering));
        assertContains("this side calls", Pair.failureOf(calling));
        assertContains("this side accepts", Pair.failureOf(answering));
        assertStillWorks();
    }

    @Test
    void shouldRefuseAnUnknownChannelAfterAWhile() throws Exception {
        use(new Pair("madeleine.tm.tcp.handshake.max-wait = 100ms"));
        var calling = call("nowhere");
        driveUntilDone(calling);
        assertContains("has not opened channel \"nowhere\"", Pair.failureOf(calling));
        assertStillWorks();
    }

    @Test
    void shouldGiveUpAtTheDeadlineWhenThePeerDoesNotCallOrDoesNotListen() throws Exception {
        var request = new io.madeleine.pmm.spi.ConnectionRequest(
                new ProcessIdentity(9, 0),
                pair.right.adapter.address(),
                false,
                pair.left.pmm.transmissionModules(),
                42,
                System.nanoTime() + 100_000_000L);
        var answering = pair.left.adapter.openChannel("main").connect(request);
        driveUntilDone(answering);
        assertContains("did not call until the deadline", Pair.failureOf(answering));
        String address = pair.right.adapter.address();
        pair.right.close();
        var calling = pair.left
                .adapter
                .openChannel("main")
                .connect(new io.madeleine.pmm.spi.ConnectionRequest(
                        pair.right.identity,
                        address,
                        true,
                        pair.left.pmm.transmissionModules(),
                        42,
                        System.nanoTime() + Pair.PATIENCE.toNanos()));
        long startNs = System.nanoTime();
        while (!calling.isDone() && System.nanoTime() - startNs < Pair.PATIENCE.toNanos()) {
            pair.left.poll();
        }
        assertContains("Connection refused", Pair.failureOf(calling));
        assertContains("127.0.0.1 is a loopback address", Pair.failureOf(calling));
        assertContains(".bind there", Pair.failureOf(calling));
        pair = new Pair(pair.left, new Pair.Side(2, Pair.SESSION, Pair.SECRET));
    }

    @Test
    void shouldTellAStrangerOfAnotherVersionSo() throws Exception {
        byte code = whileDriving(() -> {
            try (Socket socket = stranger()) {
                sendFrame(
                        socket,
                        ByteBuffer.allocate(39)
                                .put(HandshakeFrames.HELLO)
                                .putInt(HandshakeFrames.MAGIC)
                                .putShort((short) 77)
                                .array());
                byte rejected = rejectCode(readFrame(socket));
                assertFalse(readFrame(socket).hasRemaining(), "the connection has to be closed");
                return rejected;
            }
        });
        assertEquals(HandshakeFrames.OTHER_VERSION, code);
        assertStillWorks();
    }

    @Test
    void shouldTellTheCallerOfAPeerOfAnotherVersion() throws Exception {
        try (var server = new java.net.ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            var calling = pair.left
                    .adapter
                    .openChannel("main")
                    .connect(new io.madeleine.pmm.spi.ConnectionRequest(
                            pair.right.identity,
                            "tag@127.0.0.1:" + server.getLocalPort(),
                            true,
                            pair.left.pmm.transmissionModules(),
                            42,
                            System.nanoTime() + Pair.PATIENCE.toNanos()));
            whileDriving(() -> {
                try (Socket socket = server.accept()) {
                    readFrame(socket);
                    sendFrame(
                            socket,
                            ByteBuffer.allocate(8)
                                    .put(HandshakeFrames.REJECT)
                                    .putInt(HandshakeFrames.MAGIC)
                                    .putShort((short) 77)
                                    .put(HandshakeFrames.OTHER_VERSION)
                                    .array());
                    return readFrame(socket);
                }
            });
            driveUntilDone(calling);
            assertContains("it has 77, this process 2", Pair.failureOf(calling));
        }
    }

    @Test
    void shouldNotBelieveAPeerThatCannotProveTheSecret() throws Exception {
        try (var server = new java.net.ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            var calling = pair.left
                    .adapter
                    .openChannel("main")
                    .connect(new io.madeleine.pmm.spi.ConnectionRequest(
                            pair.right.identity,
                            "tag@127.0.0.1:" + server.getLocalPort(),
                            true,
                            pair.left.pmm.transmissionModules(),
                            42,
                            System.nanoTime() + Pair.PATIENCE.toNanos()));
            byte code = whileDriving(() -> {
                try (Socket socket = server.accept()) {
                    ByteBuffer hello = readFrame(socket);
                    byte[] nonce = new byte[HandshakeFrames.NONCE_BYTES];
                    hello.position(7).get(nonce);
                    sendFrame(
                            socket,
                            HandshakeFrames.acceptor(bytes("guessed"), nonce).challenge());
                    return rejectCode(readFrame(socket));
                }
            });
            assertEquals(HandshakeFrames.OTHER_SECRET, code);
            driveUntilDone(calling);
            assertContains("do not have the same session secret", Pair.failureOf(calling));
        }
    }

    @Test
    void shouldNotReadTheBodyOfAJoinWhoseProofDoesNotHold() throws Exception {
        byte code = whileDriving(() -> {
            try (Socket socket = stranger()) {
                HandshakeFrames theirs = HandshakeFrames.initiator(bytes("guessed"));
                sendFrame(socket, theirs.hello());
                ByteBuffer challenge = readFrame(socket);
                assertEquals(HandshakeFrames.CHALLENGE, challenge.get());
                challenge.position(7);
                assertFalse(theirs.readChallenge(challenge), "the acceptor's proof is of another secret");
                sendFrame(
                        socket,
                        theirs.join(new HandshakeFrames.Join(
                                Pair.SESSION, "main", pair.left.identity, pair.right.identity, 42)));
                return rejectCode(readFrame(socket));
            }
        });
        assertEquals(HandshakeFrames.OTHER_SECRET, code);
        assertStillWorks();
    }

    @Test
    void shouldNotAcceptAProofThatWasHeardInAnotherHandshake() throws Exception {
        byte code = whileDriving(() -> {
            byte[] heard;
            HandshakeFrames first = HandshakeFrames.initiator(Pair.SECRET);
            try (Socket socket = stranger()) {
                sendFrame(socket, first.hello());
                ByteBuffer challenge = readFrame(socket).position(7);
                assertTrue(first.readChallenge(challenge));
                heard = first.join(
                        new HandshakeFrames.Join(Pair.SESSION, "replay", pair.left.identity, pair.right.identity, 42));
                sendFrame(socket, heard);
            }
            try (Socket socket = stranger()) {
                sendFrame(socket, first.hello());
                readFrame(socket);
                sendFrame(socket, heard);
                return rejectCode(readFrame(socket));
            }
        });
        assertEquals(HandshakeFrames.OTHER_SECRET, code);
    }

    @Test
    void shouldDropGarbageAndGoOn() throws Exception {
        Random random = new Random(5);
        List<byte[]> garbage = new ArrayList<>(List.of(
                bytes("GET / HTTP/1.1\r\n\r\n"), new byte[] {0, 0}, new byte[] {0, 1, 99}, new byte[] {-1, -1, 1}));
        for (int i = 0; i < 40; i++) {
            byte[] noise = new byte[2 + random.nextInt(3000)];
            random.nextBytes(noise);
            noise[0] = (byte) random.nextInt(9);
            noise[2 % noise.length] = (byte) random.nextInt(7);
            garbage.add(noise);
        }
        long startNs = System.nanoTime();
        for (byte[] noise : garbage) {
            whileDriving(() -> {
                try (Socket socket = stranger()) {
                    socket.getOutputStream().write(noise);
                    socket.shutdownOutput();
                    return socket.getInputStream().readAllBytes();
                } catch (SocketException _) {
                    return noise; // reset is as good as closed
                }
            });
        }
        assertStillWorks();
        assertSeldomLogs(10, startNs);
        assertContains(
                "WARNING tcp: a connection from /127.0.0.1:",
                pair.right.log.lines().getFirst());
    }

    @Test
    @Tag("measures")
    void shouldDropASilentOrSlowStrangerInTime() throws Exception {
        use(new Pair("madeleine.tm.tcp.handshake.timeout = 200ms"));
        byte code = whileDriving(() -> {
            try (Socket silent = stranger();
                    Socket slow = stranger()) {
                slow.getOutputStream().write(new byte[] {0, 38, HandshakeFrames.HELLO});
                assertEquals(HandshakeFrames.TOO_SLOW, rejectCode(readFrame(slow)));
                assertFalse(readFrame(slow).hasRemaining());
                return rejectCode(readFrame(silent));
            }
        });
        assertEquals(HandshakeFrames.TOO_SLOW, code);
        assertStillWorks();
    }

    @Test
    void shouldDropThoseOfTooManyStrangersWhoHaveBeenSilentForLongest() throws Exception {
        use(new Pair("madeleine.tm.tcp.handshake.max-unauthenticated = 4"));
        whileDriving(() -> {
            List<Socket> strangers = new ArrayList<>();
            for (int i = 0; i < 7; i++) {
                strangers.add(stranger());
                sendFrame(
                        strangers.getLast(),
                        HandshakeFrames.initiator(Pair.SECRET).hello());
                assertEquals(
                        HandshakeFrames.CHALLENGE,
                        readFrame(strangers.getLast()).get());
            }
            for (int i = 0; i < 3; i++) {
                assertFalse(readFrame(strangers.get(i)).hasRemaining(), "the oldest have to go");
            }
            for (Socket socket : strangers.subList(3, 7)) {
                socket.setSoTimeout(50);
                org.junit.jupiter.api.Assertions.assertThrows(
                        java.net.SocketTimeoutException.class,
                        () -> socket.getInputStream().read());
                socket.close();
            }
            return true;
        });
        assertStillWorks();
    }

    @Test
    @Tag("measures")
    void shouldKeepWhoSpeaksAmongTooManySilentStrangers() throws Exception {
        use(new Pair("madeleine.tm.tcp.handshake.max-unauthenticated = 4"));
        whileDriving(() -> {
            List<Socket> strangers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                strangers.add(stranger());
            }
            Thread.sleep(300); // until all are in
            Socket speaker = strangers.getFirst();
            sendFrame(speaker, HandshakeFrames.initiator(Pair.SECRET).hello());
            assertEquals(HandshakeFrames.CHALLENGE, readFrame(speaker).get());
            for (int i = 0; i < 3; i++) {
                strangers.add(stranger());
            }
            for (Socket silent : strangers.subList(1, 4)) {
                assertFalse(readFrame(silent).hasRemaining(), "who has said nothing has to go");
            }
            speaker.setSoTimeout(50);
            assertThrows(
                    java.net.SocketTimeoutException.class,
                    () -> speaker.getInputStream().read());
            for (Socket socket : strangers) {
                socket.close();
            }
            return true;
        });
        assertStillWorks();
    }

    /** It may have come in a bad moment. */
    @Test
    void shouldCallAgainIfThePeerFoundItTooSlow() throws Exception {
        try (var server = new java.net.ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            var calling = pair.left
                    .adapter
                    .openChannel("main")
                    .connect(new io.madeleine.pmm.spi.ConnectionRequest(
                            pair.right.identity,
                            "tag@127.0.0.1:" + server.getLocalPort(),
                            true,
                            pair.left.pmm.transmissionModules(),
                            42,
                            System.nanoTime() + Pair.PATIENCE.toNanos()));
            whileDriving(() -> {
                try (Socket socket = server.accept()) {
                    readFrame(socket);
                    sendFrame(socket, HandshakeFrames.reject(HandshakeFrames.TOO_SLOW));
                }
                try (Socket again = server.accept()) {
                    return readFrame(again).remaining();
                }
            });
            assertFalse(calling.isDone());
        }
    }

    @Test
    void shouldConnectAmongFiveHundredHalfOpenConnectionsThatAreRenewed() throws Exception {
        long startNs = System.nanoTime();
        var over = new java.util.concurrent.atomic.AtomicBoolean();
        var made = new java.util.concurrent.atomic.AtomicInteger();
        Thread attacker = Thread.ofPlatform().start(() -> {
            java.util.ArrayDeque<Socket> open = new java.util.ArrayDeque<>();
            while (!over.get()) {
                try {
                    open.add(stranger());
                    made.incrementAndGet();
                    if (open.size() > 500) {
                        open.remove().close();
                    }
                } catch (IOException _) {
                    // no room for the moment
                }
            }
            open.forEach(socket -> {
                try {
                    socket.close();
                } catch (IOException _) {
                    // closed in any case
                }
            });
        });
        try {
            pair.driveUntil(() -> made.get() >= 600);
            for (int i = 0; i < 5; i++) {
                pair.connect("channel " + i);
            }
        } finally {
            over.set(true);
            pair.driveUntil(() -> !attacker.isAlive());
        }
        assertSeldomLogs(20, startNs);
    }

    @Test
    void shouldListenOnAfterAnErrorInAccepting() throws Exception {
        Pair.assumeIo();
        if (Pair.io() == IoTransport.NIO) {
            var channel = (io.netty.channel.socket.nio.NioServerSocketChannel) pair.right.adapter.server();
            var method = io.netty.channel.nio.AbstractNioMessageChannel.class.getDeclaredMethod(
                    "closeOnReadError", Throwable.class);
            method.setAccessible(true);
            assertEquals(false, method.invoke(channel, new OutOfMemoryError("for a moment")));
        }
        pair.right.adapter.server().pipeline().fireExceptionCaught(new OutOfMemoryError("for a moment"));
        assertStillWorks();
    }

    /** Here because of a request that names no module; memory may be short as well. */
    @Test
    void shouldFailAtOnceWhenAConnectionCannotBeSetUp() throws Exception {
        var calling = pair.left
                .adapter
                .openChannel("main")
                .connect(new io.madeleine.pmm.spi.ConnectionRequest(
                        pair.right.identity,
                        pair.right.adapter.address(),
                        true,
                        List.of(),
                        42,
                        System.nanoTime() + 10 * Pair.PATIENCE.toNanos()));
        var answering = answer("main", 42);
        driveUntilDone(calling, answering);
        assertContains("the connection broke while it was being set up", Pair.failureOf(calling));
        Pair.End end = new Pair.End(answering.get());
        end.whenReadable(() -> end.link.front() > 0);
        pair.driveUntil(() -> end.losses > 0);
        assertStillWorks();
    }

    @Test
    void shouldFailARequestWhenTheLoopHasClosedMeanwhile() throws Exception {
        var channel = pair.left.adapter.openChannel("main");
        pair.left.reactor.close();
        for (boolean initiator : new boolean[] {true, false}) {
            var wanted = channel.connect(new io.madeleine.pmm.spi.ConnectionRequest(
                    pair.right.identity,
                    pair.right.adapter.address(),
                    initiator,
                    pair.left.pmm.transmissionModules(),
                    42,
                    System.nanoTime() + Pair.PATIENCE.toNanos()));
            assertTrue(wanted.isDone());
            assertContains("the adapter is closed", Pair.failureOf(wanted));
        }
    }

    @Test
    void shouldFailWhatIsUnderWayWhenItsChannelCloses() throws Exception {
        var channel = pair.left.adapter.openChannel("main");
        var calling = channel.connect(new io.madeleine.pmm.spi.ConnectionRequest(
                pair.right.identity,
                pair.right.adapter.address(),
                true,
                pair.left.pmm.transmissionModules(),
                42,
                System.nanoTime() + Pair.PATIENCE.toNanos()));
        var answering = channel.connect(new io.madeleine.pmm.spi.ConnectionRequest(
                new ProcessIdentity(7, 0),
                "",
                false,
                pair.left.pmm.transmissionModules(),
                42,
                System.nanoTime() + Pair.PATIENCE.toNanos()));
        for (int i = 0; i < 1000; i++) {
            pair.poll();
        }
        channel.close();
        driveUntilDone(calling, answering);
        assertContains("the channel was closed", Pair.failureOf(calling));
        assertContains("the channel was closed", Pair.failureOf(answering));
    }
}
