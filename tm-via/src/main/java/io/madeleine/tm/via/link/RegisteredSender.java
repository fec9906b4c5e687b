package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.ffi.IoVector;
import io.madeleine.tm.via.port.Completion;
import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.RegionUses;
import io.madeleine.tm.via.port.Slab;
import io.madeleine.tm.via.port.ViaPort;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of {@code via/registered}. A message announces a packet; its payload follows at once in tagged
 * messages, the pieces. A piece is gathered from several blocks. It leaves from the memory of the session where that
 * lies; other memory is copied into a registered chunk first. Announcements and pieces take credits.
 *
 * <p>Threading: the sending half of the link; completions come from the thread that polls.
 */
final class RegisteredSender implements Completion, PacketSender {
    private final ViaConnection connection;
    private final Lane lane;
    private final ViaPort port;
    private final RegionUses regions;
    private final Credits credits;
    private final int firstSlot;
    private final int window;
    private final int pieceBytes;
    private final int firstOperation;
    private final AtomicIntegerArray busy;
    private final PieceMemory[] memories;
    private final @Nullable Slab[] chunks;
    private final IoVector vector;

    /** How many announcements and pieces were sent: each takes a credit. */
    private int sent;

    private int announced;
    private int pieces;

    // ---- the packet under way
    private boolean isAnnounced;
    private int packetLeft;
    private int filled;

    private volatile boolean awaitsRoom;
    private volatile int held;
    private volatile int returned;

    /**
     * The sending half.
     *
     * @param firstSlot the first of the lane's slots for announcements
     * @param window how many announcements and pieces the peer has room for
     * @param pieceBytes the longest piece
     */
    RegisteredSender(
            ViaConnection connection,
            Lane lane,
            RegionUses regions,
            Credits credits,
            int firstSlot,
            int window,
            int pieceBytes) {
        this.connection = connection;
        this.lane = lane;
        this.port = connection.port();
        this.regions = regions;
        this.credits = credits;
        this.firstSlot = firstSlot;
        this.window = window;
        this.pieceBytes = pieceBytes;
        this.firstOperation = port.newOperations(this, window);
        this.busy = new AtomicIntegerArray(window);
        this.memories = new PieceMemory[window];
        this.chunks = new Slab[window];
        this.vector = new IoVector(port.rangeCount());
        for (int i = 0; i < window; i++) {
            memories[i] = new PieceMemory(port, regions);
        }
    }

