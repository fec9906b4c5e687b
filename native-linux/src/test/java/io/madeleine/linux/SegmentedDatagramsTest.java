package io.madeleine.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.pmm.spi.DatagramEngine.Batches;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real sockets of the JDK, over the loopback device. */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SegmentedDatagramsTest {
    private static final int LONGEST = 65_507;
    private static final int ETHERNET = 1_472;
    private static final long PATIENCE_NS = 10_000_000_000L;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment out = arena.allocate(LONGEST + 100, 64);
    private final MemorySegment in = arena.allocate(LONGEST + 1, 64);
    private final List<Socket> opened = new ArrayList<>();

    /** A socket of the JDK with its batches. */
    private record Socket(DatagramChannel channel, InetSocketAddress address, Batches batches) {
        static Socket open(String host) throws IOException {
            DatagramChannel channel = DatagramChannel.open();
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, 1 << 20); // where the default may be small
            channel.bind(new InetSocketAddress(host, 0));
            InetSocketAddress address = (InetSocketAddress) channel.getLocalAddress();
            return new Socket(channel, address, new SegmentationEngine().open(address));
        }
    }

    @BeforeEach
    void check() {
        assumeTrue(
                new SegmentationEngine().availability().on(),
                new SegmentationEngine().availability().reason());
    }

    @AfterEach
    void close() throws IOException {
        for (Socket each : opened) {
            each.batches.close();
            each.channel.close();
        }
        arena.close();
    }

    private Socket open() throws IOException {
        return open("127.0.0.1");
    }

    private Socket open(String host) throws IOException {
        Socket socket = Socket.open(host);
        opened.add(socket);
        return socket;
    }

    /** Sends a datagram that carries a number and its own length in each place. */
    private int send(Socket from, Socket to, int number, int bytes) {
        fill(number, bytes);
        return from.batches.send(out, bytes, to.address);
    }

    private void fill(int number, int bytes) {
        out.asSlice(0, bytes).fill((byte) number);
        out.set(ValueLayout.JAVA_INT_UNALIGNED, 0, number);
        out.set(ValueLayout.JAVA_INT_UNALIGNED, 4, bytes);
    }

    /** Expects that datagram next. */
    private void expect(Socket at, Socket from, int number, int bytes) {
        InetSocketAddress sender = at.batches.receive(in);
        for (long beganNs = System.nanoTime(); sender == null && System.nanoTime() - beganNs < PATIENCE_NS; ) {
            Thread.onSpinWait();
            sender = at.batches.receive(in);
        }
        assertEquals(from.address, sender, () -> "the sender of datagram " + number);
        assertEquals(bytes, at.batches.receivedBytes(), () -> "the length of datagram " + number);
        assertEquals(number, in.get(ValueLayout.JAVA_INT_UNALIGNED, 0));
        assertEquals(bytes, in.get(ValueLayout.JAVA_INT_UNALIGNED, 4));
        assertEquals((byte) number, in.get(ValueLayout.JAVA_BYTE, bytes - 1L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldBringDatagramsOfOneSizeAndAShorterLastOneInOrder(String host) throws IOException {
        boolean isHere = NetworkInterface.getByInetAddress(InetAddress.ofLiteral(host)) != null;
        assumeTrue(isHere, () -> "this system has no address " + host);
        Socket left = open(host);
        Socket right = open(host);
        for (int i = 0; i < 10; i++) {
            assertEquals(Batches.SENT, send(left, right, i, i < 9 ? ETHERNET : 100));
        }
        assertNull(right.batches.receive(in), "kept until the flush");
        assertEquals(Batches.SENT, left.batches.flush());
        for (int i = 0; i < 10; i++) {
            expect(right, left, i, i < 9 ? ETHERNET : 100);
        }
        assertNull(right.batches.receive(in));
    }

    @Test
    void shouldBringDatagramsOfAllSizesToSeveralPeersInOrder() throws IOException {
        Socket left = open();
        List<Socket> peers = List.of(open(), open(), open());
        Random random = new Random(42);
        for (int round = 0; round < 300; round++) {
            List<int[]> sent = new ArrayList<>();
            int bytesInFlight = 0;
            Socket peer = peers.getFirst();
            int bytes = 9;
            for (int i = 0; i < 70 && bytesInFlight < 100_000; i++) {
                if (random.nextInt(8) == 0) {
                    peer = peers.get(random.nextInt(peers.size()));
                }
                if (random.nextInt(6) == 0) {
                    bytes = random.nextInt(10) == 0 ? 9 + random.nextInt(LONGEST - 9) : 9 + random.nextInt(3_000);
                }
                int status = send(left, peer, i, bytes);
                assertEquals(Batches.SENT, status);
                sent.add(new int[] {peers.indexOf(peer), i, bytes});
                bytesInFlight += bytes;
            }
            assertEquals(Batches.SENT, left.batches.flush());
            for (int[] each : sent) {
                expect(peers.get(each[0]), left, each[1], each[2]);
            }
        }
    }

    @Test
    void shouldUnderstandASenderWithoutBatchesAndBeUnderstood() throws IOException {
        Socket left = open();
        try (DatagramChannel plain = DatagramChannel.open().bind(new InetSocketAddress("127.0.0.1", 0))) {
            InetSocketAddress address = (InetSocketAddress) plain.getLocalAddress();
            for (int i = 0; i < 3; i++) {
                fill(i, ETHERNET);
                assertEquals(Batches.SENT, left.batches.send(out, ETHERNET, address));
            }
            assertEquals(Batches.SENT, left.batches.flush());
            for (int i = 0; i < 3; i++) {
                java.nio.ByteBuffer taken = in.asByteBuffer();
                assertEquals(left.address, plain.receive(taken));
                assertEquals(ETHERNET, taken.position());
                assertEquals(i, in.get(ValueLayout.JAVA_INT_UNALIGNED, 0));
                fill(i, 500);
                int _ = plain.send(out.asSlice(0, 500).asByteBuffer(), left.address);
            }
            for (int i = 0; i < 3; i++) {
                expect(left, new Socket(plain, address, left.batches), i, 500);
            }
        }
    }

    @Test
    void shouldSayThatADatagramIsTooLargeAndGoOn() throws IOException {
        Socket left = open();
        Socket right = open();
        assertEquals(Batches.SENT, send(left, right, 1, ETHERNET));
        assertEquals(Batches.TOO_LARGE, send(left, right, 2, LONGEST + 1));
        assertEquals(Batches.SENT, send(left, right, 3, ETHERNET));
        assertEquals(Batches.SENT, left.batches.flush());
        expect(right, left, 1, ETHERNET);
        expect(right, left, 3, ETHERNET);
    }

    @Test
    void shouldSayWhichSocketItDoesNotFind() throws IOException {
        InetSocketAddress gone;
        try (DatagramChannel channel = DatagramChannel.open().bind(new InetSocketAddress("127.0.0.1", 0))) {
            gone = (InetSocketAddress) channel.getLocalAddress();
        }
        SegmentationEngine engine = new SegmentationEngine();
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> engine.open(gone));
        assertTrue(String.valueOf(e.getMessage()).contains(String.valueOf(gone)), e::toString);
    }

    @Test
    @Tag("measures")
    void shouldAllocateNothingForTwoPeersInTurn() throws IOException {
        Socket left = open();
        List<Socket> peers = List.of(open(), open());
        long least = Long.MAX_VALUE;
        for (int stretch = 0; stretch < 100 && least > 0; stretch++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 2_000; i++) {
                pass(left, peers.get(i & 1));
                pass(peers.get(i & 1), left);
            }
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least, "bytes for 4,000 datagrams");
    }

    private void pass(Socket from, Socket to) {
        int _ = from.batches.send(out, ETHERNET, to.address);
        int _ = from.batches.flush();
        while (to.batches.receive(in) == null) {
            Thread.onSpinWait();
        }
    }
}
