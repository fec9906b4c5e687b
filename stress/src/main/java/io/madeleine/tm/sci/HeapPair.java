package io.madeleine.tm.sci;

import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.link.PairLayout;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.PairSizes;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.wake.Inbox;
import io.madeleine.tm.sci.wake.InboxLayout;
import io.madeleine.tm.sci.wake.SciProgress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * Both ends of a shared-memory connection, on heap memory instead of mapped files, so that a new pair for each trial is
 * cheap. The two ends access the segment and each other's inbox as they do between processes.
 *
 * <p>Threading: as the ends' links and {@link SciConnection} say.
 */
public final class HeapPair {
    public static final int SLOT = 1;
    static final int CELL_BYTES = 4096;
    public static final int CELLS = 2;

    private static final int BUFFER_BYTES = 256;
    private static final int RING_BYTES = 2048;
    private static final SciConfig CONFIG = new SciConfig(
            true,
            Optional.empty(),
            BUFFER_BYTES,
            BUFFER_BYTES,
            BUFFER_BYTES,
            RING_BYTES,
            CELL_BYTES,
            CELLS,
            SciConfig.SingleCopyUse.OFF,
            4096,
            Long.MAX_VALUE,
            false,
            Long.MAX_VALUE);
    private static final List<TransmissionCapabilities> MODULES = new SciPmm(CONFIG).transmissionModules();
    private static final PairLayout LAYOUT =
            PairLayout.of(MODULES, PairSizes.chosen(RING_BYTES, CELL_BYTES, CELLS, MODULES));
    private static final SciProgress.ControlWork NO_CONTROL = new SciProgress.ControlWork() {
        @Override
        public boolean giveUpCutMemory() {
            return false;
        }

        @Override
        public boolean isPending() {
            return false;
        }

        @Override
        public int step(long nowNs, boolean urgent) {
            return 0;
        }
    };
    private static final SciProgress PROGRESS =
            new SciProgress(heapInbox(), new SelectorReactor(), NO_CONTROL, SciProgress.IDLE_LOOKS);

    public final Inbox senderInbox = heapInbox();
    public final Inbox receiverInbox = heapInbox();
    public final SciConnection sender;
    public final SciConnection receiver;
    final StaticLink small;
    final TransmissionLink smallEnd;
    final DynamicLink large;
    final TransmissionLink largeEnd;

    public HeapPair() {
        MemorySegment memory = MemorySegment.ofArray(new long[(int) (LAYOUT.totalBytes() / Long.BYTES)]);
        sender = end(memory, PairLayout.INITIATOR, receiverInbox);
        receiver = end(memory, PairLayout.ACCEPTOR, senderInbox);
        small = (StaticLink) sender.links().getFirst();
        smallEnd = receiver.links().getFirst();
        large = (DynamicLink) sender.links().getLast();
        largeEnd = receiver.links().getLast();
    }

    public static Inbox heapInbox() {
        return new Inbox(Arena.global(), MemorySegment.ofArray(new long[(int) (InboxLayout.BYTES / Long.BYTES)]));
    }

    @SuppressWarnings("NullAway") // there is no channel and no single copy, and nobody asks for them
    private static SciConnection end(MemorySegment memory, int side, Inbox peersInbox) {
        FileStem peer = new FileStem(new ProcessIdentity(side, 0), 0);
        return new SciConnection(
                new PairSegment(Arena.global(), memory, LAYOUT, side, SLOT, SLOT),
                new SciPeer(peer, peersInbox),
                MODULES,
                null,
                PROGRESS,
                _ -> {},
                _ -> {});
    }

    /** Sends a small packet that contains one number. Returns false if there is no room. */
    public boolean sendSmall(int sequence, long value) {
        long offset = small.claim();
        if (offset < 0) {
            return false;
        }
        small.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
        small.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, offset + BUFFER_BYTES - Long.BYTES, value);
        small.commit(PacketHeader.of(BUFFER_BYTES, sequence, 0, PacketHeader.FIRST));
        small.announce();
        return true;
    }

    /**
     * Receives a small packet. Returns its number, 0 if there is no packet, or -1 if its first and last words differ.
     */
    public long takeSmall() {
        if (smallEnd.front() <= 0) {
            return 0;
        }
        long[] content = new long[BUFFER_BYTES / Long.BYTES];
        smallEnd.receive(group(content), BUFFER_BYTES);
        smallEnd.release();
        return content[0] == content[content.length - 1] ? content[0] : -1;
    }

    /** Fills the ring with packets numbered from 1. Returns their number. */
    public int fillSmall() {
        int count = 0;
        while (sendSmall(count, count + 1L)) {
            count++;
        }
        return count;
    }

    /** Sends a packet of one cell that contains the number. Returns false if there is no room. */
    public boolean sendCell(int sequence, long value) {
        long[] content = new long[CELL_BYTES / Long.BYTES];
        content[0] = value;
        content[content.length - 1] = value;
        BufferGroup group = group(content);
        long header = PacketHeader.of(CELL_BYTES, sequence, 0, PacketHeader.FIRST | PacketHeader.LAST);
        return large.send(header, group, 0) == LinkStatus.COMPLETE;
    }

    /**
     * Receives a packet of one cell. Returns its number, 0 if there is no packet, or -1 if its first and last words
     * differ.
     */
    public long takeCell() {
        if (largeEnd.front() <= 0) {
            return 0;
        }
        long[] content = new long[CELL_BYTES / Long.BYTES];
        BufferGroup group = group(content);
        while (!group.isEmpty()) {
            if (largeEnd.receive(group, CELL_BYTES) == 0) {
                return -1;
            }
        }
        largeEnd.release();
        return content[0] == content[content.length - 1] ? content[0] : -1;
    }

    private static BufferGroup group(long[] content) {
        BufferGroup group = new BufferGroup();
        group.add(MemorySegment.ofArray(content), 0, (long) content.length * Long.BYTES);
        return group;
    }
}
