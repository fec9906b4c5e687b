package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.via.port.MessageFlyweight;
import java.lang.foreign.MemorySegment;

/**
 * The transmission module {@code via/pool}: blocks are copied into registered buffers, and out of the receives that the
 * peer has posted. Each packet takes a credit, which the peer returns when it has posted the receive again.
 *
 * <p>Threading: as {@link OneStepLink}.
 */
final class ViaPoolLink implements OneStepLink {
    /** The id of the module. */
    static final String ID = "via/pool";

    private final ViaConnection connection;
    private final TransmissionCapabilities capabilities;
    private final Lane lane;
    private final Inbox inbox;
    private final Credits credits;
    private final MemorySegment memory;
    private final int firstSlot;
    private final int window;

    // ---- the sending half
    private int sent;
    private int claimed = -1;
    private volatile boolean awaitsRoom;

    // ---- the receiving half
    private int takenBytes;

    ViaPoolLink(
            ViaConnection connection,
            TransmissionCapabilities capabilities,
            Lane lane,
            Inbox inbox,
            Credits credits,
            int firstSlot,
            int window) {
        this.connection = connection;
        this.capabilities = capabilities;
        this.lane = lane;
        this.inbox = inbox;
        this.credits = credits;
        this.memory = lane.memory(firstSlot);
        this.firstSlot = firstSlot;
        this.window = window;
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return capabilities;
    }

    // ---- sending

    private boolean hasRoom() {
        return sent - credits.returned() < window && lane.isFree(firstSlot + Math.floorMod(sent, window));
    }

    /** Whether a sender that had to wait can continue. */
    boolean hasRoomAgain() {
        return awaitsRoom && (hasRoom() || connection.looksOver());
    }

    @Override
    public long claim() {
        if (connection.looksOver()) {
            return LinkStatus.CLOSED;
        }
        if (!hasRoom()) {
            awaitsRoom = true;
            int _ = connection.port().poll(); // credits may lie there that nobody has looked at: Channel.trySend
            if (!hasRoom()) { // an event before the flag was set is seen here, a later one by the thread that polls
                return LinkStatus.PENDING;
            }
        }
        if (awaitsRoom) {
            awaitsRoom = false;
        }
        claimed = firstSlot + Math.floorMod(sent, window);
        return lane.offset(claimed) + MessageFlyweight.BYTES;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public void commit(long header) {
        int slot = claimed;
        claimed = -1;
        sent++;
        connection.address(slot, MessageFlyweight.PACKET, header);
        lane.send(slot, MessageFlyweight.BYTES + PacketHeader.payloadBytes(header));
    }

    /** Does nothing: the provider wakes the receiver, or the receiver polls. */
    @Override
    public void announce() {}

    @Override
    public void abandon() {
        claimed = -1;
    }

    @Override
    public boolean sendPacket(long header, MemorySegment block, long offset) {
        long at = claim();
        if (at < 0) {
            return false;
        }
        MemorySegment.copy(block, offset, memory, at, PacketHeader.payloadBytes(header));
        commit(header);
        return true;
    }

    // ---- receiving

    boolean hasPackets() {
        return !inbox.isEmpty();
    }

    @Override
    public long front() {
        if (connection.isClosed()) {
            return LinkStatus.CLOSED;
        }
        boolean ended = connection.looksEnded(); // read first: packets that arrived before the end are then visible
        if (inbox.isEmpty()) {
            return ended ? LinkStatus.CLOSED : 0;
        }
        int slot = inbox.front();
        return MessageFlyweight.word(
                connection.receives().memory(slot), connection.receives().offset(slot));
    }

    private int leftBytes() {
        return inbox.frontBytes() - MessageFlyweight.BYTES - takenBytes;
    }

    private long payloadAt() {
        return connection.receives().offset(inbox.front()) + MessageFlyweight.BYTES + takenBytes;
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        if (connection.isClosed() || inbox.isEmpty()) {
            return 0;
        }
        long before = group.remainingBytes();
        try {
            return group.fillFrom(
                    connection.receives().memory(inbox.front()), payloadAt(), Math.min(maxBytes, leftBytes()));
        } finally {
            takenBytes += (int) (before - group.remainingBytes());
        }
    }

    @Override
    public boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        if (connection.isClosed() || inbox.isEmpty() || bytes > leftBytes()) {
            return false;
        }
        MemorySegment.copy(connection.receives().memory(inbox.front()), payloadAt(), block, offset, bytes);
        takenBytes += (int) bytes;
        return true;
    }

    @Override
    public long skip(long maxBytes) {
        if (connection.isClosed() || inbox.isEmpty()) {
            return 0;
        }
        int skipped = (int) Math.min(maxBytes, leftBytes());
        takenBytes += skipped;
        return skipped;
    }

    @Override
    public void release() {
        takenBytes = 0;
        if (!inbox.isEmpty() && !connection.isClosed()) {
            inbox.release();
            if (credits.release()) {
                connection.pushControl();
            }
        }
    }

    @Override
    public boolean receivePacket(long header, MemorySegment block, long offset) {
        if (takenBytes != 0 || front() != header) {
            return false;
        }
        int bytes = PacketHeader.payloadBytes(header);
        if (bytes > 0) {
            MemorySegment.copy(connection.receives().memory(inbox.front()), payloadAt(), block, offset, bytes);
        }
        release();
        return true;
    }
}
