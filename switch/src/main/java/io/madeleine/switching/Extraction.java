package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.bmm.ReceiveBmm;
import io.madeleine.bmm.ReceiveLedger;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Extracts the blocks of an incoming message from all its links, and judges whether the unpacked blocks mirror the
 * packed ones. A wrong mirror shows in one of three ways: the message ends while blocks are still empty; payload is in
 * front of a link that should have been used before; or payload is left when all blocks are filled.
 *
 * <p>So no wait lasts longer than the message takes to arrive. A sender finishes one packet before it begins the next,
 * on any link. So all predecessors of the lowest-numbered packet that no block asks for arrive by themselves. That
 * packet is then overdue for a thread that waits for a block of another link; and once the end is asked for, no block
 * will ask for it.
 *
 * <p>Threading: guarded by the connection's receive lock.
 */
final class Extraction {
    private static final int NO_LINK = -1;

    private final List<TransmissionCapabilities> modules;
    private final ReceiveLedger ledger = new ReceiveLedger();
    private final ReceiveBmm[] bmms;
    private final ReceiveBmm[] posting;
    private int currentLink = NO_LINK;
    private int blockCount;
    private final @Nullable SelfDescription description;

    /** All blocks are filled and payload is left: the descriptor of the surplus block has been asked for. */
    private boolean asksForSurplus;

    /** The last block, if the end was asked for before its descriptor had arrived; null otherwise. */
    private @Nullable BlockLayout undescribed;

    private int undescribedLink;

    /** Creates the extraction; {@code description} is null if blocks have no descriptors. */
    Extraction(
            List<TransmissionLink> links,
            List<TransmissionCapabilities> modules,
            @Nullable SelfDescription description) {
        this.modules = modules;
        this.description = description;
        this.bmms = links.stream().map(link -> new ReceiveBmm(link, ledger)).toArray(ReceiveBmm[]::new);
        this.posting = Arrays.stream(bmms).filter(ReceiveBmm::posts).toArray(ReceiveBmm[]::new);
    }

    ReceiveLedger ledger() {
        return ledger;
    }

    int blockCount() {
        return blockCount;
    }

    void countBlock() {
        blockCount++;
    }

    /** Appends a block; checks out the previous link if the link changes. */
    void append(int link, MemorySegment block, long offset, long bytes, boolean express) {
        turnTo(link);
        bmms[link].append(block, offset, bytes);
        if (express) {
            bmms[link].checkOut();
        }
    }

    /** As above, for a block that lies in the ranges of a layout. */
    void append(int link, BlockLayout block, boolean express) {
        turnTo(link);
        bmms[link].append(block);
        if (express) {
            bmms[link].checkOut();
        }
    }

    /** Keeps the last block until its descriptor, which was appended before, has arrived. */
    void appendOnceDescribed(int link, BlockLayout block) {
        undescribedLink = link;
        undescribed = block;
    }

    /** Undoes {@link #appendOnceDescribed}. */
    void forgetUndescribed() {
        undescribed = null;
    }

    /** Whether a block waits for its descriptor; {@link #isCheckedOut} says whether that has arrived. */
    boolean awaitsDescriptor() {
        return undescribed != null;
    }

    /**
     * Appends the block whose descriptor has arrived, and checks out all blocks: the end has been asked for.
     *
     * @return null, or how the block differs from the packed one; then it is not appended
     */
    @Nullable
    String appendDescribed() {
        BlockLayout block = Objects.requireNonNull(undescribed);
        SelfDescription described = Objects.requireNonNull(description);
        undescribed = null;
        if (!described.isAsExpected()) {
            return described.difference();
        }
        countBlock();
        if (block.byteSize() > 0) {
            append(undescribedLink, block, false);
            checkOutAll();
        }
        return null;
    }

    private void turnTo(int link) {
        if (link != currentLink) {
            if (currentLink != NO_LINK) {
                bmms[currentLink].checkOut();
            }
            currentLink = link;
        }
    }

    /** Fills a block if all its data is there, and no other block waits for its data. */
    boolean takeWhole(int link, MemorySegment block, long offset, long bytes) {
        if (!bmms[link].takeWhole(block, offset, bytes)) {
            return false;
        }
        currentLink = link;
        return true;
    }

    /** Takes a whole message of one block from the primary link, as {@link ReceiveBmm#takeMessage}. */
    boolean takeMessage(MemorySegment block, long offset, long bytes) {
        return bmms[0].takeMessage(block, offset, bytes);
    }

    void checkOutAll() {
        for (ReceiveBmm bmm : bmms) {
            bmm.checkOut();
        }
    }

    /** Fills blocks from the arrived packets; returns how many bytes were moved. */
    long extract() {
        long moved = 0;
        long before;
        do {
            before = moved;
            for (ReceiveBmm bmm : bmms) {
                moved += bmm.isDrained() ? bmm.passMarks() : bmm.extract();
            }
        } while (moved > before && holdsMark()); // the mark may be next now, and no event will report it
        return moved;
    }

    private boolean holdsMark() {
        for (ReceiveBmm bmm : bmms) {
            if (bmm.holdsMark()) {
                return true;
            }
        }
        return false;
    }

    /** Drops the arrived packets; returns how many bytes were dropped. */
    long drop() {
        long dropped = 0;
        for (ReceiveBmm bmm : bmms) {
            dropped += bmm.drop();
        }
        return dropped;
    }

