package io.madeleine.tm.via.link;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.ffi.IoVector;
import io.madeleine.tm.via.port.Completion;
import io.madeleine.tm.via.port.RegionUses;
import io.madeleine.tm.via.port.Slab;
import io.madeleine.tm.via.port.ViaPort;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of {@code via/registered}. When a packet is announced, it posts a tagged receive for each piece of
 * the payload: in the expected blocks if they are the session's memory, else in a chunk of its own. To take blocks back
 * it cancels their receives; what has arrived before is kept aside, the rest is posted again in chunks.
 *
 * <p>Threading: the receiving half of the link, and the thread that polls; guarded by a spin lock.
 */
final class RegisteredReceiver implements Completion, PacketReceiver {
    /** A shorter stretch is not worth a range of its own. */
    private static final int LEAST_BYTES = 256;

    private enum State {
        FREE,
        POSTED,
        CANCELLED,
        /** Its receive has ended without a message: it is posted again. */
        ENDED,
        LANDED
    }

    private final ViaConnection connection;
    private final ViaPort port;
    private final RegionUses regions;
    private final Credits credits;
    private final int window;
    private final int pieceBytes;
    private final int firstOperation;
    private final SpinLock lock = new SpinLock();
    private final ExpectedBlocks expected = new ExpectedBlocks(LEAST_BYTES);
    private final HeaderRing headers;
    private final State[] states;
    private final PieceMemory[] memories;
    private final long[] positions;
    private final int[] lengths;
    private final @Nullable Slab[] chunks;
    private final IoVector vector;

    /** The piece in front, and the next one to post. */
    private int first;

    private int posted;
    private long taken;
    private long packetStart;
    private long postedEnd;

    /** How many of the headers have their payload before {@link #packetsEnd}. */
    private int packets;

    private long packetsEnd;
    private volatile int userCount;
    private volatile boolean hasWork;
    private boolean isRetracting;
    private volatile boolean mayRetract;
    private volatile boolean follows;

