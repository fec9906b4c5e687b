package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.tm.sci.memory.OrderedWords;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The sending end of a line of cells: it fills one cell after the other while the receiver empties them (Madeleine II,
 * section 5.2.3: the adaptive double buffering of the regular module). It spreads a packet over several cells even if
 * the packet would fit into one, so that the receiver's copy overlaps the sender's.
 *
 * <p>Threading: single-writer (the holder of the send lock); {@link #hasRoom()} any thread.
 */
public final class CellProducer {
    private static final int MIN_PIECE_BYTES = 8 * 1024;

    private final MemorySegment memory;
    private final CellLayout layout;
    private final @Nullable Lender lender;
    private volatile int cell;
    private int plainCell;
    private int filledBytes;
    private int pieceBytes;
    private boolean underWay;
    private boolean first;
    private int lastCell;

    public CellProducer(MemorySegment memory, CellLayout layout) {
        this(memory, layout, null);
    }

    /** Creates a producer that may lend blocks instead of copying them. */
    public CellProducer(MemorySegment memory, CellLayout layout, @Nullable Lender lender) {
        this.memory = memory;
        this.layout = layout;
        this.lender = lender;
    }

    /** Begins a packet, or continues the one under way. */
    public void open(long payloadBytes) {
        if (!underWay) {
            underWay = true;
            first = true;
            pieceBytes = pieceBytes(payloadBytes);
            if (lender != null) {
                lender.open();
            }
        }
    }

    private int pieceBytes(long payloadBytes) {
        long piece = OrderedWords.align(Math.ceilDiv(payloadBytes, layout.cells()), OrderedWords.PAGE_BYTES);
        return Math.clamp(piece, Math.min(MIN_PIECE_BYTES, layout.cellBytes()), layout.cellBytes());
    }

    /**
     * Fills and publishes one cell, or takes a loan one step further.
     *
     * @return false if no cell is free, or the receiver has not taken more of the loan
     * @throws IllegalStateException if memory of the group has been freed; what was sent before still counts
     */
    public boolean send(long header, BufferGroup group, long trailer) {
        if (lender != null && (lender.isOut() || filledBytes == 0 && lender.mayLend(group))) {
            return lend(lender, header, group, trailer);
        }
        int here = plainCell;
        if (filledBytes == 0 && OrderedWords.acquire(memory, layout.state(here)) != 0) {
            cell = here;
            return false;
        }
        long before = group.remainingBytes();
        try {
            group.drainTo(memory, layout.data(here) + filledBytes, pieceBytes - filledBytes);
        } finally {
            filledBytes += (int) (before - group.remainingBytes());
        }
        publish(here, first ? header : 0, group.isEmpty() ? trailer : 0);
        first = false;
        underWay = !group.isEmpty();
        return true;
    }

    private boolean lend(Lender lending, long header, BufferGroup group, long trailer) {
        int here = plainCell;
        if (lending.isOut()) {
            boolean moved = lending.settle(group, trailer);
            if (!lending.isOut()) {
                plainCell = layout.next(here);
                underWay = !group.isEmpty();
            }
            return moved;
        }
        cell = here;
        if (OrderedWords.acquire(memory, layout.state(here)) != 0) {
            return false;
        }
        lending.lend(here, first ? header : 0, group);
        lastCell = here;
        first = false;
        return true;
    }

    private void publish(int here, long header, long trailer) {
        OrderedWords.setPlain(memory, layout.header(here), header);
        OrderedWords.setPlain(memory, layout.trailer(here), trailer);
        OrderedWords.setRelease(memory, layout.state(here), filledBytes + 1L);
        lastCell = here;
        plainCell = layout.next(here);
        filledBytes = 0;
    }

    /**
     * Whether the receiver has read all that was published. The cell of a loan is free only when the receiver has read
     * that the loan is over, too. Called by the sender.
     */
    boolean isAllRead() {
        try {
            return OrderedWords.acquire(memory, layout.state(lastCell)) == 0;
        } catch (IllegalStateException _) {
            return true; // The memory has been freed: there is no receiver.
        }
    }

    /** Whether a packet has begun and has not been sent completely. */
    boolean isUnderWay() {
        return underWay;
    }

    /** Whether the receiver's answer to a loan was out of bounds. */
    boolean isBroken() {
        return lender != null && lender.isBroken();
    }

    /** Whether the cell that was not free is free now, or the receiver has answered a loan. */
    boolean hasRoom() {
        return lender != null && lender.isAnswered() || OrderedWords.acquire(memory, layout.state(cell)) == 0;
    }
}
