package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.StreamDetector;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.tcp.Pair;
import io.madeleine.tm.tcp.io.SlowCopy;
import io.madeleine.tm.tcp.reactor.IoTransport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Small messages of a dense stream share a write, and each leaves in time all the same. */
@Timeout(60)
class CoalescingTest {
    private static final int FLAGS = PacketHeader.FIRST | PacketHeader.LAST;
    private static final long MARK = PacketHeader.of(0, 0, 0, FLAGS);
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int STREAM = 4 * StreamDetector.RUN;

    /** Long enough for a thread that is kept from its processor to send a dense stream all the same. */
    private static final String LONG = "madeleine.tm.tcp.coalesce-time = 10ms";

    private final MemorySegment block = Arena.ofAuto().allocate(Long.BYTES);
    private final MemorySegment into = Arena.ofAuto().allocate(Long.BYTES);
    private final BufferGroup out = new BufferGroup();
    private final BufferGroup in = new BufferGroup();
    private Pair pair;
    private Pair.Ends ends;
    private long sent;
    private long received;
    private boolean receiving;
    private long dropped;

    private void connect(String... settings) throws Exception {
        pair = new Pair(settings);
        ends = pair.connect();
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    private int send(Pair.End over) {
        block.set(Blocks.LONG, 0, sent);
        out.clear();
        out.add(block, 0, Long.BYTES);
        int status = over.link.send(header(sent), out, 0);
        sent++;
        return status;
    }

    private static long header(long number) {
        return PacketHeader.of(Long.BYTES, (int) number, 0, FLAGS);
    }

    private void sendStream() {
        for (int i = 0; i < STREAM; i++) {
            assertEquals(LinkStatus.COMPLETE, send(ends.left()));
        }
    }

    /** Sends streams until the last message of one is kept, which fails only if this thread loses its processor. */
    private void sendStreamOfWhichSomeIsKept() {
        boolean kept = false;
        for (int tries = 0; !kept && tries < 1000; tries++) {
            sendStream();
            kept = hasKept();
        }
        assertTrue(kept);
    }

    private boolean hasKept() {
        return output(ends.left()).hasKept();
    }

    private static StreamOutput output(Pair.End end) {
        return ((TcpConnection) end.connection).output();
    }

    /**
     * Takes what has come in, by the receiving side alone: of a packet that was cut by a full socket, the rest later.
     */
    private boolean receiveAll() {
        while (ends.right().link.front() > 0) {
            assertEquals(header(received), ends.right().link.front());
            if (!receiving) {
                receiving = true;
                in.clear();
                in.add(into, 0, Long.BYTES);
            }
            if (!in.isEmpty()) {
                ends.right().link.receive(in, in.remainingBytes());
            }
            if (!in.isEmpty()) {
                return false;
            }
            receiving = false;
            assertEquals(received, into.get(Blocks.LONG, 0));
            ends.right().link.release();
            received++;
        }
        return received == sent;
    }

    private static long nsUntil(BooleanSupplier met) {
        long startNs = System.nanoTime();
        while (!met.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < Pair.PATIENCE.toNanos(), "not within " + Pair.PATIENCE);
            Thread.yield();
        }
        return System.nanoTime() - startNs;
    }

    @Test
    void shouldKeepMessagesOfADenseStreamForOneWrite() throws Exception {
        connect(LONG);
        sendStreamOfWhichSomeIsKept();
        nsUntil(this::receiveAll);
    }

    /**
     * Its end would leave in a segment of its own, which costs nearly half as much as all the rest. Another thread
     * receives: to decrypt 64 KiB may take so long that the sender's own thread would not send a dense stream.
     */
    @ParameterizedTest
    @ValueSource(ints = {16 * 1024, 64 * 1024})
    @Tag("measures")
    void shouldKeepTheEndOfAMessageOfADenseStreamForTheNext(int bytes) throws Exception {
        connect(LONG);
        MemorySegment large = Arena.ofAuto().allocate(bytes);
        long header = PacketHeader.of(bytes, 0, 0, PacketHeader.FIRST);
        Receiver receiver = new Receiver();
        try {
            boolean kept = false;
            for (int i = 0; !kept && i < 100 * STREAM; i++) {
                out.clear();
                out.add(large, 0, bytes);
                nsUntil(() -> {
                    receiver.check();
                    return ends.left().link.send(header, out, MARK) == LinkStatus.COMPLETE;
                });
                kept = hasKept();
            }
            assertTrue(kept);
            nsUntil(() -> !hasKept()); // without any further call
        } finally {
            receiver.stop();
        }
    }

