package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.sci.memory.OrderedWords;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of a line of cells. It returns a cell as soon as the cell is empty.
 *
 * <p>Threading: single-writer (the holder of the receive lock); {@link #isReadable()} any thread.
 */
final class CellConsumer {
    /** Returned by {@link #front()} if the sender broke the format. */
    static final long BROKEN = Long.MIN_VALUE;

    private final MemorySegment memory;
    private final CellLayout layout;
    private final @Nullable Borrower borrower;

    private volatile int cell;
    private boolean loaded;
    private int cellFilledBytes;
    private int cellTakenBytes;
    private long front;
    private long packetLeftBytes;
    private volatile long trailer;
    private boolean frontIsTrailer;
    private boolean broken;
    private boolean freed;

    CellConsumer(MemorySegment memory, CellLayout layout) {
        this(memory, layout, null);
    }

    /** Creates a consumer for a sender that may lend blocks. */
    CellConsumer(MemorySegment memory, CellLayout layout, @Nullable Borrower borrower) {
        this.memory = memory;
        this.layout = layout;
        this.borrower = borrower;
    }

    /** Returns the header in front, 0 if there is none, or {@link #BROKEN}. */
    long front() {
        if (front != 0) {
            return front;
        }
        if (trailer != 0) {
            front = trailer;
            frontIsTrailer = true;
            return front;
        }
        boolean _ = load();
        return broken ? BROKEN : front;
    }

    /** Begins to read the next cell if it is there; validates its contents. */
    private boolean load() {
        if (loaded) {
            return true;
        }
        int here = cell;
        long state = OrderedWords.acquire(memory, layout.state(here));
        if (state == 0 || broken) {
            return false;
        }
        long header = OrderedWords.plain(memory, layout.header(here));
        if (state == CellLayout.LENT && borrower != null) {
            return loadLoan(borrower, here, header);
        }
        long behind = OrderedWords.plain(memory, layout.trailer(here));
        if (!accept(state - 1, header, behind)) {
            broken = true;
            return false;
        }
        loaded = true;
        cellTakenBytes = 0;
        cellFilledBytes = (int) (state - 1);
        trailer = behind;
        if (header != 0) {
            front = header;
            packetLeftBytes = PacketHeader.payloadBytes(header);
        }
        return true;
    }

    private boolean loadLoan(Borrower lent, int here, long header) {
        long left = front == 0 ? PacketHeader.payloadBytes(header) : packetLeftBytes;
        if (!headerFits(header) || !lent.open(here, left)) {
            broken = true;
            return false;
        }
        loaded = true;
        if (header != 0) {
            front = header;
            packetLeftBytes = left;
        }
        return true;
    }

    private boolean headerFits(long header) {
        return front == 0 ? PacketHeader.isValid(header) : header == 0;
    }

    private boolean accept(long filledBytes, long header, long behind) {
        boolean begins = front == 0;
        if (!headerFits(header)) {
            return false;
        }
        long left = begins ? PacketHeader.payloadBytes(header) : packetLeftBytes;
        boolean fits = filledBytes >= 0 && filledBytes <= layout.cellBytes() && filledBytes <= left;
        boolean advances = filledBytes > 0 || left == 0;
        return fits && advances && trailerFits(behind, left - filledBytes);
    }

    private static boolean trailerFits(long behind, long leftBytes) {
        return behind == 0 || leftBytes == 0 && PacketHeader.isValid(behind) && PacketHeader.payloadBytes(behind) == 0;
    }

    /**
     * Moves payload of one cell into the group. The header in front is known. If this throws, the group knows how much
     * was moved.
     */
    long receive(BufferGroup group, long maxBytes) {
        if (packetLeftBytes == 0 || !load()) {
            return 0;
        }
        long before = group.remainingBytes();
        if (borrower != null && borrower.isBorrowing()) {
            try {
                borrower.receive(group, maxBytes);
            } finally {
                borrowed(borrower, before - group.remainingBytes());
            }
            return before - group.remainingBytes();
        }
        long bytes = Math.min(maxBytes, cellFilledBytes - cellTakenBytes);
        try {
            return group.fillFrom(memory, layout.data(cell) + cellTakenBytes, bytes);
        } finally {
            taken(before - group.remainingBytes()); // also if the group's memory has been freed
        }
    }

    long skip(long maxBytes) {
        if (packetLeftBytes == 0 || !load()) {
            return 0;
        }
        if (borrower != null && borrower.isBorrowing()) {
            return borrowed(borrower, borrower.skip(maxBytes));
        }
        return taken(Math.min(maxBytes, cellFilledBytes - cellTakenBytes));
    }

    /** Accounts for bytes of a loan, and returns its cell when the loan is over. */
    private long borrowed(Borrower loan, long bytes) {
        packetLeftBytes -= bytes;
        broken |= loan.isBroken();
        freed |= loan.hasAnswered();
        if (loan.isOver() && !broken) {
            long behind = OrderedWords.plain(memory, layout.trailer(cell));
            broken = !trailerFits(behind, packetLeftBytes);
            trailer = broken ? 0 : behind;
            loan.close();
            free();
        }
        return bytes;
    }

    private long taken(long bytes) {
        cellTakenBytes += (int) bytes;
        packetLeftBytes -= bytes;
        if (cellTakenBytes == cellFilledBytes) {
            free();
        }
        return bytes;
    }

    /**
     * Returns the cell. Advances the position first, so that a thread that looks without the lock never misses the next
     * cell.
     */
    private void free() {
        int here = cell;
        loaded = false;
        cell = layout.next(here);
        OrderedWords.setRelease(memory, layout.state(here), 0);
        freed = true;
    }

    /**
     * Releases the packet in front, whose payload has been taken. The cell of an empty packet is returned only now:
     * until then it shows that there is data to read.
     */
    void release() {
        if (frontIsTrailer) {
            frontIsTrailer = false;
            trailer = 0;
        } else if (loaded && !isBorrowing() && cellTakenBytes == cellFilledBytes) {
            free();
        }
        front = 0;
    }

    private boolean isBorrowing() {
        return borrower != null && borrower.isBorrowing();
    }

    /** Whether cells have been returned since the last call. */
    boolean tookSpace() {
        boolean handedBack = freed;
        freed = false;
        return handedBack;
    }

    boolean isBroken() {
        return broken;
    }

    /**
     * Whether there is data to read. While another thread reads, this may be wrongly true for a moment, but never
     * wrongly false.
     */
    boolean isReadable() {
        while (true) {
            int here = cell;
            long state = OrderedWords.acquire(memory, layout.state(here));
            if (trailer != 0 || state > 0 || state < 0 && (borrower == null || borrower.isReadable(here))) {
                return true;
            }
            if (here == cell) {
                return false;
            }
        }
    }
}
