package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.SendMode;
import io.madeleine.bmm.SendBmm;
import io.madeleine.bmm.SendLedger;
import io.madeleine.bmm.Staging;
import io.madeleine.bmm.StagingPool;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Inserts the blocks of an outgoing message into its links, the mirror of {@link Extraction}. When the link changes,
 * the blocks gathered for the previous link are committed. From the first LATER block on, and from the first block that
 * finds no room, blocks are recorded and replayed in order at the end.
 *
 * <p>Threading: as {@link SendHalf}; confined to the owner of the message.
 */
final class Insertion {
    private static final int NO_LINK = -1;

    private final Thread foreignThread;
    private final SendLedger ledger = new SendLedger();
    private final Staging staging;
    private final DeferredBlocks deferred = new DeferredBlocks();
    private final SendBmm[] bmms;
    private final SendBmm primary;
    private int currentLink = NO_LINK;
    private int lastLink = NO_LINK;
    private boolean announcing;
    private boolean abortMarkSent;
    private boolean abortMarkUnderWay;

    /**
     * Inserts into these links. Memory that {@code foreignThread} may not access is copied before another thread than
     * the user has to send it.
     */
    Insertion(List<TransmissionLink> links, Thread foreignThread, StagingPool stagingPool) {
        this.staging = new Staging(stagingPool);
        this.foreignThread = foreignThread;
        this.bmms = links.stream()
                .map(link -> SendBmm.forLink(link, ledger, staging))
                .toArray(SendBmm[]::new);
        this.primary = bmms[0];
    }

    /**
     * Sends a whole message of one block over the primary link, as {@link SendBmm#sendWhole}; the caller then announces
     * it on {@link #primary()}.
     */
    int sendWhole(MemorySegment block, long offset, long bytes, boolean express) {
        int status = primary.sendWhole(block, offset, bytes, express);
        if (status == LinkStatus.COMPLETE) {
            ledger.nextMessage();
        }
        return status;
    }

    SendBmm primary() {
        return primary;
    }

    /** The link of the last block, for error messages. */
    int currentLink() {
        return Math.max(currentLink, 0);
    }

    /**
     * Takes a block: gives it to its link, or records it. Never waits.
     *
     * @return {@link LinkStatus#COMPLETE} when it is taken, or {@link LinkStatus#CLOSED}
     */
    int add(int link, MemorySegment block, long offset, long bytes, SendMode sendMode, boolean express) {
        boolean later = sendMode == SendMode.LATER;
        boolean mayKeep = sendMode == SendMode.CHEAPER && mayKeep(block);
        boolean underWay = false;
        if (!later && (deferred.isEmpty() || replay(false) == LinkStatus.COMPLETE)) {
            int status = put(link, block, offset, bytes, mayKeep, express);
            if (status != LinkStatus.PENDING) {
                return status;
            }
            underWay = true;
        }
        if (later || mayKeep) {
            deferred.add(block, offset, bytes, link, later, express);
        } else {
            long taken = underWay ? bmms[link].progressBytes() : 0;
            staging.copy(block, offset + taken, bytes - taken);
            deferRestOf(link, underWay, bytes - taken, express);
        }
        return LinkStatus.COMPLETE;
    }

    /**
     * As {@link #add(int, MemorySegment, long, long, SendMode, boolean)}, for a block that lies in the ranges of a
     * layout.
     */
    int add(int link, BlockLayout block, SendMode sendMode, boolean express) {
        boolean later = sendMode == SendMode.LATER;
        boolean mayKeep = sendMode == SendMode.CHEAPER && mayKeep(block);
        boolean underWay = false;
        if (!later && (deferred.isEmpty() || replay(false) == LinkStatus.COMPLETE)) {
            int status = put(link, block, mayKeep, express);
            if (status != LinkStatus.PENDING) {
                return status;
            }
            underWay = true;
        }
        if (later || mayKeep) {
            deferred.add(block, link, later, express);
        } else {
            long taken = underWay ? bmms[link].progressBytes() : 0;
            long rest = block.byteSize() - taken;
            staging.copy(block, taken, rest);
            deferRestOf(link, underWay, rest, express);
        }
        return LinkStatus.COMPLETE;
    }

    /** Records the last copy: the rest of a block, of which the link may have taken a part. */
    private void deferRestOf(int link, boolean underWay, long bytes, boolean express) {
        deferred.add(staging.segment(), staging.offset(), bytes, link, false, express);
        if (underWay) {
            bmms[link].keepRest();
        }
    }

    private boolean mayKeep(MemorySegment block) {
        return block.isAccessibleBy(foreignThread);
    }

    private boolean mayKeep(BlockLayout block) {
        return block.isAccessibleBy(foreignThread);
    }

