package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.tcp.Pair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Packets over one connection, sent and received by one thread that drives both sides. */
class StreamLinkTest {
    private static final int FLAGS = PacketHeader.FIRST | PacketHeader.LAST;

    private Pair pair;
    private DynamicLink out;
    private DynamicLink in;
    private int sequence;

    @BeforeEach
    void connect() throws Exception {
        connect(new Pair());
    }

    private Pair.Ends connect(Pair with) throws Exception {
        if (pair != null) {
            pair.close();
        }
        pair = with;
        Pair.Ends ends = pair.connect();
        out = ends.left().link;
        in = ends.right().link;
        return ends;
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    private static byte[] random(int bytes) {
        byte[] block = new byte[bytes];
        new Random(bytes).nextBytes(block);
        return block;
    }

    private static BufferGroup group(MemorySegment... blocks) {
        BufferGroup group = new BufferGroup();
        for (MemorySegment block : blocks) {
            group.add(block, 0, block.byteSize());
        }
        return group;
    }

    private static MemorySegment nativeCopy(byte[] block) {
        return Arena.ofAuto()
                .allocate(Math.max(block.length, 1))
                .copyFrom(MemorySegment.ofArray(block))
                .asSlice(0, block.length);
    }

    /** Sends and receives one packet, alternating so that a full socket empties. */
    private void exchange(BufferGroup source, BufferGroup target, int bytes) {
        long header = PacketHeader.of(bytes, sequence, 0, FLAGS);
        sequence = (sequence + 1) & 0xFFF;
        int[] status = {LinkStatus.PENDING};
        pair.driveUntil(() -> {
            if (status[0] == LinkStatus.PENDING) {
                status[0] = out.send(header, source, 0);
            }
            if (in.front() == header && !target.isEmpty()) {
                in.receive(target, target.remainingBytes());
            }
            return status[0] == LinkStatus.COMPLETE && in.front() != 0 && target.isEmpty();
        });
        assertEquals(header, in.front());
        in.release();
    }

    private void roundTrip(byte[] block, MemorySegment source, MemorySegment target) {
        exchange(group(source), group(target), block.length);
        assertArrayEquals(block, target.toArray(ValueLayout.JAVA_BYTE));
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                1,
                7,
                8,
                9,
                111,
                1023,
                4096,
                8191,
                8192,
                8193,
                65_527,
                65_528,
                65_529,
                65_536,
                1_048_579,
                16_777_216
            })
    void shouldDeliverPacketsOfAnySizeFromAndToAnyMemory(int bytes) {
        byte[] block = random(bytes);
        MemorySegment heap = MemorySegment.ofArray(block);
        roundTrip(block, heap, MemorySegment.ofArray(new byte[bytes]));
        roundTrip(block, nativeCopy(block), nativeCopy(new byte[bytes]));
        roundTrip(block, heap, nativeCopy(new byte[bytes]));
        roundTrip(block, nativeCopy(block), MemorySegment.ofArray(new byte[bytes]));
    }

    @Test
    void shouldDeliverThroughTinySocketBuffersPieceByPiece() throws Exception {
        connect(new Pair("madeleine.tm.tcp { send-buffer = 4 KiB, receive-buffer = 4 KiB }"));
        for (int bytes : new int[] {1, 5000, 70_000, 1_000_003}) {
            byte[] block = random(bytes);
            roundTrip(block, nativeCopy(block), nativeCopy(new byte[bytes]));
            roundTrip(block, MemorySegment.ofArray(block), MemorySegment.ofArray(new byte[bytes]));
        }
    }

    @Test
    void shouldGatherAndScatterBlocksOfAllKindsWithoutRespectingEachOthersBorders() {
        Random random = new Random(7);
        for (int round = 0; round < 60; round++) {
            int total = 0;
            BufferGroup source = new BufferGroup();
            byte[] expected = new byte[3_000_000];
            for (int i = random.nextInt(40); i >= 0; i--) {
                int bytes = random.nextInt(4) == 0 ? random.nextInt(60_000) : random.nextInt(200);
                byte[] block = random(bytes);
                System.arraycopy(block, 0, expected, total, bytes);
                source.add(random.nextBoolean() ? nativeCopy(block) : MemorySegment.ofArray(block), 0, bytes);
                total += bytes;
            }
            MemorySegment received = Arena.ofAuto().allocate(total + 1);
            BufferGroup target = new BufferGroup();
            for (int at = 0; at < total; ) {
                int bytes = Math.min(total - at, random.nextInt(3) == 0 ? 30_000 : 1 + random.nextInt(500));
                target.add(received, at, bytes);
                at += bytes;
            }
            exchange(source, target, total);
            assertEquals(
                    -1,
                    received.asSlice(0, total)
                            .mismatch(MemorySegment.ofArray(expected).asSlice(0, total)),
                    "round " + round);
        }
    }

