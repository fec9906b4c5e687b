package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * {@code sci/short} on one connection: the sender fills a record in the ring, and the receiver reads it there.
 *
 * <p>Threading: as {@link TransmissionLink} says; {@link SciLink}'s queries by any thread.
 */
public final class SciShortLink extends SciEnd implements OneStepLink {
    public static final String ID = "sci/short";

    private final MemorySegment memory;
    private final RingProducer producer;
    private final RingConsumer consumer;
    private final BooleanSupplier isAllRead;

    SciShortLink(SciConnection connection, int index, TransmissionCapabilities capabilities, List<RingLayout> rings) {
        super(connection, index, capabilities);
        PairSegment segment = connection.segment();
        this.memory = segment.memory();
        this.producer = new RingProducer(memory, rings.get(segment.side()));
        this.consumer = new RingConsumer(memory, rings.get(segment.otherSide()));
        this.isAllRead = producer::isAllRead;
    }

    @Override
    public long claim() {
        if (connection.isSendEnded()) {
            return closedSlowPath();
        }
        try {
            long offset = producer.claim();
            return offset >= 0 && !isStalled() ? offset : claimSlowPath(offset);
        } catch (InternalError e) {
            return closedIfCutOff(e);
        }
    }

    private long closedIfCutOff(InternalError fault) {
        if (connection.isCutOff()) {
            return closedSlowPath();
        }
        throw fault;
    }

    private long claimSlowPath(long offset) {
        if (offset == RingProducer.BROKEN) {
            connection.breakUp("its position in the ring of " + ID + " is impossible");
            return closedSlowPath();
        }
        setStalled(offset < 0);
        return offset;
    }

    private long closedSlowPath() {
        setStalled(false);
        return LinkStatus.CLOSED;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public void commit(long header) {
        producer.commit(header);
    }

    @Override
    public boolean sendPacket(long header, MemorySegment block, long offset) {
        try {
            return !isStalled() && !connection.isSendEnded() && producer.put(header, block, offset);
        } catch (InternalError e) {
            return whetherOrThrow(e);
        }
    }

    /**
     * Returns false if the segment was cut short, else throws the fault. The caller's next claim or look at the front
     * finds the connection closed.
     */
    private boolean whetherOrThrow(InternalError fault) {
        if (connection.isCutOff()) {
            return false;
        }
        throw fault;
    }

    @Override
    public void announce() {
        connection.announce(isAllRead);
    }

    @Override
    public void abandon() {
        // A claim writes nothing.
    }

    @Override
    long frontHeader() {
        return consumer.front();
    }

    @Override
    void breakUpIfBroken() {
        if (consumer.front() == RingConsumer.BROKEN) {
            connection.breakUp("the ring of " + ID + " has a word that is not a packet header: 0x"
                    + Long.toHexString(consumer.rawFront()));
        }
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        return connection.isClosed() ? 0 : consumer.receive(group, maxBytes);
    }

    @Override
    public boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        if (connection.isClosed()) {
            return false;
        }
        consumer.receiveWhole(block, offset, bytes);
        return true;
    }

    @Override
    public boolean receivePacket(long header, MemorySegment block, long offset) {
        try {
            if (connection.isClosed() || !consumer.take(header, block, offset)) {
                return false;
            }
        } catch (InternalError e) {
            return whetherOrThrow(e);
        }
        release();
        return true;
    }

    @Override
    public long skip(long maxBytes) {
        return connection.isClosed() ? 0 : consumer.skip(maxBytes);
    }

    @Override
    public void release() {
        if (!connection.isClosed() && consumer.release(connection.mayBeRungFor())) {
            connection.freed();
        }
    }

    @Override
    public boolean isReadable() {
        return consumer.isReadable();
    }

    @Override
    public boolean mayBeReadable() {
        return consumer.mayBeReadable();
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