    /** Gives a block to its link, after committing the blocks of the previous link. */
    private int put(int link, MemorySegment block, long offset, long bytes, boolean mayKeep, boolean express) {
        if (link != currentLink) {
            int status = turnTo(link);
            if (status != LinkStatus.COMPLETE) {
                return status;
            }
        }
        return bmms[link].append(block, offset, bytes, mayKeep, express);
    }

    private int put(int link, BlockLayout block, boolean mayKeep, boolean express) {
        int status = link == currentLink ? LinkStatus.COMPLETE : turnTo(link);
        return status == LinkStatus.COMPLETE ? bmms[link].append(block, mayKeep, express) : status;
    }

    private int turnTo(int link) {
        if (currentLink != NO_LINK) {
            int status = bmms[currentLink].flush();
            if (status != LinkStatus.COMPLETE) {
                return status;
            }
        }
        if (link != 0 && (announcing || ledger.isUntouched())) {
            // The first packet of a message uses the primary link, which the receiver polls, even if it is empty.
            int status = bmms[0].flushMark(0);
            announcing = status == LinkStatus.PENDING;
            if (status != LinkStatus.COMPLETE) {
                return status;
            }
        }
        currentLink = link;
        return LinkStatus.COMPLETE;
    }

    private int replay(boolean sealed) {
        while (!deferred.isEmpty()) {
            if (deferred.isLater() && !sealed) {
                return LinkStatus.PENDING;
            }
            int status = putDeferred();
            if (status != LinkStatus.COMPLETE) {
                return status;
            }
            deferred.removeFirst();
        }
        return LinkStatus.COMPLETE;
    }

    private int putDeferred() {
        int link = deferred.link();
        boolean express = deferred.isExpress();
        BlockLayout layout = deferred.layout();
        if (layout != null) {
            return put(link, layout, mayKeep(layout), express);
        }
        MemorySegment block = deferred.segment();
        return put(link, block, deferred.offset(), deferred.bytes(), mayKeep(block), express);
    }

    // ---- the end

    /** Copies the blocks that another thread may not access; called before the message is left to one. */
    void copyConfinedAside() {
        deferred.copyConfinedAside(staging, foreignThread);
    }

    /**
     * Sends the remaining blocks, and the end mark in the last packet or after it; repeated until it is not PENDING.
     */
    int finish() {
        int status = replay(true);
        if (status != LinkStatus.COMPLETE) {
            return status;
        }
        if (lastLink == NO_LINK) {
            if (currentLink > 0 && !bmms[currentLink].holdsBlocks()) {
                status = bmms[currentLink].flush();
                if (status != LinkStatus.COMPLETE) {
                    return status;
                }
                lastLink = 0;
            } else {
                lastLink = Math.max(currentLink, 0);
            }
        }
        return bmms[lastLink].flushLast();
    }

    /**
     * Whether a block in the region is in flight; with the guarantees of
     * {@link io.madeleine.pmm.spi.BufferGroup#touches}.
     */
    boolean touches(Region region) {
        boolean found = deferred.touches(region);
        for (SendBmm bmm : bmms) {
            found |= bmm.touches(region);
        }
        return found;
    }

    /** Whether the state of a link is unknown; see {@link SendBmm#isStateUnknown}. */
    boolean isStateUnknown() {
        for (SendBmm bmm : bmms) {
            if (bmm.isStateUnknown()) {
                return true;
            }
        }
        return false;
    }

    /** The buffer management of the link that has sent the end mark. */
    SendBmm last() {
        return bmms[Math.max(lastLink, 0)];
    }

    /** Whether it is too late to give the message up; see {@link SendBmm#isCommitted}. */
    boolean isCommitted() {
        return lastLink != NO_LINK && bmms[lastLink].isCommitted();
    }

    /** Abandons the blocks that have not left; their memory is not accessed any more. Repeated if memory runs out. */
    void abandon() {
        deferred.clear();
        abortMarkSent = false;
        abortMarkUnderWay = false;
        for (SendBmm bmm : bmms) {
            abortMarkSent |= bmm.abandon();
        }
    }

    /**
     * Sends the packet that is under way of an abandoned message, and an abort mark; repeated until it is not PENDING.
     */
    int finishAbort() {
        if (!abortMarkUnderWay) { // otherwise a flush would complete the mark, and it would be sent twice
            for (SendBmm bmm : bmms) {
                int status = bmm.flush();
                if (status != LinkStatus.COMPLETE) {
                    return status;
                }
            }
            if (abortMarkSent) {
                return LinkStatus.COMPLETE;
            }
            abortMarkUnderWay = true;
        }
        return bmms[0].flushMark(PacketHeader.LAST | PacketHeader.ABORT);
    }

    void nextMessage() {
        deferred.clear();
        staging.reset();
        ledger.nextMessage();
        currentLink = NO_LINK;
        lastLink = NO_LINK;
        announcing = false;
    }
}
