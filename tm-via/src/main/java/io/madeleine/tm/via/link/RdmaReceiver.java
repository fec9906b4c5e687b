package io.madeleine.tm.via.link;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.port.KeptRegistration;
import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.PeerRegistrations;
import io.madeleine.tm.via.port.RegionUses;
import io.madeleine.tm.via.port.Slab;
import io.madeleine.tm.via.port.ViaPort;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of {@code via/rdma}. It grants the sender memory for the next payload: expected blocks of the
 * session's memory as soon as they are expected, and chunks of its own for all other payload when its packet is being
 * received. The immediate data of each write says which part of a piece has landed; without immediate data a message
 * does ({@link LandedPieces}). To take blocks back, the receiver revokes all unused grants, and waits for the pieces
 * that the sender had begun to write before it answered.
 *
 * <p>Threading: the receiving half of the link, and the thread that polls; guarded by a spin lock.
 */
final class RdmaReceiver implements PacketReceiver {
    private static final int CHUNKS = 4;

    /** A shorter stretch is not worth a registration. */
    private static final int LEAST_BYTES = 4096;

    private enum Retraction {
        NONE,
        REVOKING,
        LANDING
    }

    private final ViaConnection connection;
    private final Lane lane;
    private final ViaPort port;
    private final RegionUses regions;
    private final RdmaSizes sizes;
    private final Credits credits;
    private final SpinLock lock = new SpinLock();
    private final GrantTable grants = new GrantTable();
    private final PeerRegistrations registrations = new PeerRegistrations();
    private final ExpectedBlocks expected = new ExpectedBlocks(LEAST_BYTES);
    private final GrowingPieces pieces;
    private final HeaderRing headers;
    private final @Nullable Slab[] chunks = new Slab[CHUNKS];
    private int freeChunks = (1 << CHUNKS) - 1;

    /** The size of the chunks: less than configured if no more memory can be registered. */
    private int copyBytes;

    /**
     * A chunk of the least size that is made with the link: the first one if no more memory can be registered when it
     * is needed. Then no message depends on a registration. Null if it is in use.
     */
    private @Nullable Slab spare;

    private final int spareBytes;

    private long announcedEnd;
    private long grantedEnd;
    private long copiedEnd;
    private long packetStart;
    private long taken;

    /** The first part, of the oldest grant, of the piece that is taken next. */
    private int part;

    private int sentGrants;
    private Retraction retraction = Retraction.NONE;
    private int revocations;
    private boolean revokeFollows;
    private long revokedEnd;
    private boolean open;
    private volatile boolean hasWork;
    private volatile boolean mayRetract;

    RdmaReceiver(ViaConnection connection, Lane lane, RegionUses regions, Credits credits, RdmaSizes sizes) {
        this.connection = connection;
        this.lane = lane;
        this.port = connection.port();
        this.regions = regions;
        this.credits = credits;
        this.sizes = sizes;
        this.copyBytes = sizes.chunkBytes();
        this.spareBytes = Math.min(sizes.chunkBytes(), LEAST_BYTES);
        this.pieces = new GrowingPieces(
                regions.keepsAny() ? sizes.chunkBytes() : sizes.firstChunkBytes(), sizes.chunkBytes());
        this.headers = new HeaderRing(sizes.headers());
    }

    // ---- the receiving half

    /** Whether the layer above should look at the link. */
    boolean hasPackets() {
        return hasWork;
    }

    /** Whether a retraction that was pending may be complete now. */
    boolean mayRetract() {
        return mayRetract;
    }

    @Override
    public long front() {
        lock.lock();
        try {
            if (headers.isEmpty()) {
                return 0;
            }
            wantPacket();
            return headers.front();
        } finally {
            lock.unlock();
        }
    }

    private long packetEnd() {
        return packetStart + PacketHeader.payloadBytes(headers.front());
    }

    /** How many bytes of the packet in front have landed and can be taken at once. */
    private long landedBytes() {
        if (headers.isEmpty()
                || grants.count() == 0
                || grants.endOfPiece(grants.first(), part) == GrantTable.NOT_LANDED) {
            return 0;
        }
        return Math.min(grants.endOf(grants.first()), packetEnd()) - taken;
    }

