package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.bmm.StagingPool;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.ArrayList;
import java.util.List;
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
