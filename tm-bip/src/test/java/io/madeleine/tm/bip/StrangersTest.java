package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.testkit.Certificates;
import io.madeleine.tm.bip.protocol.Datagram;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A stranger without the session's secret, who has an address and so gets a cookie. */
@Timeout(60)
class StrangersTest {
    private static final int MOST_IN_HANDSHAKE = 8;
    private static final String FEW = "madeleine.tm.bip.handshake.max-unauthenticated = " + MOST_IN_HANDSHAKE + "\n";
    private static final long PROBES_NS = 300_000_000;

    @TempDir
    Path folder;

    private final Arena arena = Arena.ofShared();
    private final Datagram datagram = new Datagram(arena);
    private DatagramChannel socket;
    private long lastCaller;

    @BeforeEach
    void open() throws IOException {
        socket = DatagramChannel.open();
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        socket.setOption(StandardSocketOptions.SO_RCVBUF, 1 << 20);
        socket.configureBlocking(false);
    }

    @AfterEach
    void close() throws IOException {
        socket.close();
        arena.close();
    }

    private static ConnectionTable connections(Pair.Side side) {
        return ((BipProgress) side.adapter.progress()).connections();
    }

    private static InetSocketAddress address(Pair.Side side) {
        String address = side.adapter.address();
        return new InetSocketAddress(
                InetAddress.getLoopbackAddress(), Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
    }

    private void send(Pair.Side to) throws IOException {
        int _ = datagram.seal();
        int _ = socket.send(datagram.bytes(), address(to));
    }

    private void begin(int kind, long id, int encryption) {
        datagram.begin(kind, 0, id, encryption);
    }

    private void fill() {
        while (datagram.bytes().position() < DatagramLayout.REQUEST_BYTES) {
            datagram.bytes().put((byte) 0);
        }
    }

    /** Receives a datagram if there is one; returns its length, or 0. */
    private int receive() throws IOException {
        datagram.clear();
        if (socket.receive(datagram.bytes()) == null) {
            return 0;
        }
        datagram.arrived();
        return datagram.length();
    }

    private byte[] cookie(Pair.Side from, long id, int encryption) throws IOException {
        begin(DatagramLayout.INIT, id, encryption);
        fill();
        send(from);
        while (receive() == 0) {
            from.poll();
        }
        while (datagram.destination() != id) { // the last word to an earlier id
            int _ = receive();
            from.poll();
        }
        assertEquals(DatagramLayout.COOKIE, datagram.kind());
        byte[] cookie = new byte[DatagramLayout.COOKIE_BYTES];
        datagram.bytes().get(DatagramLayout.HEADER_BYTES, cookie);
        return cookie;
    }

    private void openConnection(Pair.Side to, long id, int encryption) throws IOException {
        byte[] cookie = cookie(to, id, encryption);
        begin(DatagramLayout.OPEN, id, encryption);
        datagram.bytes().put(cookie);
        fill();
        send(to);
        while (receive() == 0 || datagram.kind() != DatagramLayout.ACCEPT || datagram.destination() != id) {
            to.poll();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaveNoMoreConnectionsThanMayBeInTheHandshakeAndAFewThatAreToldWhy(boolean encrypts) throws Exception {
        Certificates authority = new Certificates(folder, "authority", BipSide.ENCRYPTION);
        String left = FEW + (encrypts ? authority.sign("left").settings(authority) : "");
        String right = encrypts ? authority.sign("right").settings(authority) : "";
        int encryption = encrypts ? DatagramLayout.AES_GCM : DatagramLayout.PLAIN;
        try (Pair pair = new Pair(left, right)) {
            int most = 0;
            for (int id = 1; id <= 300; id++) {
                openConnection(pair.left, id, encryption);
                most = Math.max(most, connections(pair.left).all().length);
            }
            assertTrue(most <= MOST_IN_HANDSHAKE + BipAdapter.MOST_REFUSED + 1, most + " connections");
            pair.connect("honest");
        }
    }

    /** Strangers begin TLS handshakes and fall silent; who asks then is served nevertheless. */
    @Test
    void shouldServeOnlySoManyTlsHandshakesOfStrangersAtOnce() throws Exception {
        Certificates authority = new Certificates(folder, "authority", BipSide.ENCRYPTION);
        String third = authority.sign("third").settings(authority);
        try (Pair pair = new Pair(
                        authority.sign("left").settings(authority),
                        authority.sign("right").settings(authority));
                Pair.Side honest = new Pair.Side(3, third)) {
            for (int i = 0; i < 130; i++) {
                CompletableFuture<ProtocolConnection> _ = pair.right.connect("silent" + i, pair.left, true);
            }
            pair.right.poll();
            for (int polls = 0; polls < 20 || connections(pair.left).all().length < 110; polls++) {
                pair.left.poll();
                pair.right.poll();
            }
            CompletableFuture<ProtocolConnection> calling = honest.connect("honest", pair.left, true);
            CompletableFuture<ProtocolConnection> called = pair.left.connect("honest", honest, false);
            int most = 0;
            while (!calling.isDone() || !called.isDone()) {
                pair.left.poll();
                honest.poll();
                most = Math.max(most, ((BipAdapter) pair.left.adapter).waitingTlsCount());
            }
            calling.join();
            called.join();
            assertTrue(most <= 64 + 16, most + " handshakes waited"); // those that have begun may come on top
        }
    }

    /** A peer that answers and then knows nothing of it: else its callers would take all its time. */
    @Test
    void shouldPauseBeforeItCallsAPeerAgainThatSendsItAway() throws Exception {
        try (Pair pair = new Pair("", "")) {
            String own = pair.right.adapter.address();
            CompletableFuture<ProtocolConnection> calling = pair.left.connect(
                    "sent away",
                    pair.right,
                    own.substring(0, own.lastIndexOf(':') + 1) + socket.socket().getLocalPort(),
                    true);
            Set<Long> calls = new HashSet<>();
            long beganNs = System.nanoTime();
            while (calls.size() < 5) {
                pair.left.poll();
                if (receive() > 0 && sendAway(pair.left)) {
                    calls.add(lastCaller);
                }
            }
            long tookNs = System.nanoTime() - beganNs;
            assertTrue(
                    tookNs >= 5_000_000 + 10_000_000 + 20_000_000 + 40_000_000, tookNs + " ns"); // half of each pause
            assertFalse(calling.isDone());
        }
    }

    /** Answers what has been received; returns whether a call begins with it. */
    private boolean sendAway(Pair.Side caller) throws IOException {
        long id = datagram.number();
        switch (datagram.kind()) {
            case DatagramLayout.INIT -> {
                lastCaller = id;
                datagram.begin(DatagramLayout.COOKIE, id, 0, 0);
                datagram.bytes().put(new byte[DatagramLayout.COOKIE_BYTES]);
                send(caller);
                return true;
            }
            case DatagramLayout.OPEN -> datagram.begin(DatagramLayout.ACCEPT, id, 77, DatagramLayout.PLAIN);
            default -> datagram.begin(DatagramLayout.UNKNOWN, 0, 77, 0);
        }
        send(caller);
        return false;
    }

    @Test
    void shouldSendNoMoreThanItWasSentToAPeerThatHasProvedNothing() throws Exception {
        try (Pair pair = new Pair("", "")) {
            openConnection(pair.left, 7, DatagramLayout.PLAIN);
            long endNs = System.nanoTime() + PROBES_NS;
            int bytes = DatagramLayout.HEADER_BYTES;
            while (System.nanoTime() - endNs < 0) {
                pair.left.poll();
                bytes += receive();
            }
            assertTrue(bytes <= DatagramLayout.REQUEST_BYTES, bytes + " bytes");
        }
    }

    @Test
    void shouldProbeThePathOnceThePeerHasProvedWhoItIs() {
        try (Pair pair = new Pair("", "")) {
            Pair.Ends ends = pair.connect("honest");
            BipConnection called = (BipConnection) ends.right().connection;
            pair.driveUntil(() -> called.endpoint().datagramBytes() > DatagramLayout.SAFE_DATAGRAM_BYTES);
        }
    }

    /** What a request must not be like. */
    private enum Flaw {
        DESTINATION(bytes -> bytes.bytes().putLong(DatagramLayout.DESTINATION_OFFSET, 5)),
        NO_ID(bytes -> bytes.bytes().putLong(DatagramLayout.NUMBER_OFFSET, 0)),
        BODY(bytes -> bytes.bytes().put(DatagramLayout.REQUEST_BYTES - 1, (byte) 1)),
        TOO_LONG(bytes -> bytes.bytes().put((byte) 0)),
        TOO_SHORT(bytes -> bytes.bytes().position(DatagramLayout.REQUEST_BYTES - 1));

        private final Consumer<Datagram> change;

        Flaw(Consumer<Datagram> change) {
            this.change = change;
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotAnswerARequestThatBreaksTheRules(Flaw flaw) throws Exception {
        try (Pair pair = new Pair("", "")) {
            byte[] cookie = cookie(pair.left, 3, DatagramLayout.PLAIN);
            for (int kind : new int[] {DatagramLayout.INIT, DatagramLayout.OPEN}) {
                begin(kind, 3, DatagramLayout.PLAIN);
                if (kind == DatagramLayout.OPEN) {
                    datagram.bytes().put(cookie);
                }
                fill();
                flaw.change.accept(datagram);
                send(pair.left);
            }
            cookie(pair.left, 4, DatagramLayout.PLAIN); // the next answer is that to the next request
            assertEquals(0, connections(pair.left).all().length);
            assertFalse(receive() > 0, "another answer");
        }
    }
}
