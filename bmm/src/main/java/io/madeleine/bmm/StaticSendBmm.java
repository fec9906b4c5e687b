package io.madeleine.bmm;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.StaticLink;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Aggregates blocks by copying them into the link's buffers. A buffer leaves when it is full and more data follows,
 * when the group ends, and at commit.
 *
 * <p>Threading: as {@link SendBmm}.
 */
final class StaticSendBmm extends SendBmm {
    private static final long NONE = -1;

    private final StaticLink link;
    private final @Nullable OneStepLink oneStep;
    private final MemorySegment memory;
    private final int capacityBytes;
    private long claimedOffset = NONE;
    private int filledBytes;

    StaticSendBmm(StaticLink link, SendLedger ledger) {
        super(ledger, link);
        this.link = link;
        this.oneStep = link instanceof OneStepLink able ? able : null;
        this.memory = link.memory();
        this.capacityBytes = link.capabilities().bufferBytes();
    }

    @Override
    public int append(MemorySegment block, long offset, long bytes, boolean mayKeep, boolean express) {
        while (progressBytes < bytes) {
            int status = makeRoom();
            if (status != LinkStatus.COMPLETE) {
                return status;
            }
            long here = Math.min(bytes - progressBytes, capacityBytes - filledBytes);
            Blocks.copy(block, offset + progressBytes, memory, claimedOffset + filledBytes, here);
            filledBytes += (int) here;
            progressBytes += here;
        }
        return appended(express);
    }

    @Override
    public int append(BlockLayout block, boolean mayKeep, boolean express) {
        long bytes = block.byteSize();
        while (progressBytes < bytes) {
            int status = makeRoom();
            if (status != LinkStatus.COMPLETE) {
                return status;
            }
            long here = Math.min(bytes - progressBytes, capacityBytes - filledBytes);
            Blocks.gather(block, progressBytes, memory, claimedOffset + filledBytes, here);
            filledBytes += (int) here;
            progressBytes += here;
        }
        return appended(express);
    }

    private int makeRoom() {
        if (filledBytes == capacityBytes) {
            commit(0);
        }
        return claim();
    }

    private int appended(boolean express) {
        progressBytes = 0;
        if (express && endsGroupAtExpress && filledBytes > 0) {
            commit(0);
        }
        return LinkStatus.COMPLETE;
    }

    private int claim() {
        if (claimedOffset != NONE) {
            return LinkStatus.COMPLETE;
        }
        long claimed;
        try {
            claimed = link.claim();
        } catch (OutOfMemoryError e) {
            stateUnknown = true;
            throw e;
        }
        if (claimed < 0) {
            return (int) claimed;
        }
        claimedOffset = claimed;
        return LinkStatus.COMPLETE;
    }

    private void commit(int flags) {
        publish(flags);
        link.announce();
    }

    private void publish(int flags) {
        try {
            link.commit(ledger.next(filledBytes, flags));
        } catch (OutOfMemoryError e) {
            stateUnknown = true;
            throw e;
        }
        claimedOffset = NONE;
        filledBytes = 0;
    }

    @Override
    public int flush() {
        if (claimedOffset != NONE && filledBytes > 0) {
            commit(0);
        }
        return LinkStatus.COMPLETE;
    }

    @Override
    public int flushMark(int flags) {
        flush();
        int status = claim();
        if (status == LinkStatus.COMPLETE) {
            commit(flags);
        }
        return status;
    }

    @Override
    public int flushLast() {
        int status = claim();
        if (status == LinkStatus.COMPLETE) {
            publish(PacketHeader.LAST);
        }
        return status;
    }

    @Override
    public int sendWhole(MemorySegment block, long offset, long bytes, boolean express) {
        if (bytes > capacityBytes || express && endsGroupAtExpress) {
            return LinkStatus.PENDING;
        }
        if (oneStep != null
                && claimedOffset == NONE
                && oneStep.sendPacket(ledger.headerOfWhole((int) bytes), block, offset)) {
            return LinkStatus.COMPLETE;
        }
        int status = claim();
        if (status == LinkStatus.COMPLETE) {
            // If the copy throws, the buffer stays claimed for the next block.
            Blocks.copy(block, offset, memory, claimedOffset, bytes);
            filledBytes = (int) bytes;
            publish(PacketHeader.LAST);
        }
        return status;
    }

    @Override
    public void announce() {
        link.announce();
    }

    @Override
    public boolean holdsBlocks() {
        return filledBytes > 0;
    }

    @Override
    public boolean abandon() {
        if (claimedOffset != NONE) {
            link.abandon();
        }
        claimedOffset = NONE;
        filledBytes = 0;
        progressBytes = 0;
        return false;
    }
}
