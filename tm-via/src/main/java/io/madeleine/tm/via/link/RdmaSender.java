package io.madeleine.tm.via.link;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.port.Completion;
import io.madeleine.tm.via.port.KeptRegistration;
import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.RegionUses;
import io.madeleine.tm.via.port.Slab;
import io.madeleine.tm.via.port.ViaPort;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of {@code via/rdma}. A packet's header goes as a message; its payload is written into memory that
 * the receiver grants, a stretch of the payload stream for each grant, in order. Memory of the session (with {@code
 * rdma.trust-native}, native memory) is written from where it lies, a piece in several writes if it lies in several
 * local registrations; other memory is copied into a registered chunk first.
 *
 * <p>Threading: {@link #send} belongs to the sending half of the link; grants, revocations and completions come from
 * the thread that polls.
 */
final class RdmaSender implements Completion, PacketSender {
    private static final int MASK = GrantFlyweight.GRANTS - 1;

    /** The smallest chunk. */
    private static final int LEAST_BYTES = 4096;

    private static final int NO_CHUNK = -1;

    private final ViaConnection connection;
    private final Lane lane;
    private final ViaPort port;
    private final RegionUses regions;
    private final Credits headers;
    private final int firstHeaderSlot;
    private final int headerWindow;
    private final int chunkBytes;
    private final int mostParts;
    private final int writes;
    private final int firstOperation;
    private final AtomicIntegerArray busy;
    private final RegionUses.@Nullable Use[] uses;
    private final @Nullable KeptRegistration[] registrations;

    private final @Nullable Slab[] chunks;

    /** The chunk of each operation; {@link #NO_CHUNK} if it has none. */
    private final int[] chunkOf;

    /** One bit for each chunk that no operation has: the sending half takes it, the thread that polls returns it. */
    private final AtomicInteger freeChunks = new AtomicInteger();

    /** The size of the chunks: less than the longest grant if no more memory can be registered. */
    private int copyBytes;

    private int chunkCount;

    /**
     * A chunk of the least size that is made with the link: the only one if no more memory can be registered when the
     * first is needed. Then no message depends on a registration. Null if it is in use, or if memory to send need not
     * be registered.
     */
    private @Nullable Slab spare;

    private final int spareBytes;

    /** How many chunks there may be: fewer than operations if no more memory can be registered. */
    private int mostChunks;

    /** Guards the grants and the position. */
    private final SpinLock lock = new SpinLock();

    private final long[] positions = new long[GrantFlyweight.GRANTS];
    private final long[] addresses = new long[GrantFlyweight.GRANTS];
    private final long[] keys = new long[GrantFlyweight.GRANTS];
    private final int[] lengths = new int[GrantFlyweight.GRANTS];
    private int granted;
    private int begun;
    private int usedOfGrant;

    /** The number of the next part in its grant. */
    private int part;

    /** How many parts of the piece in front have been written. */
    private int writtenParts;

    /** How many pieces have been written wholly. */
    private int pieces;

    private long position;

    /** How many bytes of the piece in front are still to be written, even if its grant was revoked. */
    private int committed;

    // ---- the packet under way
    private int sentHeaders;
    private boolean headerIsOut;
    private long packetEnd;
    private int write;

    /** The chunk into which is copied; {@link #NO_CHUNK} if into none. */
    private int copyChunk = NO_CHUNK;

    /** How many bytes are copied for the next write; 0 if none are. */
    private int copied;

    /** How many of them lie in the chunk. */
    private int filled;

    /** Tells the receiver which pieces have landed, where writes carry no immediate data; else null. */
    private final @Nullable LandedPieces landed;

    private volatile boolean awaitsRoom;
    private volatile boolean awaitsChunk;
    private volatile int held;
    private volatile int returned;

    RdmaSender(
            ViaConnection connection,
            Lane lane,
            RegionUses regions,
            Credits headers,
            int firstHeaderSlot,
            int headerWindow,
            RdmaSizes sizes) {
        this.connection = connection;
        this.lane = lane;
        this.port = connection.port();
        this.regions = regions;
        this.headers = headers;
        this.firstHeaderSlot = firstHeaderSlot;
        this.headerWindow = headerWindow;
        this.chunkBytes = sizes.chunkBytes();
        this.writes = sizes.grants();
        this.firstOperation = port.newOperations(this, writes);
        this.busy = new AtomicIntegerArray(writes);
        this.uses = new RegionUses.Use[writes];
        this.registrations = new KeptRegistration[writes];
        this.chunks = new Slab[writes];
        this.chunkOf = new int[writes];
        Arrays.fill(chunkOf, NO_CHUNK);
        this.copyBytes = chunkBytes;
        this.mostChunks = writes;
        this.landed = port.hasImmediateData() ? null : new LandedPieces(connection, lane, writes);
        this.mostParts = landed == null ? GrantFlyweight.PARTS / Math.max(1, headerWindow) : Integer.MAX_VALUE;
        this.spareBytes = port.needsLocal() ? leastBytes() : chunkBytes;
    }

    /** The size of the smallest chunks that suffice. */
    private int leastBytes() {
        int bytes = chunkBytes;
        while (suffices(bytes / 2)) {
            bytes /= 2;
        }
        return bytes;
    }

    /**
     * Makes what each message can fall back to.
     *
     * @throws FabricException if it cannot be registered
     */
    void open() {
        if (port.needsLocal()) {
            spare = port.newSlab(spareBytes, Flags.FI_WRITE);
        }
    }

    /**
     * Whether half of the parts allowed suffice to copy any piece by chunks of this size; the other half is for writes
     * in place.
     */
    private boolean suffices(int bytes) {
        return bytes >= LEAST_BYTES && copiesOf(chunkBytes, bytes) <= Math.max(1, mostParts / 2);
    }

    // ---- the sending half

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        if (connection.looksOver()) {
            return LinkStatus.CLOSED;
        }
        if (!headerIsOut) {
            if (!sendHeader(header)) {
                return pending();
            }
            headerIsOut = true;
            packetEnd = position + PacketHeader.payloadBytes(header);
        }
        while (!group.isEmpty() || filled > 0) {
            if (!writeNext(group)) {
                return pending();
            }
        }
        if (trailer != 0 && !sendHeader(trailer)) {
            return pending();
        }
        headerIsOut = false;
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
        return awaitsRoom
                && (connection.looksOver() || (headerIsOut && position != packetEnd ? canWrite() : canSendHeader()));
    }

    private boolean canWrite() {
        return granted != begun
                && busy.getAcquire(Math.floorMod(write, writes)) == 0
                && (!awaitsChunk || freeChunks.get() != 0);
    }

    private boolean canSendHeader() {
        return sentHeaders - headers.returned() < headerWindow
                && lane.isFree(firstHeaderSlot + Math.floorMod(sentHeaders, headerWindow));
    }

    private boolean sendHeader(long header) {
        if (!canSendHeader()) {
            return false;
        }
        int slot = firstHeaderSlot + Math.floorMod(sentHeaders++, headerWindow);
        connection.address(slot, MessageFlyweight.HEADER, header);
        lane.send(slot, MessageFlyweight.BYTES);
        return true;
    }

    /** Writes the next part of a piece; false if there is no grant, or the provider does not take it now. */
    private boolean writeNext(BufferGroup group) {
        int operation = Math.floorMod(write, writes);
        if (busy.getAcquire(operation) != 0) {
            return false;
        }
        lock.lock();
        try {
            if (copied == 0) {
                int bytes = nextBytes();
                if (bytes == 0) {
                    checkMemory(group);
                    return false;
                }
                RegionUses.Use use = useInPlace(group, bytes, operation);
                if (use != null) {
                    return writeInPlace(group, bytes, operation, use);
                }
                committed = bytes; // from now on a revocation leaves this piece to be written
            }
        } finally {
            lock.unlock();
        }
        return writeCopy(group, operation);
    }

    /** Throws if memory of the group was freed: its message is aborted then without waiting for a grant. */
    static void checkMemory(BufferGroup group) {
        for (int i = 0; i < group.count(); i++) {
            MemorySegment memory = group.segment(i);
            if (!memory.scope().isAlive()) {
                throw new IllegalStateException("memory of a message was freed before it was sent");
            }
            if (!memory.isAccessibleBy(Thread.currentThread())) {
                throw new WrongThreadException("memory of a message belongs to another thread");
            }
        }
    }

    /** How many bytes are left of the next piece: up to the end of the grant or of the packet; 0 without a grant. */
    private int nextBytes() {
        if (granted == begun) {
            return 0;
        }
        return (int) Math.min(lengths[begun & MASK] - usedOfGrant, packetEnd - position);
    }

    /** Begins to use the memory in front if it can be written from where it lies; null if not. */
    private RegionUses.@Nullable Use useInPlace(BufferGroup group, int bytes, int operation) {
        MemorySegment source = group.segment(0);
        if (!source.isNative() || group.bytes(0) < bytes) {
            return null;
        }
        RegionUses.Use use = regions.begin(source, group.offset(0), bytes);
        if (use != null) {
            long address = source.address() + group.offset(0);
            int here = bytesTogether(use, address, bytes);
            if (here < bytes
                    && copiesOf(bytes - here, leastCopyBytes()) >= mostParts - writtenParts) { // no number is left
                use.end();
                return null;
            }
            try {
                byte _ = source.get(ValueLayout.JAVA_BYTE, group.offset(0)); // throws if the memory was freed
                if (port.needsLocal()) {
                    registrations[operation] = use.source(address, here);
                }
            } catch (FabricException _) { // too much is registered, for instance: this part is copied
                use.end();
                return null;
            } catch (IllegalStateException | WrongThreadException e) {
                use.end();
                throw e;
            }
        }
        return use;
    }

    /** How much of a piece one write can take from where it lies: up to the border of two local registrations. */
    private int bytesTogether(RegionUses.Use use, long address, int bytes) {
        return port.needsLocal() ? (int) Math.min(bytes, use.bytesTogether(address)) : bytes;
    }

    private boolean writeInPlace(BufferGroup group, int bytes, int operation, RegionUses.Use use) {
        long address = group.segment(0).address() + group.offset(0);
        int here = bytesTogether(use, address, bytes);
        KeptRegistration registration = registrations[operation];
        long descriptor = registration == null ? 0 : registration.descriptor();
        uses[operation] = use;
        held = held + 1; // written by the sending half alone
        if (!begin(address, here, descriptor, operation)) {
            held = held - 1;
            boolean _ = endUse(operation);
            return false;
        }
        group.advance(here);
        return true;
    }

    /** Ends the use of the session's memory by an operation; returns whether it had any. */
    private boolean endUse(int operation) {
        RegionUses.Use use = uses[operation];
        KeptRegistration registration = registrations[operation];
        if (registration != null) {
            registrations[operation] = null;
            registration.endUse();
        }
        if (use != null) {
            uses[operation] = null;
            use.end();
        }
        return use != null;
    }

    /** Fills a chunk, in several calls if memory of the group turns out to be freed, and writes it. */
    private boolean writeCopy(BufferGroup group, int operation) {
        if (copied == 0) {
            copyChunk = takeChunk();
            if (copyChunk == NO_CHUNK) {
                return false;
            }
            copied = Math.min(committed, copyBytes);
        }
        Slab chunk = chunks[copyChunk];
        if (chunk == null) {
            throw new IllegalStateException("a chunk that was not made");
        }
        if (filled < copied) {
            long before = group.remainingBytes();
            try {
                long _ = group.drainTo(chunk.memory(), filled, copied - filled);
            } finally {
                filled += (int) (before - group.remainingBytes());
            }
        }
        lock.lock();
        try {
            chunkOf[operation] = copyChunk;
            if (!begin(chunk.address(), copied, chunk.descriptor(), operation)) {
                chunkOf[operation] = NO_CHUNK;
                return false;
            }
            copyChunk = NO_CHUNK;
            copied = 0;
            filled = 0;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Takes a chunk that no operation has; {@link #NO_CHUNK} if there is none now. */
    private int takeChunk() {
        int free = freeChunks.get();
        if (free == 0 && chunkCount < mostChunks && makeChunk()) {
            free = freeChunks.get();
        }
        awaitsChunk = free == 0;
        if (free == 0) {
            return NO_CHUNK;
        }
        int chunk = Integer.numberOfTrailingZeros(free);
        int _ = freeChunks.addAndGet(-(1 << chunk));
        return chunk;
    }

    /** Makes a chunk. If that is impossible, the existing ones have to suffice, or a smaller one, or the spare one. */
    private boolean makeChunk() {
        Slab last = spare;
        for (int bytes = copyBytes; last == null || bytes > spareBytes; bytes /= 2) {
            try {
                addChunk(newChunk(bytes), bytes);
                return true;
            } catch (FabricException _) {
                if (chunkCount > 0) {
                    mostChunks = chunkCount;
                    return false;
                }
            }
        }
        spare = null;
        addChunk(last, spareBytes);
        return true;
    }

    private void addChunk(Slab made, int bytes) {
        chunks[chunkCount] = made;
        copyBytes = bytes;
        int _ = freeChunks.addAndGet(1 << chunkCount++);
    }

    private Slab newChunk(int bytes) {
        return regions.makingRoom(() -> port.newSlab(bytes, Flags.FI_WRITE));
    }

    /** The size of a chunk into which the rest of a piece may have to be copied. */
    private int leastCopyBytes() {
        return chunkCount > 0 ? copyBytes : spareBytes;
    }

    /** How many chunks of a size a stretch takes. */
    private static int copiesOf(int bytes, int chunk) {
        return (bytes + chunk - 1) / chunk;
    }

    /** Begins a write, under the lock; false if the provider does not take it now. */
    private boolean begin(long address, int bytes, long descriptor, int operation) {
        int left = nextBytes() - bytes;
        busy.setRelease(operation, 1);
        int result = landed == null
                ? write(address, bytes, descriptor, operation, left > 0)
                : put(landed, address, bytes, descriptor, operation, left > 0);
        if (result != ViaPort.BEGUN) {
            busy.setRelease(operation, 0);
            if (result != ViaPort.AGAIN) {
                connection.lost("writing to it failed: " + port.errorText(result));
            }
            return false;
        }
        write++;
        position += bytes;
        usedOfGrant += bytes;
        committed = left; // a revocation leaves the rest of the piece to be written
        writtenParts++;
        if (landed == null) {
            part++;
        }
        if (left == 0) {
            endPiece();
        }
        return true;
    }

    /** Writes with immediate data, which names the part. */
    private int write(long address, int bytes, long descriptor, int operation, boolean more) {
        int grant = begun & MASK;
        return port.write(
                address,
                bytes,
                descriptor,
                GrantFlyweight.immediate(connection.peerNumber(), begun, part, more),
                connection.peerAddress(),
                addresses[grant] + usedOfGrant,
                keys[grant],
                firstOperation + operation);
    }

    /** Writes without immediate data: a message tells of the piece once all its parts have landed. */
    private int put(LandedPieces told, long address, int bytes, long descriptor, int operation, boolean more) {
        int grant = begun & MASK;
        long immediate = GrantFlyweight.immediate(connection.peerNumber(), begun, part, false);
        told.begin(operation, pieces, (int) immediate, more);
        int result = port.put(
                told.scratch(),
                address,
                bytes,
                descriptor,
                connection.peerAddress(),
                addresses[grant] + usedOfGrant,
                keys[grant],
                firstOperation + operation);
        if (result != ViaPort.BEGUN) {
            told.notBegun(operation);
        }
        return result;
    }

    private void endPiece() {
        pieces++;
        writtenParts = 0;
        if (landed != null) {
            part++;
        }
        if (usedOfGrant == lengths[begun & MASK]) {
            nextGrant();
        }
    }

    private void nextGrant() {
        begun++;
        usedOfGrant = 0;
        part = 0;
    }

    /** How many chunks the link has made. */
    int chunkCount() {
        return chunkCount;
    }

    /** Whether the link still reads memory of the session. */
    @Override
    public boolean holdsMemory() {
        return held != returned;
    }

    // ---- the thread that polls

    /** The receiver grants memory; returns false if that cannot be. */
    boolean onGrant(MemorySegment memory, long at, int count, int first) {
        lock.lock();
        try {
            if (first != granted || granted + count - begun > GrantFlyweight.GRANTS) {
                return false;
            }
            long end = granted == begun ? position : positions[granted - 1 & MASK] + lengths[granted - 1 & MASK];
            for (int i = 0; i < count; i++) {
                long entry = at + (long) i * GrantFlyweight.BYTES;
                int bytes = GrantFlyweight.bytes(memory, entry);
                if (bytes < 1 || bytes > chunkBytes || GrantFlyweight.position(memory, entry) != end) {
                    return false;
                }
                int grant = granted & MASK;
                positions[grant] = end;
                lengths[grant] = bytes;
                addresses[grant] = GrantFlyweight.address(memory, entry);
                keys[grant] = GrantFlyweight.key(memory, entry);
                end += bytes;
                granted++;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The receiver takes back what has not been used: calls {@code answer} with what stays. */
    void onRevoke(RevokeAnswer answer) {
        lock.lock();
        try {
            granted = begun;
            if (usedOfGrant + committed > 0) {
                lengths[begun & MASK] = usedOfGrant + committed;
                granted++;
                if (committed == 0) {
                    nextGrant();
                }
            }
            answer.revoked(granted, position + committed);
        } finally {
            lock.unlock();
        }
    }

    /** Receives the answer to a revocation. */
    interface RevokeAnswer {
        /**
         * What is left.
         *
         * @param grants how many grants the sender has used, wholly or in part
         * @param end up to which position in the stream it has written, or will write
         */
        void revoked(int grants, long end);
    }

    @Override
    public void completed(int tag, long bytes) {
        if (landed != null) {
            landed.completed(tag);
        }
        end(tag);
    }

    private void end(int tag) {
        if (chunkOf[tag] != NO_CHUNK) {
            int _ = freeChunks.addAndGet(1 << chunkOf[tag]);
            chunkOf[tag] = NO_CHUNK;
        }
        boolean isBack = endUse(tag);
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
        end(tag);
        connection.lost("writing to it failed: " + reason);
    }

    @Override
    public boolean isPeerDead() {
        return connection.isPeerDead();
    }

    /** Sends the messages that could not be sent before; returns whether none is left. */
    boolean flush() {
        return landed == null || landed.flush();
    }

    /** Whether no write is outstanding. */
    boolean isIdle() {
        for (int i = 0; i < writes; i++) {
            if (busy.getAcquire(i) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Frees the memory; the link is idle, or the endpoint closed. */
    void free() {
        port.freeOperations(firstOperation, writes);
        if (landed != null) {
            landed.close();
        }
        for (int i = 0; i < writes; i++) {
            boolean _ = endUse(i);
            Slab chunk = chunks[i];
            if (chunk != null) {
                chunk.close();
            }
        }
        if (spare != null) {
            spare.close();
        }
    }
}
