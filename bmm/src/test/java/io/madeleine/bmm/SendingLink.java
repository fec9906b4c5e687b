package io.madeleine.bmm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A link that takes so many bytes, headers of eight bytes included. It notes the packets that have left whole, and
 * holds the sender to repeat a call with the same packet.
 */
final class SendingLink implements DynamicLink {
    /** Payload of a block up to this size is noted as a text, of a longer one its length and place. */
    private static final int LONGEST_TEXT = 2000;

    final List<String> sent = new ArrayList<>();
    long room = Long.MAX_VALUE;
    boolean closed;

    @Nullable
    OutOfMemoryError failure;

    private final AggregationMode aggregation;
    private final LinkMode mode;
    private final StringBuilder payload = new StringBuilder();
    private long underWay;
    private boolean headerSent;

    SendingLink(AggregationMode aggregation, LinkMode mode) {
        this.aggregation = aggregation;
        this.mode = mode;
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return new TransmissionCapabilities(
                "test/sending", BufferMode.DYNAMIC, mode, aggregation, Long.MAX_VALUE, 0, "a link that notes packets");
    }

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        if (failure != null) {
            throw failure;
        }
        if (closed) {
            return LinkStatus.CLOSED;
        }
        if (underWay == 0) {
            assertEquals(PacketHeader.payloadBytes(header), group.remainingBytes(), "the length that is announced");
            underWay = header;
        }
        assertEquals(underWay, header, "a packet under way is repeated");
        if (!headerSent) {
            if (!takes(PacketHeader.BYTES)) {
                return LinkStatus.PENDING;
            }
            headerSent = true;
        }
        while (!group.isEmpty()) {
            if (!sendBlock(group)) {
                return LinkStatus.PENDING;
            }
        }
        if (trailer != 0 && !takes(PacketHeader.BYTES)) {
            return LinkStatus.PENDING;
        }
        sent.add(Texts.packet(header, payload.toString()));
        if (trailer != 0) {
            sent.add(Texts.packet(trailer, ""));
        }
        payload.setLength(0);
        underWay = 0;
        headerSent = false;
        return LinkStatus.COMPLETE;
    }

    private boolean takes(long bytes) {
        if (room < bytes) {
            return false;
        }
        room -= bytes;
        return true;
    }

    private boolean sendBlock(BufferGroup group) {
        long here = Math.min(room, group.blockBytes(0));
        if (here <= LONGEST_TEXT) {
            MemorySegment bytes = MemorySegment.ofArray(new byte[(int) here]);
            group.drainTo(bytes, 0, here);
            payload.append(Texts.text(bytes).replace('\0', '0'));
        } else {
            payload.append('[')
                    .append(here)
                    .append(" at ")
                    .append(group.offset(0))
                    .append(']');
            group.advance(here);
        }
        room -= here;
        return here > 0;
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