    // ---- the sending half

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        if (connection.looksOver()) {
            return LinkStatus.CLOSED;
        }
        if (!isAnnounced) {
            if (!announce(header)) {
                return pending();
            }
            isAnnounced = true;
            packetLeft = PacketHeader.payloadBytes(header);
        }
        while (packetLeft > 0) {
            if (!sendPiece(group)) {
                return pending();
            }
        }
        if (trailer != 0 && !announce(trailer)) {
            return pending();
        }
        isAnnounced = false;
        awaitsRoom = false;
        return LinkStatus.COMPLETE;
    }

    private int pending() {
        awaitsRoom = true;
        if (hasRoomAgain()) { // a completion made it before it could see that a thread waits
            connection.activate();
        }
        return connection.looksOver() ? LinkStatus.CLOSED : LinkStatus.PENDING;
    }

    /** Whether a sender that had to wait may be able to continue. */
    boolean hasRoomAgain() {
        return awaitsRoom && (connection.looksOver() || (isAnnounced && packetLeft > 0 ? canSend() : canAnnounce()));
    }

    private boolean hasCredit() {
        return sent - credits.returned() < window;
    }

    /** A piece must not overtake its announcement: without a receive for the piece a provider might hold both back. */
    private boolean canSend() {
        return hasCredit() && !lane.isBehind() && busy.getAcquire(Math.floorMod(pieces, window)) == 0;
    }

    private boolean canAnnounce() {
        return hasCredit() && lane.isFree(firstSlot + Math.floorMod(announced, window));
    }

    private boolean announce(long header) {
        if (!canAnnounce()) {
            return false;
        }
        int slot = firstSlot + Math.floorMod(announced++, window);
        sent++;
        connection.address(slot, MessageFlyweight.ANNOUNCE, header);
        lane.send(slot, MessageFlyweight.BYTES);
        return true;
    }

    /** Sends the next piece; false if there is no credit, or the provider does not take it now. */
    private boolean sendPiece(BufferGroup group) {
        if (!canSend()) {
            RdmaSender.checkMemory(group);
            return false;
        }
        int operation = Math.floorMod(pieces, window);
        int bytes = Math.min(pieceBytes, packetLeft);
        PieceMemory memory = memories[operation];
        if (filled == 0 && isInPlace(memory, group, bytes)) {
            held = held + 1; // written by the sending half alone
            if (begin(memory, bytes, operation)) {
                group.advance(bytes);
                return true;
            }
            held = held - 1;
            boolean _ = memory.end();
            return false;
        }
        Slab chunk = chunk(operation);
        if (chunk == null) {
            return false;
        }
        fill(chunk, group, bytes);
        memory.useOwn(chunk.memory(), bytes, chunk.descriptor());
        if (!begin(memory, bytes, operation)) {
            return false;
        }
        filled = 0;
        return true;
    }

    /** Begins to use the memory of the next piece where it lies; false if it has to be copied. */
    private static boolean isInPlace(PieceMemory memory, BufferGroup group, int bytes) {
        int left = bytes;
        for (int i = 0; left > 0; i++) {
            long here = Math.min(left, group.bytes(i));
            boolean isWhole = here == left || here == group.blockBytes(i);
            if (!isWhole || !isUsable(memory, group.segment(i), group.offset(i), here)) {
                boolean _ = memory.end();
                return false;
            }
            left -= (int) here;
        }
        return true;
    }

    private static boolean isUsable(PieceMemory memory, MemorySegment source, long offset, long bytes) {
        if (!source.isNative()) {
            return false;
        }
        boolean isUsed = memory.addUser(source, offset, bytes);
        if (isUsed) {
            try {
                byte _ = source.get(ValueLayout.JAVA_BYTE, offset); // throws if the memory was freed
            } catch (IllegalStateException | WrongThreadException e) {
                boolean _ = memory.end();
                throw e;
            }
        }
        return isUsed;
    }

    /** Fills a chunk, in several calls if memory of the group turns out to be freed. */
    private void fill(Slab chunk, BufferGroup group, int bytes) {
        long before = group.remainingBytes();
        try {
            long _ = group.drainTo(chunk.memory(), filled, bytes - filled);
        } finally {
            filled += (int) (before - group.remainingBytes());
        }
    }

    /** Returns the chunk of an operation; null if it cannot be registered, which ends the connection. */
    private @Nullable Slab chunk(int operation) {
        Slab chunk = chunks[operation];
        if (chunk == null) {
            try {
                chunk = regions.makingRoom(() -> port.newSlab(pieceBytes, Flags.FI_SEND));
            } catch (FabricException e) {
                connection.lost("memory for what is sent to it cannot be registered: " + e.getMessage());
                return null;
            }
            chunks[operation] = chunk;
        }
        return chunk;
    }

    private boolean begin(PieceMemory memory, int bytes, int operation) {
        memory.list(vector);
        busy.setRelease(operation, 1);
        int result = port.sendTagged(
                vector, connection.peerAddress(), connection.peerTag(pieces), firstOperation + operation);
        if (result != ViaPort.BEGUN) {
            busy.setRelease(operation, 0);
            if (result != ViaPort.AGAIN) {
                connection.lost("sending to it failed: " + port.errorText(result));
            }
            return false;
        }
        sent++;
        pieces++;
        packetLeft -= bytes;
        return true;
    }

    /** Whether the link still reads memory of the session. */
    @Override
    public boolean holdsMemory() {
        return held != returned;
    }

    // ---- the thread that polls

    @Override
    public void completed(int tag, long bytes) {
        boolean isBack = memories[tag].end();
        if (isBack) {
            returned = returned + 1; // written by one thread at a time
        }
        busy.set(tag, 0); // a full fence: a thread that begins to wait sees it, or is seen
        if (isBack || awaitsRoom) {
            connection.activate();
        }
    }

    @Override
    public void failed(int tag, int code, String reason) {
        completed(tag, 0);
        connection.lost("sending to it failed: " + reason);
    }

    @Override
    public boolean isPeerDead() {
        return connection.isPeerDead();
    }

    /** Whether no piece is outstanding. */
    boolean isIdle() {
        for (int i = 0; i < window; i++) {
            if (busy.getAcquire(i) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Frees the memory; the link is idle, or the endpoint closed. */
    void free() {
        port.freeOperations(firstOperation, window);
        vector.close();
        for (int i = 0; i < window; i++) {
            boolean _ = memories[i].end();
            Slab chunk = chunks[i];
            if (chunk != null) {
                chunk.close();
            }
        }
    }
}