    /** Takes payload into the group, or drops it if there is none. */
    @Override
    public long take(@Nullable BufferGroup group, long maxBytes) {
        lock.lock();
        try {
            long moved = 0;
            for (long here = landedBytes(); here > 0 && moved < maxBytes; here = landedBytes()) {
                moved += takePiece(group, Math.min(here, maxBytes - moved));
            }
            if (!headers.isEmpty() && taken < packetEnd()) {
                wantPacket();
                if (moved == 0 && landedBytes() == 0) {
                    hasWork = false;
                }
            }
            return moved;
        } finally {
            lock.unlock();
        }
    }

    /** The packet in front is being received: what has no expected block goes through chunks. */
    private void wantPacket() {
        if (copiedEnd < packetEnd()) {
            copiedEnd = packetEnd();
            grantMore();
        }
    }

    private long takePiece(@Nullable BufferGroup group, long bytes) {
        int grant = grants.first();
        long offset = grants.offsetOf(grant, taken);
        long before = group == null ? 0 : group.remainingBytes();
        long moved = bytes;
        try {
            if (group != null && isAlreadyThere(group, grant, offset)) {
                group.advance(Math.min(bytes, group.bytes(0)));
            } else if (group != null) {
                long _ = group.fillFrom(grants.memory(grant), offset, bytes);
            }
        } finally {
            if (group != null) {
                moved = before - group.remainingBytes();
            }
            advance(moved);
        }
        return moved;
    }

    private boolean isAlreadyThere(BufferGroup group, int grant, long offset) {
        return grants.isUser(grant)
                && group.segment(0).isNative()
                && group.segment(0).address() + group.offset(0)
                        == grants.memory(grant).address() + offset;
    }

    private void advance(long bytes) {
        int grant = grants.first();
        taken += bytes;
        if (taken == Math.min(grants.endOf(grant), packetEnd())) {
            int endPart = grants.endOfPiece(grant, part);
            grants.take(grant, part, endPart);
            part = endPart;
            if (taken == grants.endOf(grant)) {
                endGrant(grant);
                grants.removeFirst();
                part = 0;
                grantMore();
            }
        }
    }

    @Override
    public void release() {
        lock.lock();
        try {
            packetStart = packetEnd();
            headers.remove();
            hasWork = !headers.isEmpty();
        } finally {
            lock.unlock();
        }
        if (credits.release()) {
            connection.pushControl();
        }
    }