    @Test
    void shouldSendTheTrailerBehindThePacketWhateverTheBlocksAre() {
        for (int bytes : new int[] {0, 10, 65_536 - 8, 65_536 - 4, 100_000}) {
            byte[] block = random(bytes);
            for (MemorySegment source : new MemorySegment[] {MemorySegment.ofArray(block), nativeCopy(block)}) {
                long header = PacketHeader.of(bytes, 3, 0, PacketHeader.FIRST);
                long trailer = PacketHeader.of(0, 3, 1, PacketHeader.LAST);
                BufferGroup group = group(source);
                byte[] received = new byte[bytes];
                BufferGroup target = group(MemorySegment.ofArray(received));
                int[] status = {LinkStatus.PENDING};
                pair.driveUntil(() -> {
                    status[0] = status[0] == LinkStatus.PENDING ? out.send(header, group, trailer) : status[0];
                    if (in.front() == header) {
                        in.receive(target, target.remainingBytes());
                        if (target.isEmpty()) {
                            in.release();
                        }
                    }
                    return status[0] == LinkStatus.COMPLETE && in.front() == trailer;
                });
                in.release();
                assertArrayEquals(block, received);
            }
        }
    }

    @Test
    void shouldHandOutPartsOfAPacketAndSkipOthers() {
        byte[] block = random(300_000);
        BufferGroup source = group(nativeCopy(block));
        long header = PacketHeader.of(block.length, 0, 0, FLAGS);
        MemorySegment part = Arena.ofAuto().allocate(block.length);
        BufferGroup target = new BufferGroup();
        long[] at = {0};
        int[] status = {LinkStatus.PENDING};
        pair.driveUntil(() -> {
            status[0] = status[0] == LinkStatus.PENDING ? out.send(header, source, 0) : status[0];
            if (in.front() != header) {
                return false;
            }
            long bytes = Math.min(block.length - at[0], 10_007);
            long moved;
            if (at[0] / 10_007 % 2 == 0) {
                moved = in.skip(bytes);
            } else {
                target.clear();
                target.add(part, at[0], bytes);
                moved = in.receive(target, bytes);
                assertEquals(
                        -1,
                        MemorySegment.mismatch(
                                part, at[0], at[0] + moved, MemorySegment.ofArray(block), at[0], at[0] + moved));
            }
            at[0] += moved;
            return at[0] == block.length;
        });
        in.release();
        roundTrip(block, nativeCopy(block), nativeCopy(new byte[block.length]));
    }

    @Test
    void shouldKeepManySmallPacketsInOrder() {
        MemorySegment word = Arena.ofAuto().allocate(8);
        MemorySegment got = Arena.ofAuto().allocate(8);
        int count = 50_000;
        int[] begun = {0};
        int[] sent = {0};
        int[] received = {0};
        BufferGroup source = new BufferGroup();
        BufferGroup target = new BufferGroup();
        pair.driveUntil(() -> {
            while (sent[0] < count) {
                if (begun[0] == sent[0]) { // a packet that is pending may have taken its block already
                    begun[0]++;
                    word.set(ValueLayout.JAVA_LONG, 0, sent[0]);
                    source.add(word, 0, 8);
                }
                if (out.send(PacketHeader.of(8, sent[0] & 0xFFF, 0, FLAGS), source, 0) != LinkStatus.COMPLETE) {
                    break;
                }
                sent[0]++;
            }
            while (in.front() != 0) {
                target.add(got, 0, target.isEmpty() ? 8 : 0);
                if (in.receive(target, 8) == 0) {
                    break;
                }
                if (target.isEmpty()) {
                    assertEquals(received[0]++, got.get(ValueLayout.JAVA_LONG, 0));
                    in.release();
                }
            }
            return received[0] == count;
        });
    }

