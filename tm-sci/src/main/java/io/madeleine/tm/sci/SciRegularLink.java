package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * {@code sci/regular} on one connection: packets of any length, streamed through a line of cells.
 *
 * <p>Threading: as {@link TransmissionLink} says; {@link SciLink}'s questions by any thread.
 */
final class SciRegularLink implements DynamicLink, SciLink {
    static final String ID = "sci/regular";

    private final SciConnection connection;
    private final int index;
    private final TransmissionCapabilities capabilities;
    private final CellProducer producer;
    private final CellConsumer consumer;
    private boolean stalled;

    SciRegularLink(SciConnection connection, int index, TransmissionCapabilities capabilities, List<CellLayout> lines) {
        PairSegment segment = connection.segment();
        MemorySegment memory = segment.memory();
        this.connection = connection;
        this.index = index;
        this.capabilities = capabilities;
        this.producer = new CellProducer(memory, lines.get(segment.side()));
        this.consumer = new CellConsumer(memory, lines.get(segment.otherSide()));
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        producer.open(group.remainingBytes());
        while (!connection.isSendEnded()) {
            if (!producer.send(header, group, trailer)) {
                setStalled(true);
                return LinkStatus.PENDING;
            }
            connection.published();
            if (!producer.isUnderWay()) {
                setStalled(false);
                return LinkStatus.COMPLETE;
            }
        }
        setStalled(false);
        return LinkStatus.CLOSED;
    }

    private void setStalled(boolean now) {
        if (stalled != now) {
            stalled = now;
            connection.setStalled(index, now);
        }
    }

    @Override
    public long front() {
        if (connection.isClosed()) {
            return LinkStatus.CLOSED;
        }
        long header = consumer.front();
        return header > 0 || header == 0 && !connection.isReceiveEnded() ? header : frontSlowPath(header);
    }

    private long frontSlowPath(long found) {
        long header = found == 0 ? consumer.front() : found; // what came before the end was seen counts
        if (header > 0) {
            return header;
        }
        breakUpIfBroken();
        return LinkStatus.CLOSED;
    }

    private void breakUpIfBroken() {
        if (consumer.isBroken()) {
            connection.breakUp("what lies in " + ID + " is no part of a packet");
        }
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        return connection.isClosed() ? 0 : moved(consumer.receive(group, maxBytes));
    }

    @Override
    public long skip(long maxBytes) {
        return connection.isClosed() ? 0 : moved(consumer.skip(maxBytes));
    }

    private long moved(long bytes) {
        if (consumer.tookSpace()) {
            connection.freed();
        }
        if (bytes == 0) {
            breakUpIfBroken();
        }
        return bytes;
    }

    @Override
    public void release() {
        if (!connection.isClosed()) {
            consumer.release();
            if (consumer.tookSpace()) {
                connection.freed();
            }
        }
    }

    @Override
    public boolean hasNews() {
        return consumer.hasNews();
    }

    @Override
    public boolean hasRoom() {
        return producer.hasRoom();
    }

    @Override
    public TransmissionLink link() {
        return this;
    }
}