    @Override
    public void expect(BufferGroup blocks) {
        lock.lock();
        try {
            expected.add(blocks, taken);
            copiedEnd = Math.max(copiedEnd, expected.endPosition());
            grantMore();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int retract() {
        lock.lock();
        try {
            expected.clear(taken);
            copiedEnd = taken;
            if (grants.userCount() == 0 && retraction == Retraction.NONE) {
                return LinkStatus.COMPLETE;
            }
            if (connection.isOver()) {
                keepAll(grants.count() == 0 ? taken : grants.endOf(grants.end() - 1));
                registrations.close(); // the peer may still write
                return LinkStatus.COMPLETE;
            }
            if (retraction == Retraction.NONE) {
                retraction = Retraction.REVOKING;
                revocations++;
                revokeFollows = true;
                push();
            }
            if (retraction == Retraction.LANDING && hasAllLanded()) {
                keepAll(revokedEnd);
                grantMore();
                return LinkStatus.COMPLETE;
            }
            mayRetract = false;
            return LinkStatus.PENDING;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the user's memory back; what has landed in it stays part of the stream. */
    private void keepAll(long end) {
        for (int grant = grants.first(); grant != grants.end(); grant++) {
            if (grants.isUser(grant)) {
                grants.keep(grant, taken, end);
            }
        }
        retraction = Retraction.NONE;
        revokeFollows = false;
        mayRetract = false;
    }

    /** Whether everything has landed that the sender has begun to write. */
    private boolean hasAllLanded() {
        long at = taken;
        int packet = 0;
        long end = packetStart + (headers.count() > 0 ? PacketHeader.payloadBytes(headers.get(0)) : 0);
        for (int grant = grants.first(); grant != grants.end(); grant++) {
            int next = grant == grants.first() ? part : 0;
            while (at < grants.endOf(grant)) {
                while (packet < headers.count() && end <= at) {
                    if (++packet < headers.count()) {
                        end += PacketHeader.payloadBytes(headers.get(packet));
                    }
                }
                next = packet < headers.count() ? grants.endOfPiece(grant, next) : GrantTable.NOT_LANDED;
                if (next == GrantTable.NOT_LANDED) {
                    return false;
                }
                at = Math.min(grants.endOf(grant), end);
            }
        }
        return true;
    }

    // ---- granting, under the lock

    private void grantMore() {
        while (open && retraction == Retraction.NONE && grants.count() < sizes.grants() && !connection.isOver()) {
            expected.dropBefore(grantedEnd);
            boolean granted = expected.firstPosition() <= grantedEnd ? grantExpected() : grantChunk();
            if (!granted) {
                break;
            }
        }
        push();
    }

    private boolean grantExpected() {
        int bytes = (int) Math.min(pieces.next(grants.userCount() == 0), expected.bytesFrom(grantedEnd));
        MemorySegment memory = expected.firstMemory();
        long offset = expected.offsetOf(grantedEnd);
        long address = memory.address() + offset;
        RegionUses.Use use = regions.begin(memory, offset, bytes);
        if (use == null) {
            expected.dropFirst(); // not usable in place: its payload is copied
            return true;
        }
        bytes = (int) Math.min(bytes, use.bytesTogether(address));
        try {
            KeptRegistration registration = registrations.use(use, address, bytes);
            grants.addUser(grantedEnd, bytes, memory, offset, registration, use);
        } catch (FabricException _) {
            use.end();
            expected.cutBefore(grantedEnd + bytes); // too much is registered, for instance: this part is copied
            return true;
        }
        grantedEnd += bytes;
        port.outstanding().need();
        return true;
    }

    /** Grants a chunk for payload that has been announced and is wanted. */
    private boolean grantChunk() {
        long limit = Math.min(Math.min(copiedEnd, announcedEnd), expected.firstPosition());
        if (grantedEnd >= limit || freeChunks == 0) {
            return false;
        }
        int chunk = Integer.numberOfTrailingZeros(freeChunks);
        Slab slab = chunks[chunk];
        if (slab == null) {
            slab = makeChunk(chunk);
        }
        if (slab == null) {
            return false;
        }
        freeChunks &= ~(1 << chunk);
        int bytes = (int) Math.min(copyBytes, limit - grantedEnd);
        grants.addChunk(grantedEnd, bytes, slab.memory(), chunk);
        grantedEnd += bytes;
        return true;
    }

    /**
     * Makes a chunk, perhaps a smaller one, or takes the spare one; null if that is impossible and earlier chunks have
     * to suffice.
     */
    private @Nullable Slab makeChunk(int chunk) {
        Slab last = spare;
        for (int bytes = copyBytes; last == null || bytes > spareBytes; bytes /= 2) {
            try {
                return addChunk(chunk, newChunk(bytes), bytes);
            } catch (FabricException _) {
                if (chunk > 0) { // earlier chunks are in use, and come back
                    return null;
                }
            }
        }
        spare = null;
        return addChunk(chunk, last, spareBytes);
    }

    private Slab addChunk(int chunk, Slab made, int bytes) {
        chunks[chunk] = made;
        copyBytes = bytes;
        return made;
    }

    private Slab newChunk(int bytes) {
        return regions.makingRoom(() -> port.newTargetSlab(bytes));
    }

    private void endGrant(int grant) {
        if (grants.isUser(grant)) {
            grants.endUser(grant);
        } else if (grants.chunk(grant) != GrantTable.NO_CHUNK) {
            freeChunks |= 1 << grants.chunk(grant);
        }
    }

    /** Sends grants and a revocation, as far as their slots are free; returns whether nothing is left. */
    private boolean push() {
        if (open && sentGrants != grants.end() && retraction == Retraction.NONE && lane.isFree(LaneSlots.GRANT)) {
            sendGrants();
        }
        if (revokeFollows && sentGrants == grants.end() && lane.isFree(LaneSlots.REVOKE)) {
            revokeFollows = false;
            connection.address(LaneSlots.REVOKE, MessageFlyweight.REVOKE, revocations);
            lane.send(LaneSlots.REVOKE, MessageFlyweight.BYTES);
        } else if (revokeFollows && sentGrants != grants.end() && lane.isFree(LaneSlots.GRANT)) {
            sendGrants();
            return push();
        }
        boolean left = open && (sentGrants != grants.end() || revokeFollows);
        if (left) {
            connection.controlFollows();
        }
        return !left;
    }

    private void sendGrants() {
        MemorySegment memory = lane.memory(LaneSlots.GRANT);
        long at = lane.offset(LaneSlots.GRANT) + MessageFlyweight.BYTES;
        int count = 0;
        for (int grant = sentGrants; grant != grants.end(); grant++, count++) {
            long entry = at + (long) count * GrantFlyweight.BYTES;
            if (grants.isUser(grant)) {
                long address = grants.memory(grant).address() + grants.offsetOf(grant, grants.position(grant));
                GrantFlyweight.put(
                        memory,
                        entry,
                        grants.position(grant),
                        port.targetAddress(grants.base(grant), address),
                        grants.key(grant),
                        grants.bytes(grant));
            } else {
                Slab slab = chunks[grants.chunk(grant)];
                if (slab == null) {
                    throw new IllegalStateException("a grant without its chunk");
                }
                GrantFlyweight.put(
                        memory,
                        entry,
                        grants.position(grant),
                        port.targetAddress(slab.address(), slab.address()),
                        slab.key(),
                        grants.bytes(grant));
            }
        }
        connection.address(LaneSlots.GRANT, MessageFlyweight.GRANT, sentGrants);
        lane.send(LaneSlots.GRANT, MessageFlyweight.BYTES + count * GrantFlyweight.BYTES);
        sentGrants = grants.end();
    }

    // ---- the thread that polls

    /**
     * The connection is made: grants may be sent.
     *
     * @throws FabricException if the spare chunk cannot be registered
     */
    void open() {
        lock.lock();
        try {
            spare = port.newTargetSlab(spareBytes);
            open = true;
        } finally {
            lock.unlock();
        }
    }

    /** A header has arrived; false if the peer has sent more than it may. */
    boolean onHeader(long header) {
        lock.lock();
        try {
            if (!headers.add(header)) {
                return false;
            }
            announcedEnd += PacketHeader.payloadBytes(header);
            hasWork = true;
            mayRetract = retraction == Retraction.LANDING;
            grantMore();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** A part of a piece has landed. */
    void onWritten(int grant, int landedPart, boolean moreFollow) {
        lock.lock();
        try {
            if (grants.land(grant, landedPart, moreFollow)) {
                hasWork |= !headers.isEmpty();
                mayRetract = retraction == Retraction.LANDING;
            }
        } finally {
            lock.unlock();
        }
    }

    /** The sender has answered a revocation; false if that cannot be. */
    boolean onRevoked(int revocation, int used, long end) {
        lock.lock();
        try {
            if (retraction != Retraction.REVOKING || revocation != revocations) {
                return connection.isOver();
            }
            if (used - grants.end() > 0 || used - grants.first() < 0 || end < taken || end > grantedEnd) {
                return false;
            }
            while (grants.end() != used) {
                endGrant(grants.end() - 1);
                grants.removeLast();
            }
            if (grants.count() > 0 && grants.endOf(grants.end() - 1) > end) {
                grants.trim(grants.end() - 1, end);
            }
            sentGrants = grants.end();
            grantedEnd = end;
            revokedEnd = end;
            retraction = Retraction.LANDING;
            mayRetract = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Sends what could not be sent before; returns whether nothing is left. */
    boolean flush() {
        lock.lock();
        try {
            return push();
        } finally {
            lock.unlock();
        }
    }

    /** Whether memory of the user is granted. */
    boolean hasPosted() {
        return grants.userCount() > 0;
    }

    /** Frees the memory. */
    void free() {
        lock.lock();
        try {
            open = false;
            while (grants.count() > 0) {
                endGrant(grants.first());
                grants.removeFirst();
            }
            registrations.close();
            for (Slab chunk : chunks) {
                if (chunk != null) {
                    chunk.close();
                }
            }
            if (spare != null) {
                spare.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