    @Test
    void shouldKeepTheAccountWhenMemoryToSendIsFreedUnderWay() throws Exception {
        connect(new Pair("madeleine.tm.tcp { send-buffer = 4 KiB, receive-buffer = 4 KiB }"));
        int bytes = 800_000;
        MemorySegment filler = Arena.ofAuto().allocate(4096);
        BufferGroup source = new BufferGroup();
        long header = PacketHeader.of(bytes, 0, 0, PacketHeader.FIRST);
        try (Arena arena = Arena.ofShared()) {
            source.add(arena.allocate(bytes), 0, bytes);
            assertEquals(LinkStatus.PENDING, out.send(header, source, 0));
        }
        assertThrows(IllegalStateException.class, () -> {
            for (int i = 0; i < 100_000 && !source.isEmpty(); i++) {
                drain(4096);
                out.send(header, source, 0);
                pair.poll();
            }
        });
        source.replaceMemory(filler);
        long trailer = PacketHeader.of(0, 0, 1, PacketHeader.LAST | PacketHeader.ABORT);
        int[] status = {LinkStatus.PENDING};
        pair.driveUntil(() -> {
            drain(1 << 20);
            status[0] = status[0] == LinkStatus.PENDING ? out.send(header, source, trailer) : status[0];
            return status[0] == LinkStatus.COMPLETE && in.front() == header && drained == bytes;
        });
        in.release();
        pair.driveUntil(() -> in.front() == trailer);
        in.release();
        byte[] block = random(100);
        roundTrip(block, nativeCopy(block), nativeCopy(new byte[100]));
    }

    /** Whether one of a few sleeps lasts to its end: something else may still be on its way. */
    private static boolean sleepsThrough(Pair.Side side) {
        for (int attempts = 0; attempts < 20; attempts++) {
            long startNs = System.nanoTime();
            side.block(Duration.ofMillis(200));
            if (System.nanoTime() - startNs > 190_000_000L) {
                return true;
            }
        }
        return false;
    }

    private long drained;

    private void drain(long most) {
        if (in.front() != 0) {
            drained += in.skip(most);
        }
    }

    @Test
    void shouldKeepTheAccountWhenMemoryToReceiveIsFreed() {
        for (int bytes : new int[] {100, 200_000}) {
            byte[] block = random(bytes);
            BufferGroup source = group(nativeCopy(block));
            BufferGroup target = new BufferGroup();
            try (Arena arena = Arena.ofShared()) {
                target.add(arena.allocate(bytes), 0, bytes);
            }
            long header = PacketHeader.of(bytes, 0, 0, FLAGS);
            pair.driveUntil(() -> (source.isEmpty() || out.send(header, source, 0) != 5) && in.front() == header);
            assertThrows(IllegalStateException.class, () -> {
                for (int i = 0; i < 10_000; i++) {
                    in.receive(target, bytes);
                }
            });
            long[] left = {target.remainingBytes()};
            assertEquals(bytes, left[0], "nothing can have been moved");
            pair.driveUntil(() -> {
                if (!source.isEmpty()) {
                    out.send(header, source, 0);
                }
                left[0] -= in.skip(left[0]);
                return left[0] == 0 && source.isEmpty();
            });
            in.release();
            roundTrip(block, nativeCopy(block), nativeCopy(new byte[bytes]));
        }
    }

    @Test
    void shouldNotCloseTheConnectionWhenAnInterruptedThreadUsesIt() {
        Thread.currentThread().interrupt();
        try {
            byte[] block = random(100_000);
            roundTrip(block, nativeCopy(block), nativeCopy(new byte[block.length]));
        } finally {
            assertTrue(Thread.interrupted(), "the interrupt stays pending");
        }
    }

    @Test
    @Tag("measures")
    void shouldEndASleepWhenSomethingArrives() throws Exception {
        Pair.Ends ends = connect(new Pair());
        long startNs = System.nanoTime();
        byte[] block = random(10);
        assertEquals(LinkStatus.COMPLETE, out.send(PacketHeader.of(10, 0, 0, FLAGS), group(nativeCopy(block)), 0));
        while (ends.right().upcalls == 0 || in.front() == 0) {
            pair.right.block(Duration.ofSeconds(8));
            assertTrue(System.nanoTime() - startNs < 4_000_000_000L);
        }
    }

    @Test
    @Tag("measures")
    void shouldSleepThroughBytesThatNobodyIsInterestedIn() throws Exception {
        Pair.Ends ends = connect(new Pair());
        ends.right().whenReadable(() -> false);
        ends.right().connection.receiveInterest(false);
        out.send(PacketHeader.of(10, 0, 0, FLAGS), group(nativeCopy(random(10))), 0);
        assertTrue(sleepsThrough(pair.right), "each sleep was ended");
        int before = ends.right().upcalls;
        assertTrue(sleepsThrough(pair.right));
        assertEquals(before, ends.right().upcalls);
        ends.right().connection.receiveInterest(true);
        long startNs = System.nanoTime();
        pair.right.block(Duration.ofSeconds(8));
        assertTrue(System.nanoTime() - startNs < 4_000_000_000L);
        assertTrue(ends.right().upcalls > before);
    }

