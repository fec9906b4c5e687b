package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.SendMode;
import io.madeleine.bmm.StagingPool;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class InsertionTest {
    private static final int ABORTED = PacketHeader.LAST | PacketHeader.ABORT;

    private final Full link = new Full();
    private final Insertion insertion = new Insertion(List.of(link), Thread.currentThread(), new StagingPool());

    @Test
    void shouldSendOneAbortMarkHoweverOftenTheLinkIsFull() {
        for (int refusals = 0; refusals < 3; refusals++) {
            link.sent.clear();
            link.refusals = refusals;
            insertion.abandon();
            for (int i = 0; i < refusals; i++) {
                assertEquals(LinkStatus.PENDING, insertion.finishAbort());
            }
            assertEquals(LinkStatus.COMPLETE, insertion.finishAbort());
            assertEquals(List.of(PacketHeader.of(0, refusals, 0, PacketHeader.FIRST | ABORTED)), link.sent);
            insertion.nextMessage();
        }
    }

    @Test
    void shouldCopyOfABlockOnlyWhatItsLinkHasNotTaken() {
        Narrow narrow = new Narrow();
        narrow.room = 16;
        StagingPool pool = new StagingPool();
        Insertion message = new Insertion(List.of(narrow), Thread.currentThread(), pool);
        long heldBytes = pool.heldBytes();
        MemorySegment block = MemorySegment.ofArray(new byte[17 * Narrow.BUFFER_BYTES]);
        for (int i = 0; i < block.byteSize(); i++) {
            block.set(ValueLayout.JAVA_BYTE, i, (byte) (i / Narrow.BUFFER_BYTES + 1));
        }
        assertEquals(LinkStatus.COMPLETE, message.add(0, block, 0, block.byteSize(), SendMode.SAFER, false));
        block.fill((byte) 0); // it may be changed from now on
        assertEquals(heldBytes, pool.heldBytes());
        assertEquals(LinkStatus.PENDING, message.finish());
        narrow.room = 1;
        assertEquals(LinkStatus.COMPLETE, message.finish());
        List<Byte> expected =
                IntStream.rangeClosed(1, 17).mapToObj(i -> (byte) i).toList();
        assertEquals(expected, narrow.firstBytes);
        assertEquals(17 * Narrow.BUFFER_BYTES, narrow.bytes);
    }

    /** A link with few buffers. */
    private static final class Narrow implements StaticLink {
        private static final int BUFFER_BYTES = StagingPool.PIECE_BYTES;

        private final MemorySegment memory = MemorySegment.ofArray(new byte[BUFFER_BYTES]);
        private final List<Byte> firstBytes = new ArrayList<>();
        private int bytes;
        private int room;

        @Override
        public TransmissionCapabilities capabilities() {
            return new TransmissionCapabilities(
                    "test/narrow",
                    BufferMode.STATIC,
                    LinkMode.BUFFER_GROUP,
                    AggregationMode.ASYMMETRIC,
                    Long.MAX_VALUE,
                    BUFFER_BYTES,
                    "a link with few buffers");
        }

        @Override
        public MemorySegment memory() {
            return memory;
        }

        @Override
        public long claim() {
            return room > 0 ? 0 : LinkStatus.PENDING;
        }

        @Override
        public void commit(long header) {
            room--;
            bytes += PacketHeader.payloadBytes(header);
            firstBytes.add(memory.get(ValueLayout.JAVA_BYTE, 0));
        }

        @Override
        public void announce() {}

        @Override
        public void abandon() {}

        @Override
        public long front() {
            return 0;
        }

        @Override
        public long receive(BufferGroup group, long maxBytes) {
            return 0;
        }

        @Override
        public long skip(long maxBytes) {
            return 0;
        }

        @Override
        public void release() {}
    }

    /** A link that takes nothing at first. */
    private static final class Full implements DynamicLink {
        private final List<Long> sent = new ArrayList<>();
        private int refusals;

        @Override
        public TransmissionCapabilities capabilities() {
            return new TransmissionCapabilities(
                    "test/full",
                    BufferMode.DYNAMIC,
                    LinkMode.BUFFER_GROUP,
                    AggregationMode.ASYMMETRIC,
                    Long.MAX_VALUE,
                    0,
                    "a link that is full");
        }

        @Override
        public int send(long header, BufferGroup group, long trailer) {
            if (refusals > 0) {
                refusals--;
                return LinkStatus.PENDING;
            }
            sent.add(header);
            return LinkStatus.COMPLETE;
        }

        @Override
        public long front() {
            return 0;
        }

        @Override
        public long receive(BufferGroup group, long maxBytes) {
            return 0;
        }

        @Override
        public long skip(long maxBytes) {
            return 0;
        }

        @Override
        public void release() {}
    }
}
