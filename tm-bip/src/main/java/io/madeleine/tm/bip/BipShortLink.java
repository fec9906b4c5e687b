package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import io.madeleine.tm.bip.protocol.SendStream;
import java.lang.foreign.MemorySegment;

/**
 * The link of bip/short: packets go into static buffers at both ends, and a sender sends only what its peer has granted
 * (paper, section 5.2.4). Headers and payload share one stream, so that a small packet is one piece of a datagram.
 *
 * <p>Threading: as {@link OneStepLink}.
 */
final class BipShortLink implements OneStepLink {
    private final BipConnection connection;
    private final TransmissionCapabilities capabilities;
    private final SendStream out;
    private final PacketReader reader;
    private final MemorySegment buffer;
    private volatile boolean awaitsRoom;
    private Announcement announcement = Announcement.OPEN; // as the sending half

    /** What {@link #announce} does with the packet that was sent last. */
    private enum Announcement {
        /** It looks whether the packet is held back. */
        OPEN,
        /** Nothing: the packet waits with those before it. */
        HELD_BACK,
        /** It sends. */
        DUE
    }

    BipShortLink(BipConnection connection, TransmissionCapabilities capabilities) {
        this.connection = connection;
        this.capabilities = capabilities;
        this.out = connection.endpoint().out(DatagramLayout.SHORT_STREAM);
        this.reader = new PacketReader(
                connection,
                connection.endpoint().in(DatagramLayout.SHORT_STREAM),
                connection.endpoint().in(DatagramLayout.SHORT_STREAM));
        this.buffer = MemorySegment.ofArray(new byte[capabilities.bufferBytes()]);
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return capabilities;
    }

    PacketReader reader() {
        return reader;
    }

    // ---- sending

    private boolean hasRoomFor(int payloadBytes) {
        return out.roomInMemory() >= PacketHeader.BYTES + payloadBytes;
    }

    /** Whether a sender that had to wait can continue. Under the lock. */
    boolean hasRoomAgain() {
        if (awaitsRoom && (connection.isOver() || hasRoomFor(capabilities.bufferBytes()))) {
            awaitsRoom = false;
            return true;
        }
        return false;
    }

    /** Whether a sender waits because there is no memory for what it sends. Under the lock. */
    boolean lacksMemory() {
        return awaitsRoom && out.lacksMemory();
    }

    @Override
    public long claim() {
        connection.lock();
        try {
            if (connection.isOver()) {
                return LinkStatus.CLOSED;
            }
            awaitsRoom = !hasRoomFor(capabilities.bufferBytes());
            if (lacksMemory()) {
                connection.flushLocked(); // sets the time of the next attempt
            } else if (awaitsRoom) {
                connection.flushForRoom();
            }
            return awaitsRoom ? LinkStatus.PENDING : 0;
        } finally {
            connection.unlock();
        }
    }

    @Override
    public MemorySegment memory() {
        return buffer;
    }

    @Override
    public void commit(long header) {
        boolean _ = append(header, buffer, 0, false);
    }

    /**
     * @param looks whether to see at once, under the same lock, if the packet waits with those that are held back: in a
     *     dense stream nearly all do
     */
    private boolean append(long header, MemorySegment block, long offset, boolean looks) {
        int bytes = PacketHeader.payloadBytes(header);
        connection.lock();
        try {
            if (connection.isOver() || !hasRoomFor(bytes)) {
                return false; // after a claim only because it is over
            }
            long before = out.length();
            out.appendLong(header);
            try {
                out.append(block, offset, bytes);
            } catch (IllegalStateException | WrongThreadException e) {
                out.withdraw((int) (out.length() - before));
                throw e;
            }
            connection.sent(header);
            if (looks && connection.isHolding()) {
                announcement = connection.joinsHeldBack(out) ? Announcement.HELD_BACK : Announcement.DUE;
            }
            return true;
        } finally {
            connection.unlock();
        }
    }

    @Override
    public void announce() {
        Announcement what = announcement;
        announcement = Announcement.OPEN;
        switch (what) {
            case OPEN -> connection.announce(out);
            case DUE -> connection.flush();
            case HELD_BACK -> {
                // whoever sends the packets before this one sends it, too
            }
        }
    }

    @Override
    public void abandon() {
        // nothing was taken by the claim
    }

    @Override
    public boolean sendPacket(long header, MemorySegment block, long offset) {
        return append(header, block, offset, true);
    }

    // ---- receiving

    @Override
    public long front() {
        return reader.front();
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        return reader.receive(group, maxBytes);
    }

    @Override
    public boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        return reader.receiveWhole(block, offset, bytes);
    }

    @Override
    public boolean receivePacket(long header, MemorySegment block, long offset) {
        return reader.receivePacket(header, block, offset);
    }

    @Override
    public long skip(long maxBytes) {
        return reader.skip(maxBytes);
    }

    @Override
    public void release() {
        reader.release();
    }
}