    @Test
    @Tag("measures")
    void shouldEndASleepWhenThereIsRoomForAPendingSend() throws Exception {
        connect(new Pair("madeleine.tm.tcp { send-buffer = 4 KiB, receive-buffer = 4 KiB }"));
        BufferGroup source = group(Arena.ofAuto().allocate(8_000_000));
        long header = PacketHeader.of(8_000_000, 0, 0, FLAGS);
        assertEquals(LinkStatus.PENDING, out.send(header, source, 0));
        for (int attempts = 0; attempts < 10; attempts++) {
            Thread.sleep(10); // the kernel moves some more to the receiver's side
            out.send(header, source, 0);
        }
        pair.left.poll();
        assertTrue(sleepsThrough(pair.left), "there is no room, and yet each sleep ended");
        Thread reader = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 2000; i++) {
                pair.right.poll();
                drain(1 << 20);
                Thread.yield();
            }
        });
        long startNs = System.nanoTime();
        pair.left.block(Duration.ofSeconds(8));
        assertTrue(System.nanoTime() - startNs < 4_000_000_000L);
        reader.join();
    }

    /** More would have segments overtake each other on loopback, see the module's README. */
    @Test
    @Tag("measures")
    void shouldHaveLittleWaitInTheKernelToBeSentWithinAHost() throws Exception {
        Path limits = Path.of("/proc/sys/net/ipv4/tcp_wmem"); // least, default, most
        assumeTrue(Files.isReadable(limits), () -> limits + " cannot be read");
        long most = Long.parseLong(Files.readAllLines(limits).getFirst().split("\\s+")[2]);
        assumeTrue(most >= 4 << 20, () -> "the system lets at most " + most + " bytes wait");
        long auto = waitsInTheKernel("auto");
        long system = waitsInTheKernel("system");
        assertTrue(auto < system - 1_000_000, auto + " bytes wait, " + system + " if it is left to the system");
    }

    /** How many bytes the kernel takes that nobody receives. */
    private long waitsInTheKernel(String sendBuffer) throws Exception {
        connect(new Pair("madeleine.tm.tcp.send-buffer = " + sendBuffer));
        BufferGroup source = group(Arena.ofAuto().allocate(64 << 20));
        long header = PacketHeader.of(64 << 20, 0, 0, FLAGS);
        for (int attempts = 0; attempts < 20; attempts++) {
            assertEquals(LinkStatus.PENDING, out.send(header, source, 0));
            Thread.sleep(10); // the kernel moves some more to the receiver's side
        }
        return (64 << 20) - source.remainingBytes();
    }

    @Test
    @Tag("measures")
    void shouldNotSleepOnAPacketThatIsInTheBufferAlready() throws Exception {
        Pair.Ends ends = connect(new Pair());
        for (int i = 0; i < 2; i++) {
            out.send(PacketHeader.of(10, i, 0, FLAGS), group(nativeCopy(random(10))), 0);
        }
        pair.driveUntil(() -> in.front() != 0);
        Thread.sleep(20);
        pair.right.poll();
        in.skip(10);
        in.release();
        int before = ends.right().upcalls;
        long startNs = System.nanoTime();
        pair.right.block(Duration.ofSeconds(8));
        assertTrue(System.nanoTime() - startNs < 4_000_000_000L);
        assertTrue(ends.right().upcalls > before);
    }

    /** Why there is no rendezvous: what nobody takes stops its own sender on its own channel, and nothing else. */
    @Test
    void shouldNotHoldUpOtherChannelsByAMessageThatNobodyTakes() throws Exception {
        Pair.Ends other = pair.connect("other");
        int bytes = 64 << 20;
        BufferGroup large = group(Arena.ofAuto().allocate(bytes));
        long largeHeader = PacketHeader.of(bytes, 0, 0, FLAGS);
        long direct = directBytes();
        for (int i = 0; i < 1000; i++) {
            assertEquals(LinkStatus.PENDING, out.send(largeHeader, large, 0));
            pair.poll();
        }
        assertTrue(directBytes() - direct < bytes / 8, "the receiver keeps what nobody takes");
        byte[] block = random(1_000_000);
        out = other.left().link;
        in = other.right().link;
        roundTrip(block, nativeCopy(block), nativeCopy(new byte[block.length]));
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }
}