    /** A thread that drops what comes in. */
    private final class Receiver {
        private final CountDownLatch stopped = new CountDownLatch(1);
        private final FutureTask<Void> task = new FutureTask<>(this::run, null);

        Receiver() {
            Thread.ofPlatform().name("receiver").start(task);
        }

        private void run() {
            while (stopped.getCount() > 0) {
                dropAll();
                Thread.yield();
            }
        }

        /** Fails if the thread has failed. */
        void check() {
            assertFalse(task.isDone(), () -> "the receiver has ended: " + task);
        }

        void stop() throws InterruptedException, ExecutionException {
            stopped.countDown();
            task.get();
        }
    }

    /** What is left of it to keep would be its end mark, for which the receiver of all the rest then waits. */
    @Test
    void shouldKeepNothingOfPacketsThatAreWrittenInPlace() throws Exception {
        assumeTrue(Pair.io() == IoTransport.NIO, "the others write nothing in place");
        connect(LONG, "madeleine.tm.tcp.stream.in-place-from = 16 KiB");
        MemorySegment large =
                Arena.ofAuto().allocate(32 * 1024, SlowCopy.PAGE_BYTES).asSlice(64, 24 * 1024);
        long header = PacketHeader.of((int) large.byteSize(), 0, 0, FLAGS);
        for (int i = 0; i < STREAM; i++) {
            out.clear();
            out.add(large, 0, large.byteSize());
            nsUntil(() -> {
                dropAll();
                return ends.left().link.send(header, out, MARK) == LinkStatus.COMPLETE;
            });
            assertFalse(hasKept());
        }
    }

    /** Drops what has come in; of a packet that was cut by a full socket, the rest later. */
    private void dropAll() {
        while (ends.right().link.front() > 0) {
            long bytes = PacketHeader.payloadBytes(ends.right().link.front());
            dropped += ends.right().link.skip(bytes - dropped);
            if (dropped < bytes) {
                return;
            }
            dropped = 0;
            ends.right().link.release();
        }
    }

    /** Its holders may not wait, as the start of a thread does. */
    @Test
    void shouldStartNoThreadUnderTheLockOfAConnection() throws Exception {
        connect();
        Coalescing coalescing = new Coalescing("of-this-test", 1_000_000);
        coalescing.kept(output(ends.left()), true);
        assertFalse(hasTimer());
        coalescing.startTimer();
        assertTrue(hasTimer());
        coalescing.close();
    }