    RegisteredReceiver(ViaConnection connection, RegionUses regions, Credits credits, int window, int pieceBytes) {
        this.connection = connection;
        this.port = connection.port();
        this.regions = regions;
        this.credits = credits;
        this.window = window;
        this.pieceBytes = pieceBytes;
        this.firstOperation = port.newOperations(this, window);
        this.headers = new HeaderRing(window);
        this.states = new State[window];
        this.memories = new PieceMemory[window];
        this.positions = new long[window];
        this.lengths = new int[window];
        this.chunks = new Slab[window];
        this.vector = new IoVector(port.rangeCount());
        for (int i = 0; i < window; i++) {
            states[i] = State.FREE;
            memories[i] = new PieceMemory(port, regions);
        }
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
            return headers.isEmpty() ? 0 : headers.front();
        } finally {
            lock.unlock();
        }
    }

    private int slot(int piece) {
        return Math.floorMod(piece, window);
    }

    /** How many bytes of the packet in front have landed and can be taken at once. */
    private long landedBytes() {
        int slot = slot(first);
        return headers.isEmpty()
                        || first == posted
                        || states[slot] != State.LANDED
                        || taken == packetStart + PacketHeader.payloadBytes(headers.front())
                ? 0
                : positions[slot] + lengths[slot] - taken;
    }

    /** Takes payload into the group, or drops it if there is none. */
    @Override
    public long take(@Nullable BufferGroup group, long maxBytes) {
        long moved = 0;
        boolean isDue = false;
        lock.lock();
        try {
            for (long here = landedBytes(); here > 0 && moved < maxBytes; here = landedBytes()) {
                moved += takePart(group, Math.min(here, maxBytes - moved));
                isDue |= endPiece();
            }
            if (moved == 0 && !headers.isEmpty() && landedBytes() == 0) {
                hasWork = false;
            }
        } finally {
            lock.unlock();
        }
        if (isDue) {
            connection.pushControl();
        }
        return moved;
    }

    private long takePart(@Nullable BufferGroup group, long maxBytes) {
        PieceMemory memory = memories[slot(first)];
        long offset = taken - positions[slot(first)];
        int range = memory.rangeAt(offset);
        long bytes = Math.min(maxBytes, memory.bytesFrom(range, offset));
        if (group == null) {
            taken += bytes;
            return bytes;
        }
        long at = memory.offsetIn(range, offset);
        long before = group.remainingBytes();
        try {
            if (memory.isUser()
                    && group.segment(0).isNative()
                    && group.segment(0).address() + group.offset(0)
                            == memory.memory(range).address() + at) {
                group.advance(Math.min(bytes, group.bytes(0)));
            } else {
                long _ = group.fillFrom(memory.memory(range), at, bytes);
            }
        } finally {
            taken += before - group.remainingBytes();
        }
        return before - group.remainingBytes();
    }

    /** Ends the piece in front if all of it has been taken; returns whether to return credits. */
    private boolean endPiece() {
        int slot = slot(first);
        if (taken < positions[slot] + lengths[slot]) {
            return false;
        }
        endMemory(slot);
        states[slot] = State.FREE;
        first++;
        postMore();
        return credits.release();
    }

    private void endMemory(int slot) {
        if (memories[slot].end()) {
            userCount--;
        }
    }

    @Override
    public void release() {
        lock.lock();
        try {
            packetStart += PacketHeader.payloadBytes(headers.front());
            headers.remove();
            packets = Math.max(0, packets - 1);
            hasWork = !headers.isEmpty();
            postMore();
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
            expected.dropBefore(postedEnd);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int retract() {
        lock.lock();
        try {
            expected.clear(taken);
            mayRetract = false;
            boolean isPending = false;
            for (int piece = first; piece != posted; piece++) {
                int slot = slot(piece);
                if (!memories[slot].isUser()) {
                    continue;
                }
                if (states[slot] == State.LANDED) {
                    keep(slot);
                } else {
                    isPending = true;
                    cancel(slot);
                }
            }
            isRetracting = isPending;
            return isPending ? LinkStatus.PENDING : LinkStatus.COMPLETE;
        } finally {
            lock.unlock();
        }
    }

    private void keep(int slot) {
        memories[slot].keep();
        userCount--;
    }

    private void cancel(int slot) {
        if (states[slot] == State.POSTED) {
            states[slot] = State.CANCELLED;
            port.cancelTagged(firstOperation + slot);
        }
    }

    // ---- posting, under the lock

    private void postMore() {
        while (!follows && posted - first < window && !connection.isOver()) {
            while (postedEnd == packetsEnd && packets < headers.count()) {
                packetsEnd += PacketHeader.payloadBytes(headers.get(packets++));
            }
            if (postedEnd == packetsEnd || !postNext((int) Math.min(pieceBytes, packetsEnd - postedEnd))) {
                break;
            }
        }
    }

    private boolean postNext(int bytes) {
        int slot = slot(posted);
        positions[slot] = postedEnd;
        lengths[slot] = bytes;
        if (useExpected(memories[slot], bytes)) {
            userCount++;
        } else if (!useChunk(slot)) {
            return false;
        }
        if (!post(posted)) {
            endMemory(slot);
            return false;
        }
        posted++;
        postedEnd += bytes;
        expected.dropBefore(postedEnd);
        return true;
    }

    /** Begins to use the expected blocks for the next piece; false if they are not all usable. */
    private boolean useExpected(PieceMemory memory, int bytes) {
        long end = postedEnd + bytes;
        long at = postedEnd;
        for (int i = 0; at < end; i++) {
            if (i == expected.count() || !expected.contains(i, at)) {
                boolean _ = memory.end();
                return false;
            }
            long here = Math.min(expected.bytesFrom(i, at), end - at);
            if (!memory.addUser(expected.memory(i), expected.offsetOf(i, at), here)) {
                boolean _ = memory.end();
                return false;
            }
            at += here;
        }
        return true;
    }

    /** Begins to use the chunk of a slot; false if it cannot be registered, which ends the connection. */
    private boolean useChunk(int slot) {
        Slab chunk = chunks[slot];
        if (chunk == null) {
            try {
                chunk = regions.makingRoom(() -> port.newSlab(pieceBytes, Flags.FI_RECV));
            } catch (FabricException e) {
                connection.lost("memory for what it sends cannot be registered: " + e.getMessage());
                return false;
            }
            chunks[slot] = chunk;
        }
        memories[slot].useOwn(chunk.memory(), lengths[slot], chunk.descriptor());
        return true;
    }

    /** Posts the receive of a piece; false if it has to be tried again. */
    private boolean post(int piece) {
        int slot = slot(piece);
        memories[slot].list(vector);
        State before = states[slot];
        states[slot] = State.POSTED;
        int result = port.receiveTagged(vector, connection.ownTag(piece), firstOperation + slot);
        if (result == ViaPort.BEGUN) {
            port.outstanding().need();
            return true;
        }
        states[slot] = before;
        if (result == ViaPort.AGAIN) {
            follows = true;
            connection.controlFollows();
        } else {
            connection.lost("a receive cannot be posted: " + port.errorText(result));
        }
        return false;
    }

    /** Posts pieces again, in chunks, whose receives have ended. */
    private void postAgain() {
        follows = false;
        for (int piece = first; piece != posted && !follows && !connection.isOver(); piece++) {
            if (states[slot(piece)] == State.ENDED) {
                boolean _ = useChunk(slot(piece)) && post(piece);
            }
        }
    }

    // ---- the thread that polls

    /** A packet was announced; false if the peer has sent more than it may. */
    boolean onAnnounced(long header) {
        lock.lock();
        try {
            if (!headers.add(header)) {
                return false;
            }
            hasWork = true;
            postMore();
            return true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void completed(int tag, long bytes) {
        if (bytes != lengths[tag]) {
            connection.lost("it sent a piece of " + bytes + " bytes instead of " + lengths[tag]);
            failed(tag, 0, "a piece of another length");
            return;
        }
        lock.lock();
        try {
            boolean wasCancelled = states[tag] == State.CANCELLED;
            states[tag] = State.LANDED;
            hasWork |= !headers.isEmpty();
            if (wasCancelled && memories[tag].isUser()) {
                keep(tag);
            }
            mayRetract |= isRetracting;
        } finally {
            lock.unlock();
        }
        connection.activate();
    }

    @Override
    public void failed(int tag, int code, String reason) {
        boolean wasCancelled;
        lock.lock();
        try {
            wasCancelled = states[tag] == State.CANCELLED;
            states[tag] = State.ENDED;
            endMemory(tag);
            if (wasCancelled) {
                postAgain();
            }
            mayRetract |= isRetracting;
        } finally {
            lock.unlock();
        }
        if (!wasCancelled) {
            connection.lost("receiving from it failed: " + reason);
        }
        connection.activate();
    }

    /** Posts what could not be posted before; returns whether nothing is left. */
    boolean flush() {
        lock.lock();
        try {
            if (follows) {
                postAgain();
                postMore();
            }
            return !follows;
        } finally {
            lock.unlock();
        }
    }

    /** Whether memory of the user is posted. */
    boolean hasPosted() {
        return userCount > 0;
    }

    /** The connection is closed here: nothing more is received. */
    void cancelAll() {
        lock.lock();
        try {
            for (int slot = 0; slot < window; slot++) {
                cancel(slot);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether no receive is posted. */
    boolean isIdle() {
        lock.lock();
        try {
            for (State state : states) {
                if (state == State.POSTED || state == State.CANCELLED) {
                    return false;
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Frees the memory; the link is idle, or the endpoint closed. */
    void free() {
        port.freeOperations(firstOperation, window);
        vector.close();
        for (int slot = 0; slot < window; slot++) {
            endMemory(slot);
            Slab chunk = chunks[slot];
            if (chunk != null) {
                chunk.close();
            }
        }
    }
}
