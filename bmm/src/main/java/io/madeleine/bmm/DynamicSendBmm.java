package io.madeleine.bmm;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Region;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Sends the user's blocks in place: one by one ({@code buffer}), or gathered into a group until commit
 * ({@code buffer_group}). Blocks that must not be referenced are copied first.
 *
 * <p>The end mark goes in the header of a small last packet, whose blocks are copied first. Behind a larger packet it
 * is a packet of its own: until all memory of the large packet has been read, the message may have to be aborted.
 *
 * <p>Threading: as {@link SendBmm}.
 */
final class DynamicSendBmm extends SendBmm {
    /** Up to this size a copy is cheaper than another packet. */
    private static final long SMALL_BYTES = 1024;

    /** Mark of a group entry: its memory belongs to the user. */
    private static final byte LENT = 1;

    /** Mark of a group entry: the receiver may continue as soon as its data is there. */
    private static final byte EXPRESS = 2;

    private final DynamicLink link;
    private final Staging staging;
    private final boolean eager;
    private final BufferGroup group = new BufferGroup();
    private byte[] marks = new byte[16];
    private int added;
    private boolean sending;
    private boolean markUnderWay;
    private long header;
    private long trailer;

    DynamicSendBmm(DynamicLink link, SendLedger ledger, Staging staging) {
        super(ledger, link);
        this.link = link;
        this.staging = staging;
        this.eager = link.capabilities().linkMode() == LinkMode.BUFFER;
    }

    @Override
    public int append(MemorySegment block, long offset, long bytes, boolean mayKeep, boolean express) {
        while (progressBytes < bytes) {
            int status = makeRoom();
            if (status != LinkStatus.COMPLETE) {
                return status;
            }
            long here = Math.min(bytes - progressBytes, PacketHeader.MAX_PAYLOAD_BYTES - group.remainingBytes());
            makeRoomForMark(); // first: a block is then added with its mark, or not at all
            if (mayKeep) {
                group.add(block, offset + progressBytes, here);
                mark(express ? LENT | EXPRESS : LENT);
            } else {
                staging.copy(block, offset + progressBytes, here);
                addStaged(here);
            }
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
            long here = Math.min(bytes - progressBytes, PacketHeader.MAX_PAYLOAD_BYTES - group.remainingBytes());
            makeRoomForMark();
            if (mayKeep) {
                group.add(block, progressBytes, here);
                mark(express ? LENT | EXPRESS : LENT);
            } else {
                staging.copy(block, progressBytes, here);
                addStaged(here);
            }
            progressBytes += here;
        }
        return appended(express);
    }

    private int makeRoom() {
        boolean full = group.remainingBytes() == PacketHeader.MAX_PAYLOAD_BYTES;
        return sending || full ? flush() : LinkStatus.COMPLETE;
    }

    private void addStaged(long bytes) {
        group.add(staging.segment(), staging.offset(), bytes);
        mark(0);
    }

    private int appended(boolean express) {
        progressBytes = 0;
        if (eager || (express && endsGroupAtExpress)) {
            int status = flush();
            return status == LinkStatus.CLOSED ? status : LinkStatus.COMPLETE; // if PENDING, the blocks leave later
        }
        return LinkStatus.COMPLETE;
    }

    private void makeRoomForMark() {
        if (added == marks.length) {
            marks = Arrays.copyOf(marks, 2 * added);
        }
    }

    private void mark(int kind) {
        marks[added++] = (byte) kind;
    }

    private void clearGroup() {
        group.clear();
        added = 0;
    }

    @Override
    public int flush() {
        if (!sending) {
            if (group.isEmpty()) {
                return LinkStatus.COMPLETE;
            }
            begin(0, 0);
        }
        return send();
    }

    @Override
    public int flushMark(int flags) {
        if (!markUnderWay) {
            int status = flush();
            if (status != LinkStatus.COMPLETE) {
                return status;
            }
            begin(flags, 0);
            markUnderWay = true;
        }
        int status = send();
        markUnderWay = status == LinkStatus.PENDING;
        return status;
    }

    @Override
    public int flushLast() {
        if (sending && !PacketHeader.has(header, PacketHeader.LAST) && trailer == 0) {
            int status = send();
            if (status != LinkStatus.COMPLETE) {
                return status;
            }
        }
        if (sending) {
            return send();
        }
        if (group.remainingBytes() > SMALL_BYTES) {
            begin(0, PacketHeader.LAST);
            return send();
        }
        copyLentAside(); // after the end mark has left, the message cannot fail any more
        begin(PacketHeader.LAST, 0);
        return send();
    }