    private static boolean hasTimer() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("madeleine-tcp-flush-of-this-test"));
    }

    @Test
    @Tag("measures")
    void shouldLetAKeptMessageLeaveWithoutAnyFurtherCall() throws Exception {
        connect();
        long longestNs = Long.MAX_VALUE;
        for (int i = 0; i < 3 && longestNs >= SECOND_NS; i++) { // the machine may pause in one
            longestNs = longestOfStreamsNs();
        }
        assertTrue(longestNs < SECOND_NS, longestNs + " ns");
    }

    private long longestOfStreamsNs() {
        long longestNs = 0;
        for (int i = 0; i < 50; i++) {
            sendStream();
            longestNs = Math.max(longestNs, nsUntil(this::receiveAll));
            nsUntil(() -> !hasKept()); // who has written it says so a moment later
        }
        return longestNs;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLetAKeptMessageLeaveThoughTheOtherOfTwoDenseStreamsHasEnded(boolean firstEnds) throws Exception {
        connect(LONG);
        Pair.Ends first = ends;
        Pair.Ends second = pair.connect("other");
        sendStreamOfWhichSomeIsKept();
        ends = second;
        sendStreamOfWhichSomeIsKept();
        Pair.Ends ended = firstEnds ? first : second;
        ended.left().connection.close();
        ends = firstEnds ? second : first;
        for (int i = 0; i < 10; i++) {
            sendStreamOfWhichSomeIsKept();
            nsUntil(() -> !hasKept());
        }
    }

    /** One that stayed on the list would keep the timer awake for ever, and be listed once more by its next stream. */
    @ParameterizedTest
    @ValueSource(strings = {"0 1", "1 0", "0 1 2", "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0"})
    void shouldForgetEachOfSeveralDenseStreamsInWhateverOrderTheyEnd(String order) throws Exception {
        connect();
        int[] ending = Stream.of(order.split(" ")).mapToInt(Integer::parseInt).toArray();
        Coalescing coalescing = new Coalescing("test", 1);
        List<StreamOutput> streams = new ArrayList<>();
        for (int i = 0; i < ending.length; i++) {
            streams.add(output(pair.connect("stream " + i).left()));
            coalescing.kept(streams.get(i), true);
        }
        for (int stream : ending) {
            assertFalse(coalescing.isIdle());
            coalescing.delist(streams.get(stream));
        }
        assertTrue(coalescing.isIdle());
    }

    @Test
    void shouldLetAKeptMessageLeaveWhenAStreamHasPaused() throws Exception {
        connect("madeleine.tm.tcp.coalesce-time = 1ms");
        for (int i = 0; i < 3; i++) {
            sendStream();
            nsUntil(this::receiveAll);
            LockSupport.parkNanos(Duration.ofMillis(150).toNanos()); // the thread of the streams goes to sleep
        }
    }

    @Test
    void shouldSendAtOnceWhereThereIsNoDenseStream() throws Exception {
        connect("madeleine.tm.tcp.coalesce-time = 1ms");
        for (int i = 0; i < STREAM; i++) {
            send(ends.left());
            assertFalse(hasKept());
            LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
        }
        nsUntil(this::receiveAll);
    }

    @Test
    void shouldSendAtOnceInAConversation() throws Exception {
        connect(LONG);
        int kept = 0;
        for (int i = 0; i < STREAM; i++) {
            send(ends.left());
            kept += hasKept() ? 1 : 0;
            nsUntil(this::receiveAll);
            ends.right().link.send(MARK, new BufferGroup(), 0);
            nsUntil(() -> ends.left().link.front() > 0);
            ends.left().link.release();
        }
        assertEquals(0, kept);
    }

    @Test
    void shouldSendAtOnceWhenSwitchedOff() throws Exception {
        connect("madeleine.tm.tcp.coalesce-time = 0s");
        for (int i = 0; i < 100; i++) {
            sendStream();
            assertFalse(hasKept());
        }
        nsUntil(this::receiveAll);
    }

    @Test
    void shouldSendWhatIsKeptBeforeItsSenderLooksForAnAnswer() throws Exception {
        connect(LONG);
        sendStreamOfWhichSomeIsKept();
        ends.left().link.front();
        assertFalse(hasKept());
        sendStreamOfWhichSomeIsKept();
        pair.left.progress.poll(0);
        assertFalse(hasKept());
        sendStreamOfWhichSomeIsKept();
        pair.left.progress.armForBlocking();
        assertFalse(hasKept());
        pair.left.progress.disarm();
    }

    @Test
    void shouldSendWhatIsKeptBeforeItsSenderTurnsToAnotherPeer() throws Exception {
        connect(LONG);
        Pair.Ends other = pair.connect("other");
        sendStreamOfWhichSomeIsKept();
        other.left().link.send(MARK, new BufferGroup(), 0);
        assertFalse(hasKept());
        nsUntil(this::receiveAll);
    }

    @Test
    void shouldSendWhatIsKeptBeforeTheFarewell() throws Exception {
        connect(LONG);
        sendStreamOfWhichSomeIsKept();
        ends.left().connection.finish();
        ends.left().connection.close();
        nsUntil(this::receiveAll);
        pair.driveUntil(() -> {
            ends.right().link.front();
            return ends.right().losses > 0;
        });
        assertTrue(ends.right().orderly, ends.right().reason);
    }

    @Test
    void shouldSendWhatIsKeptBeforeAConnectionIsClosedWithoutAFarewell() throws Exception {
        connect(LONG);
        sendStreamOfWhichSomeIsKept();
        ends.left().connection.close();
        nsUntil(this::receiveAll);
    }

    @Test
    void shouldFailWhenThePeerGoesWhileSomethingIsKept() throws Exception {
        connect(LONG, Pair.BRIEF_LINGER);
        sendStreamOfWhichSomeIsKept();
        ends.right().connection.close();
        pair.driveUntil(() -> send(ends.left()) == LinkStatus.CLOSED);
    }

    @Test
    void shouldKeepTheOrderAndTheBoundsWhereTheReceiverIsSlow() throws Exception {
        connect("madeleine.tm.tcp { send-buffer = 4 KiB, receive-buffer = 4 KiB, stream.buffer = 4 KiB }");
        int pending = 0;
        for (int i = 0; i < 100_000; i++) {
            int status = send(ends.left());
            while (status == LinkStatus.PENDING) {
                pending++;
                receiveAll();
                pair.poll();
                status = ends.left().link.send(header(sent - 1), out, 0);
            }
            assertEquals(LinkStatus.COMPLETE, status);
        }
        assertTrue(pending > 0, "the socket took all");
        nsUntil(() -> {
            pair.poll();
            return receiveAll();
        });
    }
}