    /** Whether the state of a link is unknown; see {@link ReceiveBmm#isStateUnknown}. */
    boolean isStateUnknown() {
        for (ReceiveBmm bmm : bmms) {
            if (bmm.isStateUnknown()) {
                return true;
            }
        }
        return false;
    }

    /** Whether every block has its data. */
    boolean isDrained() {
        if (undescribed != null) {
            return false;
        }
        for (ReceiveBmm bmm : bmms) {
            if (!bmm.isDrained()) {
                return false;
            }
        }
        return true;
    }

    /** Whether the last block, and all before it from the same link, have their data. */
    boolean isCheckedOut() {
        return currentLink == NO_LINK || bmms[currentLink].isCheckedOut();
    }

    /** Whether blocks in a region wait for their data. */
    boolean touches(Region region) {
        if (undescribed != null && region.overlaps(undescribed)) {
            return true;
        }
        for (ReceiveBmm bmm : bmms) {
            if (bmm.touches(region)) {
                return true;
            }
        }
        return false;
    }

    void forgetBlocks() {
        undescribed = null;
        for (ReceiveBmm bmm : bmms) {
            bmm.forgetBlocks();
        }
    }

    /**
     * Takes back posted memory of forgotten blocks. While the result is PENDING, the caller repeats the call and does
     * nothing else with the message.
     */
    int retract() {
        int status = LinkStatus.COMPLETE;
        for (ReceiveBmm bmm : posting) {
            if (bmm.retract() == LinkStatus.PENDING) {
                status = LinkStatus.PENDING;
            }
        }
        return status;
    }

    void nextMessage() {
        ledger.nextMessage();
        currentLink = NO_LINK;
        blockCount = 0;
        asksForSurplus = false;
    }

    /** Why the last block can never arrive, or null while it may. */
    @Nullable
    String whyWaitIsVain() {
        if (ledger.isEnded()) {
            return description != null
                    ? whatIsMissing(description)
                    : "its sender packed less data than the " + blockCount
                            + " blocks unpacked so far, or into other modules";
        }
        for (int link = 0; link < bmms.length; link++) {
            if (link != currentLink && bmms[link].holdsOverduePayload()) {
                return "block " + (blockCount - 1) + " is unpacked from " + id(currentLink) + ", but its sender packed "
                        + bmms[link].untakenBytes() + " bytes into " + id(link)
                        + "; sizes and order have to be the same at both ends";
            }
        }
        return whyGroupsDiffer();
    }

    /** Why the message cannot end successfully, or null while it may. */
    @Nullable
    String whyEndIsWrong() {
        boolean drained = isDrained();
        if (asksForSurplus && description != null && (drained || !ledger.isEnded())) {
            return drained ? "the sender packed " + description.packed() + ", which the receiver did not unpack" : null;
        }
        if (!drained && ledger.isEnded() && description != null && !asksForSurplus) {
            return whatIsMissing(description);
        }
        if (!drained && ledger.isEnded()) {
            return "its sender packed less data than the " + blockCount + " blocks that were unpacked";
        }
        for (int link = 0; link < bmms.length; link++) {
            if (bmms[link].holdsUnclaimedPayload()) {
                return bmms[link].untakenBytes() + " or more bytes from " + id(link)
                        + (drained
                                ? " are left after the " + blockCount + " blocks that were unpacked"
                                : " belong to none of the " + blockCount + " blocks that were unpacked");
            }
        }
        return whyGroupsDiffer();
    }

    private String whatIsMissing(SelfDescription described) {
        return "the receiver unpacks " + described.wanted() + ", but the sender packed only the " + blockCount
                + " blocks before it";
    }

    /** Whether the message has ended and mirrors the unpacked blocks. */
    boolean isOver() {
        return !asksForSurplus && isDrained() && ledger.isEnded();
    }

    /**
     * Asks for the descriptor of a surplus block at the end of the message, if blocks have descriptors.
     *
     * @return false if there is nothing to ask for, or if it has been asked for already
     */
    boolean askForSurplus() {
        if (description == null || asksForSurplus || !(isDrained() || bmms[0].holdsLargerGroup())) {
            return false;
        }
        asksForSurplus = true;
        append(0, description.found(), 0, BlockDescriptor.BYTES, true);
        return true;
    }

    /** Why a group of a symmetric module cannot be received as it was sent, or null. */
    private @Nullable String whyGroupsDiffer() {
        for (int link = 0; link < bmms.length; link++) {
            if (bmms[link].holdsLargerGroup()) {
                return "its sender packed a group of " + bmms[link].untakenBytes() + " bytes into " + id(link)
                        + ", but the receiver unpacked less up to an EXPRESS block or a change of module; sizes and"
                        + " modes have to be the same at both ends";
            }
        }
        return null;
    }

    /** The missing data, for error messages. */
    String missing() {
        long missingBytes = 0;
        for (ReceiveBmm bmm : bmms) {
            missingBytes += bmm.missingBytes();
        }
        String blocks =
                blockCount == 1 ? "1 block are missing, from " : blockCount + " blocks are missing, the last from ";
        return missingBytes + " bytes of " + blocks + id(currentLink);
    }

    private String id(int link) {
        return modules.get(Math.max(link, 0)).id();
    }
}