    private void copyLentAside() {
        for (int i = 0, count = group.count(); i < count; i++) {
            int entry = added - count + i;
            if ((marks[entry] & LENT) != 0) {
                staging.copy(group, i);
                group.replace(i, staging.segment(), staging.offset());
                marks[entry] = 0;
            }
        }
    }

    private void begin(int flags, int trailerFlags) {
        header = ledger.next(group.remainingBytes(), flags);
        trailer = trailerFlags == 0 ? 0 : ledger.next(0, trailerFlags);
        sending = true;
    }

    private int send() {
        int status;
        try {
            status = link.send(header, group, trailer);
        } catch (OutOfMemoryError e) {
            stateUnknown = true;
            throw e;
        }
        if (status == LinkStatus.COMPLETE) {
            sending = false;
            clearGroup();
        }
        return status;
    }

    @Override
    public void announce() {
        // the link wakes the receiver for each packet as it leaves
    }

    @Override
    public boolean holdsBlocks() {
        return !sending && !group.isEmpty();
    }

    @Override
    public boolean touches(Region region) {
        return group.touches(region);
    }

    @Override
    public boolean isCommitted() {
        return sending
                && (PacketHeader.has(header, PacketHeader.LAST) // copied aside
                        || PacketHeader.has(trailer, PacketHeader.LAST) && group.isEmpty());
    }

    @Override
    public boolean abandon() {
        progressBytes = 0;
        markUnderWay = false;
        if (!sending) {
            clearGroup();
            return false;
        }
        if (group.isEmpty()) {
            return trailer != 0 || PacketHeader.has(header, PacketHeader.LAST);
        }
        if (PacketHeader.has(header, PacketHeader.LAST)) {
            return true; // its blocks are copies: it arrives whole
        }
        giveLentMemoryBack();
        if (trailer == 0) {
            return false;
        }
        trailer = PacketHeader.aborted(trailer);
        return true;
    }

    /**
     * Replaces the user's memory in the packet under way. An EXPRESS block still arrives as it was packed, since its
     * receiver continues with it before it can know of the abort. The receiver never reads the other blocks; zeros
     * replace them. An {@link OutOfMemoryError} leaves the group unchanged.
     */
    private void giveLentMemoryBack() {
        BufferGroup rest = new BufferGroup();
        for (int i = 0, count = group.count(); i < count; i++) {
            byte mark = marks[added - count + i];
            if (mark == 0) {
                rest.addBlockOf(group, i, 0, group.blockBytes(i));
            } else if ((mark & EXPRESS) == 0 || !copyAside(i, rest)) {
                for (long left = group.blockBytes(i); left > 0; left -= FILLER.byteSize()) {
                    rest.add(FILLER, 0, Math.min(left, FILLER.byteSize()));
                }
            }
        }
        byte[] restMarks = rest.count() > marks.length ? new byte[rest.count()] : marks;
        replaceGroup(rest);
        marks = restMarks;
        added = rest.count();
        Arrays.fill(marks, 0, added, (byte) 0);
    }

    private void replaceGroup(BufferGroup rest) {
        BufferGroup before = new BufferGroup();
        addAll(before, group);
        group.clear();
        try {
            addAll(group, rest);
        } catch (OutOfMemoryError e) {
            group.clear();
            addAll(group, before); // allocates nothing: there was room for it
            throw e;
        }
    }

    private static void addAll(BufferGroup target, BufferGroup source) {
        for (int i = 0, count = source.count(); i < count; i++) {
            target.addBlockOf(source, i, 0, source.blockBytes(i));
        }
    }

    /** Adds a copy of a block to the rest of a packet; returns false if the block's memory was freed. */
    private boolean copyAside(int i, BufferGroup rest) {
        try {
            addCopy(i, group.blockBytes(i), rest);
            return true;
        } catch (IllegalStateException | WrongThreadException _) {
            ProgressEngine.afterFreedMemory();
            return false; // the memory was freed, which is why the message is aborted
        }
    }

    /** A message is often aborted because native memory is short. Then the heap may have some. */
    private void addCopy(int i, long bytes, BufferGroup rest) {
        try {
            staging.copy(group, i);
            rest.add(staging.segment(), staging.offset(), bytes);
        } catch (OutOfMemoryError _) {
            MemorySegment copy = MemorySegment.ofArray(new byte[(int) bytes]);
            group.copyBlock(i, copy, 0);
            rest.add(copy, 0, bytes);
        }
    }
}
