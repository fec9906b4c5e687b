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
import org.jspecify.annotations.Nullable;

/**
 * The blocks of an incoming message on their way out of all its links, and the judgement whether they mirror what was
 * packed. A wrong mirror shows in one of three ways: the message ends while blocks are still empty, payload lies in
 * front of a link that should have been asked for before, or payload is left when everything has been asked for.
 *
 * <p>So no wait lasts longer than the message takes to arrive. A sender finishes one packet before it begins the next, on
 * whatever link, so of the packet with the lowest number that nobody asks for all predecessors arrive by themselves: then
 * it is overdue for who waits for a block of another link. And once the end is asked for nobody will ask for it at all.
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

    /** All blocks are filled and more has come: the description of the block that nobody has unpacked is asked for. */
    private boolean asksForSurplus;

    /** With the receiver's side of the blocks' descriptions, or null where they have none. */
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

    /** Appends a block, checking out the link used before if it is another. */
    void append(int link, MemorySegment block, long offset, long bytes, boolean express) {
        turnTo(link);
        bmms[link].append(block, offset, bytes);
        if (express) {
            bmms[link].checkOut();
        }
    }

    /** The same for a block that lies in the ranges of a layout. */
    void append(int link, BlockLayout block, boolean express) {
        turnTo(link);
        bmms[link].append(block);
        if (express) {
            bmms[link].checkOut();
        }
    }

    private void turnTo(int link) {
        if (link != currentLink) {
            if (currentLink != NO_LINK) {
                bmms[currentLink].checkOut();
            }
            currentLink = link;
        }
    }

    /** Fills a block if that can be done here and now, while no other waits for its data. */
    boolean takeWhole(int link, MemorySegment block, long offset, long bytes) {
        if (!bmms[link].takeWhole(block, offset, bytes)) {
            return false;
        }
        currentLink = link;
        return true;
    }

    /** Takes a message of one block whole from the primary link; as {@link ReceiveBmm#takeMessage} says. */
    boolean takeMessage(MemorySegment block, long offset, long bytes) {
        return bmms[0].takeMessage(block, offset, bytes);
    }

    void checkOutAll() {
        for (ReceiveBmm bmm : bmms) {
            bmm.checkOut();
        }
    }

    /** Fills blocks with what has arrived; returns how much that was. */
    long extract() {
        long moved = 0;
        long before;
        do {
            before = moved;
            for (ReceiveBmm bmm : bmms) {
                moved += bmm.isDrained() ? bmm.passMarks() : bmm.extract();
            }
        } while (moved > before && holdsMark()); // whose turn has come, perhaps, and no event will tell of it
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

    /** Drops what has arrived; returns how much that was. */
    long drop() {
        long dropped = 0;
        for (ReceiveBmm bmm : bmms) {
            dropped += bmm.drop();
        }
        return dropped;
    }

    /** As {@link ReceiveBmm#hasLostTrack} says. */
    boolean hasLostTrack() {
        for (ReceiveBmm bmm : bmms) {
            if (bmm.hasLostTrack()) {
                return true;
            }
        }
        return false;
    }

    /** Whether every block has its data. */
    boolean isDrained() {
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
        for (ReceiveBmm bmm : bmms) {
            if (bmm.touches(region)) {
                return true;
            }
        }
        return false;
    }

    void forgetBlocks() {
        for (ReceiveBmm bmm : bmms) {
            bmm.forgetBlocks();
        }
    }

    /** Takes back what was posted of blocks that are forgotten; to be repeated, and nothing else done, while it is pending. */
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

    /** Why the last block will never come, or null as long as it may. */
    @Nullable
    String whyWaitIsVain() {
        if (ledger.isEnded()) {
            return description != null
                    ? whatIsMissing(description)
                    : "its sender packed less than the " + blockCount + " blocks unpacked so far, or by other modules";
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

    /** Why the message does not end as it should, or null as long as it may. */
    @Nullable
    String whyEndIsWrong() {
        boolean drained = isDrained();
        if (asksForSurplus && description != null && (drained || !ledger.isEnded())) {
            return drained ? "packed was " + description.packed() + ", which is not unpacked" : null;
        }
        if (!drained && ledger.isEnded() && description != null && !asksForSurplus) {
            return whatIsMissing(description);
        }
        if (!drained && ledger.isEnded()) {
            return "its sender packed less than the " + blockCount + " blocks that were unpacked";
        }
        for (int link = 0; link < bmms.length; link++) {
            if (bmms[link].holdsUnclaimedPayload()) {
                return bmms[link].untakenBytes() + " bytes or more by " + id(link)
                        + (drained
                                ? " are left after the " + blockCount + " blocks that were unpacked"
                                : " come where none of the " + blockCount + " blocks unpacked is to be filled by it");
            }
        }
        return whyGroupsDiffer();
    }

    private String whatIsMissing(SelfDescription described) {
        return "unpacked is " + described.wanted() + ", but its sender packed no more than the " + blockCount
                + " blocks before it";
    }

    /** Whether the message ends well with what has been unpacked and has come. */
    boolean isOver() {
        return !asksForSurplus && isDrained() && ledger.isEnded();
    }

    /**
     * Asks for the description of a block that is left at the end of the message, if blocks have descriptions; returns false if
     * there is nothing to be asked for, or it has been.
     */
    boolean askForSurplus() {
        if (description == null || asksForSurplus || !(isDrained() || bmms[0].holdsLargerGroup())) {
            return false;
        }
        asksForSurplus = true;
        append(0, description.found(), 0, BlockDescriptor.BYTES, true);
        return true;
    }

    /** Whether a group of a symmetric module cannot be received as it was sent. */
    private @Nullable String whyGroupsDiffer() {
        for (int link = 0; link < bmms.length; link++) {
            if (bmms[link].holdsLargerGroup()) {
                return "its sender packed a group of " + bmms[link].untakenBytes() + " bytes into " + id(link)
                        + ", of which less is unpacked up to an EXPRESS block or another module; sizes and modes have"
                        + " to be the same at both ends";
            }
        }
        return null;
    }

    /** What is missing, for error messages. */
    String missing() {
        long missingBytes = 0;
        for (ReceiveBmm bmm : bmms) {
            missingBytes += bmm.missingBytes();
        }
        return missingBytes + " bytes of " + blockCount + " blocks are missing, the last by " + id(currentLink);
    }

    private String id(int link) {
        return modules.get(Math.max(link, 0)).id();
    }
}
