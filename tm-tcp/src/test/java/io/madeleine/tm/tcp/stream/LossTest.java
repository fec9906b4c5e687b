package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.handshake.HandshakeFrames;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.tcp.Pair;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How connections end, and what a peer that breaks the protocol can do. */
@Timeout(60)
class LossTest {
    private Pair pair;
    private Pair.End left;
    private Pair.End right;

    @BeforeEach
    void connect() throws Exception {
        pair = new Pair();
        Pair.Ends ends = pair.connect();
        left = ends.left();
        right = ends.right();
        right.whenReadable(() -> right.link.front() > 0);
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    private static long header(int payloadBytes) {
        return PacketHeader.of(payloadBytes, 1, 0, PacketHeader.FIRST);
    }

    private static BufferGroup group(int bytes) {
        BufferGroup group = new BufferGroup();
        group.add(Arena.ofAuto().allocate(bytes), 0, bytes);
        return group;
    }

    @Test
    void shouldDeliverWhatWasSentBeforeTheFarewellAndCallItOrderly() {
        assertEquals(LinkStatus.COMPLETE, left.link.send(header(1000), group(1000), 0));
        left.connection.finish();
        assertEquals(LinkStatus.CLOSED, left.link.send(header(0), new BufferGroup(), 0));
        pair.driveUntil(() -> right.link.front() == header(1000));
        assertEquals(1000, right.link.skip(1000));
        right.link.release();
        pair.driveUntil(() -> right.losses > 0);
        assertTrue(right.orderly, right.reason);
        assertEquals(LinkStatus.CLOSED, right.link.front());
        assertEquals(LinkStatus.COMPLETE, right.link.send(header(10), group(10), 0), "the other direction still works");
        pair.driveUntil(() -> left.link.front() == header(10));
    }

    @Test
    void shouldTellOfAnEndWithoutFarewell() {
        assertEquals(LinkStatus.COMPLETE, left.link.send(header(50), group(50), 0));
        left.connection.close();
        assertEquals(LinkStatus.CLOSED, left.link.front());
        assertEquals(LinkStatus.CLOSED, left.link.send(header(0), new BufferGroup(), 0));
        pair.driveUntil(() -> right.link.front() == header(50));
        right.link.skip(50);
        right.link.release();
        pair.driveUntil(() -> right.losses > 0);
        assertFalse(right.orderly);
        assertTrue(right.reason.contains("without a farewell"), right.reason);
        assertEquals(LinkStatus.CLOSED, right.link.front());
        right.connection.close();
        right.connection.close();
        for (int i = 0; i < 100; i++) {
            pair.poll();
        }
        assertEquals(1, right.losses);
        assertEquals(0, left.losses, "who closes is not told");
    }

    @Test
    void shouldTellOfAnEndInTheMiddleOfAPacket() throws Exception {
        pair.close();
        pair = new Pair("madeleine.tm.tcp { send-buffer = 64 KiB, receive-buffer = 64 KiB, close-linger = 100ms }");
        Pair.Ends ends = pair.connect();
        right = ends.right();
        right.whenReadable(() -> right.link.front() > 0 && right.link.skip(1 << 20) > 0);
        assertEquals(LinkStatus.PENDING, ends.left().link.send(header(50_000_000), group(50_000_000), 0));
        ends.left().connection.finish();
        ends.left().connection.close();
        pair.driveUntil(() -> right.losses > 0);
        assertFalse(right.orderly, "a farewell has no place within a packet");
        assertEquals(header(50_000_000), right.link.front(), "the packet stays in front");
        assertEquals(0, right.link.skip(1 << 20));
    }

    @Test
    void shouldTellOfALossWhenOnlyTheReactorWatches() {
        pair.right.poll();
        for (int i = 0;
                i < 200_000 && ((TcpConnection) right.connection).poller().isHot();
                i++) {
            pair.right.progress.poll(System.nanoTime());
        }
        assertFalse(((TcpConnection) right.connection).poller().isHot(), "an idle connection cools down");
        Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            left.connection.close();
        });
        long startNs = System.nanoTime();
        while (right.losses == 0 && System.nanoTime() - startNs < Pair.PATIENCE.toNanos()) {
            pair.right.block(Pair.PATIENCE);
            pair.left.poll();
        }
        assertEquals(1, right.losses);
    }

    @Test
    void shouldNotLoseWhatIsOnItsWayWhenTheCloserHasNotReadEverything() {
        right.whenReadable(() -> false);
        assertEquals(LinkStatus.COMPLETE, right.link.send(header(5000), group(5000), 0));
        assertEquals(LinkStatus.COMPLETE, left.link.send(header(60_000), group(60_000), 0));
        left.connection.finish();
        left.connection.close(); // 5000 bytes lie unread in its socket
        for (int i = 0; i < 1000; i++) {
            pair.left.poll();
        }
        pair.driveUntil(() -> right.link.front() == header(60_000));
        long[] dropped = {0};
        pair.driveUntil(() -> (dropped[0] += right.link.skip(60_000 - dropped[0])) == 60_000);
        right.link.release();
        pair.driveUntil(() -> right.link.front() == LinkStatus.CLOSED && right.losses > 0);
        assertTrue(right.orderly, right.reason);
    }

    /** A sender that has passed the first check and waited for the lock meanwhile. */
    @Test
    void shouldSendNothingOnceTheConnectionIsGivenUp() throws Exception {
        left.connection.giveUp();
        StreamOutput output = ((TcpConnection) left.connection).output();
        assertEquals(LinkStatus.CLOSED, output.send(header(0), new BufferGroup(), 0, 0));
    }

    @Test
    void shouldCloseAnAdapterInTimeThoughThePeerKeepsItsEndOpen() throws Exception {
        pair.close();
        pair = new Pair(Pair.BRIEF_LINGER);
        pair.connect();
        long startNs = System.nanoTime();
        pair.left.close();
        long tookMs = (System.nanoTime() - startNs) / 1_000_000;
        assertTrue(tookMs >= 290 && tookMs < 10_000, () -> tookMs + " ms");
    }

    /** A peer that knows the secret and how to shake hands, and then does as it likes. */
    private final class Rogue implements AutoCloseable {
        private final Socket socket;
        private final Pair.End end;

        Rogue(String channel) throws Exception {
            int port = pair.right.port();
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            HandshakeFrames handshake = HandshakeFrames.initiator(Pair.SECRET);
            write(handshake.hello());
            DataInputStream in = new DataInputStream(socket.getInputStream());
            driveUntilReadable(in);
            handshake.readChallenge(
                    ByteBuffer.wrap(in.readNBytes(in.readUnsignedShort())).position(7));
            write(handshake.join(
                    new HandshakeFrames.Join(Pair.SESSION, channel, pair.left.identity, pair.right.identity, 42)));
            var answering = pair.right.connect(channel, pair.left, false, 42);
            pair.driveUntil(answering::isDone);
            end = new Pair.End(answering.get());
            in.readNBytes(in.readUnsignedShort());
        }

        private void write(byte[] frame) throws IOException {
            socket.getOutputStream()
                    .write(ByteBuffer.allocate(2 + frame.length)
                            .putShort((short) frame.length)
                            .put(frame)
                            .array());
        }

        private void driveUntilReadable(DataInputStream in) {
            pair.driveUntil(() -> {
                try {
                    return in.available() > 2;
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
        }

        void words(long... words) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(8 * words.length).order(ByteOrder.LITTLE_ENDIAN);
            Arrays.stream(words).forEach(bytes::putLong);
            socket.getOutputStream().write(bytes.array());
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Test
    void shouldBreakOnlyTheConnectionThatGarbageComesThrough() throws Exception {
        try (Rogue rogue = new Rogue("rogue")) {
            rogue.end.whenReadable(() -> rogue.end.link.front() > 0);
            rogue.words(header(0), 0xDEAD_BEEFL);
            pair.driveUntil(() -> rogue.end.link.front() == header(0));
            rogue.end.link.release();
            pair.driveUntil(() -> rogue.end.losses > 0);
            assertFalse(rogue.end.orderly);
            assertTrue(rogue.end.reason.contains("0xdeadbeef"), rogue.end.reason);
            assertEquals(LinkStatus.CLOSED, rogue.end.link.front());
            assertEquals(LinkStatus.CLOSED, rogue.end.link.send(header(0), new BufferGroup(), 0));
            assertEquals(LinkStatus.COMPLETE, left.link.send(header(9), group(9), 0));
            pair.driveUntil(() -> right.link.front() == header(9));
            assertEquals(0, right.losses);
        }
    }

    @Test
    void shouldTellOfAReset() throws Exception {
        try (Rogue rogue = new Rogue("rogue")) {
            rogue.end.whenReadable(() -> rogue.end.link.front() > 0);
            rogue.words(header(0));
            pair.driveUntil(() -> rogue.end.link.front() == header(0));
            rogue.end.link.release();
            rogue.socket.setSoLinger(true, 0);
            rogue.socket.close();
            pair.driveUntil(() -> rogue.end.losses > 0);
            assertFalse(rogue.end.orderly);
            assertTrue(rogue.end.reason.contains("the connection was reset"), rogue.end.reason);
            assertEquals(LinkStatus.CLOSED, rogue.end.link.front());
        }
    }

    @Test
    void shouldAnswerClosedToASenderWhosePeerHasReset() throws Exception {
        Rogue rogue = new Rogue("rogue");
        rogue.socket.setSoLinger(true, 0);
        rogue.close();
        int[] status = {0};
        pair.driveUntil(() -> (status[0] = rogue.end.link.send(header(0), new BufferGroup(), 0)) == LinkStatus.CLOSED);
        pair.driveUntil(() -> rogue.end.losses > 0);
        assertFalse(rogue.end.orderly);
        pair.driveUntil(() -> rogue.end.link.front() == LinkStatus.CLOSED);
    }

    @Test
    void shouldReadPacketsCutAtEveryByte() throws Exception {
        try (Rogue rogue = new Rogue("rogue")) {
            int payload = 40;
            ByteBuffer stream = ByteBuffer.allocate(3 * (8 + payload)).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < 3; i++) {
                stream.putLong(header(payload));
                for (int j = 0; j < payload; j++) {
                    stream.put((byte) (i + j));
                }
            }
            MemorySegment target = MemorySegment.ofArray(new byte[payload]);
            for (int cut = 1; cut < stream.capacity(); cut++) {
                rogue.socket.setTcpNoDelay(true);
                rogue.socket.getOutputStream().write(stream.array(), 0, cut);
                int[] packets = {0};
                BufferGroup group = new BufferGroup();
                group.add(target, 0, payload);
                for (int i = 0; i < 20; i++) {
                    receive(rogue.end, group, target, packets);
                }
                rogue.socket.getOutputStream().write(stream.array(), cut, stream.capacity() - cut);
                pair.driveUntil(() -> receive(rogue.end, group, target, packets) == 3);
            }
        }
    }

    private static int receive(Pair.End end, BufferGroup group, MemorySegment target, int[] packets) {
        if (end.link.front() == header((int) target.byteSize())) {
            end.link.receive(group, group.remainingBytes());
            if (group.isEmpty()) {
                for (int j = 0; j < target.byteSize(); j++) {
                    assertEquals((byte) (packets[0] + j), target.get(java.lang.foreign.ValueLayout.JAVA_BYTE, j));
                }
                packets[0]++;
                end.link.release();
                group.add(target, 0, target.byteSize());
            }
        }
        return packets[0];
    }
}
