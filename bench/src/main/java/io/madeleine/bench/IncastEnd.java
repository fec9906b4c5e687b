package io.madeleine.bench;

import io.madeleine.api.LossKind;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.switching.SelectionTable;
import java.lang.foreign.MemorySegment;

/**
 * One end of a connection without a session. Packets are sent and received in parts: no call waits.
 *
 * <p>Threading: confined to caller, but for the upcalls.
 */
final class IncastEnd implements ConnectionListener {
    private final ProtocolConnection connection;
    private final SelectionTable table;
    private final BufferGroup sending = new BufferGroup();
    private final BufferGroup receiving = new BufferGroup();
    private volatile String reason = "";
    private int sequence;
    private boolean isSending; // a link may have taken the whole block and still want to be called
    private boolean isPacketOpen; // its header was seen, and its payload has not come yet

    IncastEnd(ProtocolConnection connection, SelectionTable table) {
        this.connection = connection;
        this.table = table;
        connection.start(this);
    }

    private TransmissionLink link(long bytes) {
        return connection.links().get(table.select(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER));
    }

    /** A block is to be sent; {@link #goOnSending} sends it. */
    void send(MemorySegment block) {
        sending.clear();
        sending.add(block, 0, block.byteSize());
        isSending = true;
    }

    /** Whether a block is to be sent. */
    boolean isSending() {
        return isSending;
    }

    /** Sends as much as possible of a block of this size; whether all of it has left. */
    boolean goOnSending(MemorySegment block) {
        long bytes = block.byteSize();
        long header = PacketHeader.of((int) bytes, sequence, 0, PacketHeader.FIRST | PacketHeader.LAST);
        boolean complete = switch (link(bytes)) {
            case StaticLink link -> sendCopied(link, header, block);
            case DynamicLink link -> isComplete(link.send(header, sending, 0));
        };
        if (complete) {
            sequence++;
            isSending = false;
        }
        return complete;
    }

    private boolean sendCopied(StaticLink link, long header, MemorySegment block) {
        long offset = link.claim();
        if (offset < 0) {
            return isComplete((int) offset);
        }
        Blocks.copy(block, 0, link.memory(), offset, block.byteSize());
        link.commit(header);
        link.announce();
        return true;
    }

    private boolean isComplete(int status) {
        throwIfLost(status == LinkStatus.CLOSED);
        return status == LinkStatus.COMPLETE;
    }

    /** An upcall tells the reason of a loss, so it may come later. */
    private void throwIfLost(boolean isClosed) {
        if (isClosed && !reason.isEmpty()) {
            throw new MeasuringException("the connection was lost: " + reason);
        }
    }

    /** A block is to be received; {@link #goOnReceiving} receives it. */
    void receive(MemorySegment block) {
        receiving.clear();
        receiving.add(block, 0, block.byteSize());
    }

    /** Whether a block is to be received. */
    boolean isReceiving() {
        return !receiving.isEmpty();
    }

    /** Receives as much as there is of a block of this size; returns how many bytes that was. */
    long goOnReceiving(long bytes) {
        TransmissionLink link = link(bytes);
        if (!isPacketOpen) {
            long header = link.front();
            throwIfLost(header == LinkStatus.CLOSED);
            isPacketOpen = header > 0;
        }
        long moved = isPacketOpen ? link.receive(receiving, receiving.remainingBytes()) : 0;
        if (isPacketOpen && receiving.isEmpty()) {
            link.release();
            isPacketOpen = false;
        }
        return moved;
    }

    @Override
    public int onReadable() {
        return 0; // its user looks for itself
    }

    @Override
    public void onLost(LossKind kind, boolean orderly, String why) {
        reason = why;
    }
}
