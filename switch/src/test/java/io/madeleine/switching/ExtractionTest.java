package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExtractionTest {
    private final Packets marks = new Packets();
    private final Packets payload = new Packets();
    private final Extraction extraction =
            new Extraction(List.of(marks, payload), List.of(marks.capabilities(), payload.capabilities()), null);

    @Test
    void shouldEnterAnEndMarkAsSoonAsWhatItHasOvertakenIsTaken() {
        marks.headers.add(PacketHeader.of(0, 0, 1, PacketHeader.LAST));
        extraction.append(1, MemorySegment.ofArray(new byte[8]), 0, 8, false);
        assertEquals(0, extraction.extract());
        assertFalse(extraction.ledger().isEnded());

        payload.headers.add(PacketHeader.of(8, 0, 0, PacketHeader.FIRST));
        assertTrue(extraction.extract() > 0);
        assertTrue(extraction.ledger().isEnded(), "nothing more will arrive, so nobody would look again");
    }

    /** A link to which packets of zeros come. */
    private static final class Packets implements DynamicLink {
        final Deque<Long> headers = new ArrayDeque<>();

        @Override
        public TransmissionCapabilities capabilities() {
            return new TransmissionCapabilities(
                    "test/packets",
                    BufferMode.DYNAMIC,
                    LinkMode.BUFFER_GROUP,
                    AggregationMode.ASYMMETRIC,
                    Long.MAX_VALUE,
                    0,
                    "packets of zeros");
        }

        @Override
        public long front() {
            return headers.isEmpty() ? 0 : headers.getFirst();
        }

        @Override
        public long receive(BufferGroup group, long maxBytes) {
            return group.fillFrom(MemorySegment.ofArray(new byte[(int) maxBytes]), 0, maxBytes);
        }

        @Override
        public long skip(long maxBytes) {
            return maxBytes;
        }

        @Override
        public void release() {
            headers.removeFirst();
        }

        @Override
        public int send(long header, BufferGroup group, long trailer) {
            throw new UnsupportedOperationException("nothing is sent here");
        }
    }
}
