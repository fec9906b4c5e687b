package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Proofs;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Frames between two ends, with somebody in between who can change, repeat and drop them. */
class ControlConnectionTest {
    private static final byte[] KEY = Secrets.controlKey("a secret");
    private static final int SERVER_GREETING = 40;
    private static final int CLIENT_GREETING = 72;
    private static final int VERDICT = 33;

    /** Each end waits for the other. */
    private static final Executor THREADS = task -> Thread.ofVirtual().start(task);

    private Socket near;
    private Socket far;
    private ControlConnection client;
    private ControlConnection server;

    /** Connects both ends through this test, which has then passed the handshake on. */
    private void connect() throws Exception {
        try (ServerSocket toClient = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSocket toServer = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<ControlConnection> calling = CompletableFuture.supplyAsync(
                    () -> connection(() -> ControlHandshake.connect(socket(toClient.getLocalPort()), KEY)), THREADS);
            near = toClient.accept();
            far = socket(toServer.getLocalPort());
            Socket accepted = toServer.accept();
            CompletableFuture<ControlConnection> answering =
                    CompletableFuture.supplyAsync(() -> connection(() -> accept(accepted)), THREADS);
            pass(far, near, SERVER_GREETING);
            pass(near, far, CLIENT_GREETING);
            pass(far, near, VERDICT);
            client = calling.get();
            server = answering.get();
        }
    }

    private static ControlConnection accept(Socket socket) throws IOException {
        ControlHandshake handshake = new ControlHandshake(KEY);
        socket.getOutputStream().write(handshake.opening());
        handshake.received().put(socket.getInputStream().readNBytes(CLIENT_GREETING));
        assertTrue(handshake.isProven());
        return handshake.admit(socket);
    }

    private interface Making {
        ControlConnection make() throws IOException;
    }

    private static ControlConnection connection(Making making) {
        try {
            return making.make();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Socket socket(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(5_000);
        return socket;
    }

    private static void pass(Socket from, Socket to, int bytes) throws IOException {
        to.getOutputStream().write(from.getInputStream().readNBytes(bytes));
    }

    /** The next frame that the client has sent. */
    private byte[] taken() throws IOException {
        DataInputStream in = new DataInputStream(near.getInputStream());
        int length = in.readInt();
        byte[] frame = new byte[4 + length + Proofs.BYTES];
        java.nio.ByteBuffer.wrap(frame).putInt(length);
        in.readFully(frame, 4, length + Proofs.BYTES);
        return frame;
    }

    private void send(UnaryOperator<byte[]> change) throws IOException {
        client.send(new ControlMessage.Death(3, "it ended"));
        OutputStream out = far.getOutputStream();
        out.write(change.apply(taken()));
    }

    @AfterEach
    void close() throws IOException {
        for (AutoCloseable one : new AutoCloseable[] {client, server, near, far}) {
            try {
                one.close();
            } catch (Exception e) {
                throw new IOException(e);
            }
        }
    }

    private void assertRefused() {
        String message = assertThrows(IOException.class, () -> server.receive()).getMessage();
        assertTrue(message.contains("not as the other end sent it"), message);
    }

    @Test
    void shouldTakeWhatTheOtherEndSent() throws Exception {
        connect();
        for (int i = 0; i < 3; i++) {
            send(frame -> frame);
            ControlMessage.Death death = assertInstanceOf(
                    ControlMessage.Death.class, server.receive().orElseThrow());
            assertEquals(3, death.rank());
        }
    }

    /** Of its content as of its proof. */
    @Test
    void shouldRefuseAFrameOfWhichAnyByteWasChanged() throws Exception {
        connect();
        client.send(new ControlMessage.Death(3, "it ended"));
        int length = taken().length;
        assertEquals(4 + 1 + 4 + 2 + "it ended".length() + Proofs.BYTES, length);
        for (int i = 4; i < length; i++) {
            close();
            connect();
            int changed = i;
            send(frame -> {
                frame[changed] ^= (byte) (1 << changed % Byte.SIZE);
                return frame;
            });
            assertRefused();
        }
    }

    @Test
    void shouldRefuseARepeatedFrame() throws Exception {
        connect();
        byte[][] first = new byte[1][];
        send(frame -> first[0] = frame);
        assertTrue(server.receive().isPresent());
        far.getOutputStream().write(first[0]);
        assertRefused();
    }

    @Test
    void shouldRefuseAFrameOfAnotherConnection() throws Exception {
        connect();
        client.send(new ControlMessage.Death(3, "it ended"));
        byte[] recorded = taken();
        close();
        connect();
        send(_ -> recorded);
        assertRefused();
    }

    @Test
    void shouldRefuseWhatFollowsADroppedFrame() throws Exception {
        connect();
        send(frame -> new byte[0]);
        send(frame -> frame);
        assertRefused();
    }

    @Test
    void shouldRefuseItsOwnFrame() throws Exception {
        connect();
        client.send(new ControlMessage.Death(3, "it ended"));
        near.getOutputStream().write(taken());
        String message = assertThrows(IOException.class, () -> client.receive()).getMessage();
        assertTrue(message.contains("not as the other end sent it"), message);
    }

    @Test
    void shouldBeatOnlyWhenIdle() throws Exception {
        connect();
        long nowNs = System.nanoTime();
        client.beatIfIdle(nowNs, 1_000_000_000_000L);
        client.send(new ControlMessage.Death(3, "it ended"));
        far.getOutputStream().write(taken());
        assertInstanceOf(ControlMessage.Death.class, server.receive().orElseThrow());
        client.beatIfIdle(System.nanoTime(), 0);
        far.getOutputStream().write(taken());
        assertInstanceOf(ControlMessage.Heartbeat.class, server.receive().orElseThrow());
        near.close();
        far.close();
        assertThrows(EOFException.class, () -> server.receive());
    }

    @Test
    void shouldRefuseALengthThatNoMessageHas() throws Exception {
        for (int length : new int[] {0, -1, Integer.MIN_VALUE, ControlMessage.MAX_FRAME_BYTES + 1, Integer.MAX_VALUE}) {
            connect();
            far.getOutputStream()
                    .write(java.nio.ByteBuffer.allocate(4).putInt(length).array());
            String message =
                    assertThrows(IOException.class, () -> server.receive()).getMessage();
            assertTrue(message.contains("a control message of " + length + " bytes, expected 1 to"), message);
            close();
        }
        connect(); // for the end of the test
    }

    /** A frame may come in any parts, with pauses longer than the timeout between them. */
    @Test
    void shouldGoOnWithAFrameThatHasArrivedInPart() throws Exception {
        connect();
        server.receiveTimeoutMs(1);
        byte[] longest = new byte[ControlMessage.MAX_VALUE_BYTES];
        longest[7] = 1;
        for (ControlMessage message : new ControlMessage[] {
            new ControlMessage.Death(3, "it ended"), new ControlMessage.Put("k".repeat(900), longest)
        }) {
            client.send(message);
            byte[] frame = taken();
            int from = 0;
            for (int part : new int[] {1, 2, 1, 5, frame.length - 10, 1}) {
                assertTrue(server.receive().isEmpty(), from + " bytes are no message");
                far.getOutputStream().write(frame, from, part);
                from += part;
            }
            assertEquals(frame.length, from);
            server.receiveTimeoutMs(5_000);
            assertEquals(message.kind(), server.receive().orElseThrow().kind());
            server.receiveTimeoutMs(1);
        }
    }
}
