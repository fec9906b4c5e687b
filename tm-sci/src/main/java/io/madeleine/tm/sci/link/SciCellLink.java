package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.shared.PeerBlocks;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code sci/regular} or {@code sci/dma} on one connection: packets of any length through a line of cells. With {@code
 * sci/dma}, the sender may lend a block instead of copying it, if both ends can do so for this block.
 *
 * <p>Threading: as {@link TransmissionLink} says; {@link SciLink}'s queries by any thread.
 */
public final class SciCellLink extends SciEnd implements DynamicLink {
    public static final String REGULAR = "sci/regular";
    public static final String DMA = "sci/dma";

    private final CellProducer producer;
    private final CellConsumer consumer;
    private final BooleanSupplier isAllRead;
    private final @Nullable PeerBlocks peerBlocks;

    private SciCellLink(
            SciConnection connection,
            int index,
            TransmissionCapabilities capabilities,
            CellProducer producer,
            CellConsumer consumer,
            @Nullable PeerBlocks peerBlocks) {
        super(connection, index, capabilities);
        this.producer = producer;
        this.consumer = consumer;
        this.isAllRead = producer::isAllRead;
        this.peerBlocks = peerBlocks;
    }

    static SciCellLink regular(
            SciConnection connection, int index, TransmissionCapabilities capabilities, List<CellLayout> lines) {
        PairSegment segment = connection.segment();
        MemorySegment memory = segment.memory();
        return new SciCellLink(
                connection,
                index,
                capabilities,
                new CellProducer(memory, lines.get(segment.side())),
                new CellConsumer(memory, lines.get(segment.otherSide())),
                null);
    }

    static SciCellLink dma(
            SciConnection connection,
            int index,
            TransmissionCapabilities capabilities,
            List<CellLayout> lines,
            SingleCopy singleCopy) {
        PairSegment segment = connection.segment();
        MemorySegment memory = segment.memory();
        CellLayout out = lines.get(segment.side());
        CellLayout in = lines.get(segment.otherSide());
        PeerMemory source = new PeerMemory(segment, connection.peerStem(), singleCopy);
        return new SciCellLink(
                connection,
                index,
                capabilities,
                new CellProducer(
                        memory, out, new Lender(memory, out, PairLayout.reads(segment.otherSide()), singleCopy)),
                new CellConsumer(memory, in, new Borrower(memory, in, source)),
                source.blocks());
    }

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        try {
            return sendParts(header, group, trailer);
        } catch (InternalError e) {
            if (connection.isCutOff()) {
                setStalled(false);
                return LinkStatus.CLOSED;
            }
            throw e;
        }
    }

    private int sendParts(long header, BufferGroup group, long trailer) {
        producer.open(group.remainingBytes());
        while (!connection.isSendEnded()) {
            if (!producer.send(header, group, trailer)) {
                if (producer.isBroken()) {
                    connection.breakUp("its answer to a loan of " + capabilities.id() + " is out of bounds");
                    continue;
                }
                setStalled(true);
                return LinkStatus.PENDING;
            }
            connection.announce(isAllRead);
            if (!producer.isUnderWay()) {
                setStalled(false);
                return LinkStatus.COMPLETE;
            }
        }
        setStalled(false);
        return LinkStatus.CLOSED;
    }

    @Override
    long frontHeader() {
        return consumer.front();
    }

    @Override
    void breakUpIfBroken() {
        if (consumer.isBroken()) {
            connection.breakUp("a cell of " + capabilities.id() + " does not hold a part of a packet");
        }
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        try {
            return connection.isClosed() ? 0 : moved(consumer.receive(group, maxBytes));
        } catch (InternalError e) {
            if (connection.isCutOff()) {
                return 0;
            }
            throw e;
        }
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
    public boolean isReadable() {
        return consumer.isReadable();
    }

    @Override
    public boolean hasRoom() {
        return producer.hasRoom();
    }

    @Override
    public void tidy() {
        if (peerBlocks != null) {
            peerBlocks.unmapFreedIfIdle();
        }
    }

    @Override
    public void free() {
        if (peerBlocks != null) {
            peerBlocks.close();
        }
    }

    @Override
    public TransmissionLink link() {
        return this;
    }
}
