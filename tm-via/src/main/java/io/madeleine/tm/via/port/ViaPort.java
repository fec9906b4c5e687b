package io.madeleine.tm.via.port;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.Demand;
import io.madeleine.pmm.spi.SessionMemory;
import io.madeleine.tm.via.ffi.Atomics;
import io.madeleine.tm.via.ffi.CompletionQueue;
import io.madeleine.tm.via.ffi.Fabric;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.FabricInfo;
import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.ffi.IoVector;
import io.madeleine.tm.via.ffi.Operations;
import io.madeleine.tm.via.ffi.Registration;
import io.madeleine.tm.via.ffi.TaggedMessages;
import java.lang.foreign.Arena;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint at work: sends, writes and receives, and hands their completions to their owners. The completion queue
 * has room for all operations.
 *
 * <p>Threading: any thread may begin operations and poll. Only one at a time handles completions; threads that poll do
 * not wait for it. The rest is the control path.
 */
public final class ViaPort implements AutoCloseable {
    /** Result of {@link #send}: sent, and the memory may be reused at once. */
    public static final int INJECTED = 1;

    /** Result: begun; the completion follows. */
    public static final int BEGUN = 0;

    /** Result: nothing was done; try again later. */
    public static final int AGAIN = -Flags.FI_EAGAIN;

    /** Result of {@link #poll}: another thread handles completions just now. */
    public static final int BUSY = -1;

    private static final int BATCHES = 4;

    private static final int KEY_ATTEMPTS = 16;
    private static final int MAX_RECEIVES = 1 << 14;
    private static final int MAX_RANGES = 8;

    private final Arena arena = Arena.ofShared();

    /** Held by the thread that handles completions. */
    private final SpinLock polling = new SpinLock();

    private final SecureRandom random = new SecureRandom();
    private final Fabric fabric;
    private final Operations operations;
    private final Optional<Atomics> atomics;
    private final Optional<TaggedMessages> tagged;
    private final int tagBits;
    private final int rangeCount;
    private final boolean writesVisibly;
    private final int immediateBytes;
    private final long maxMessageBytes;
    private final CompletionQueue completions;
    private final OperationTable table;
    private final Outstanding outstanding;
    private final Receives receives;
    private final Receives.Receiver receiver;
    private final LongConsumer written;
    private final int failsEvery;
    private final AtomicInteger blockCount = new AtomicInteger();
    private final boolean needsLocal;
    private final boolean usesVirtualAddresses;
    private final boolean providerChoosesKeys;
    private final KeyedRegistrar registrar;
    private final long keyMask;
    private final long injectBytes;
    private final int receiveLimit;
    private final boolean receivesMayWait;
    private volatile boolean open = true;

    /** Why the endpoint is not polled any more; null as long as it is. */
    private volatile @Nullable String stopped;

    /**
     * Opens the endpoint.
     *
     * @param written receives the immediate data of writes of peers
     */
    public ViaPort(
            FabricInfo info, PortSettings settings, Demand demand, Receives.Receiver receiver, LongConsumer written) {
        this.receiver = receiver;
        this.written = written;
        this.receiveLimit =
                settings.receivesAreUnlimited() ? MAX_RECEIVES : Math.min(info.receiveCount(), MAX_RECEIVES);
        this.receivesMayWait = settings.receivesMayWait();
        int sendLimit = Math.min(
                Math.min(info.sendCount(), MAX_RECEIVES), settings.strictness().maxSends());
        if (settings.strictness().virtualAddresses()) {
            info.useVirtualAddresses();
        }
        this.immediateBytes =
                (int) Math.min(info.immediateBytes(), settings.strictness().immediateBytes());
        this.tagBits = info.tagBits();
        this.fabric = new Fabric(info, (tagBits > 0 ? 3 : 2) * receiveLimit + sendLimit, settings.waits());
        this.operations = fabric.operations();
        this.atomics = fabric.atomics();
        this.tagged = fabric.tagged();
        this.rangeCount = Math.min(
                Math.min(info.rangeCount(), MAX_RANGES), settings.strictness().maxRanges());
        this.writesVisibly = info.hasVisibleWrites();
        this.maxMessageBytes = info.maxMessageBytes();
        this.completions = fabric.completions();
        this.table = new OperationTable(
                arena, info.needsContext() || settings.strictness().contextsInMemory());
        this.outstanding = new Outstanding(demand, sendLimit, settings.pollEveryNs());
        this.needsLocal =
                info.hasRegistration(Flags.FI_MR_LOCAL) || settings.strictness().registersLocal() || settings.pins();
        this.failsEvery = settings.strictness().failsEvery();
        this.usesVirtualAddresses = info.hasRegistration(Flags.FI_MR_VIRT_ADDR);
        this.providerChoosesKeys = info.hasRegistration(Flags.FI_MR_PROV_KEY)
                || settings.strictness().choosesKeys();
        KeyedRegistrar provider =
                settings.strictness().choosesKeys() ? new ChosenKeys(fabric::register) : fabric::register;
        KeyedRegistrar limited = settings.strictness().writableBytes() < Long.MAX_VALUE
                ? new LimitedRegistrar(provider, settings.strictness().writableBytes())
                : provider;
        this.registrar = settings.pins() ? new PinningRegistrar(limited) : limited;
        this.keyMask = info.keyBytes() >= Long.BYTES ? Long.MAX_VALUE : (1L << Byte.SIZE * info.keyBytes()) - 1;
        this.injectBytes = Math.min(settings.maxInjectBytes(), info.injectBytes());
        this.receives = new Receives(this, settings.messageBytes(), receiver);
    }

    /** The name of the endpoint, for peers. */
    public byte[] name() {
        return fabric.name();
    }

    /** The posted receives. */
    public Receives receives() {
        return receives;
    }

    /** How many receives an endpoint may have, posted or still to be posted. */
    public int receiveLimit() {
        return receivesMayWait ? MAX_RECEIVES : receiveLimit;
    }

    /** The outstanding operations. */
    public Outstanding outstanding() {
        return outstanding;
    }

    /** The descriptor to wait on; negative if there is none. */
    public int descriptor() {
        return completions.descriptor();
    }

    /** Whether a thread may now wait on the descriptor. */
    public boolean mayWait() {
        return completions.mayWait();
    }

    boolean isOpen() {
        return open;
    }

    /** libfabric's text for a negative result. */
    public String errorText(long result) {
        String why = stopped;
        return why != null && result == -Flags.FI_ECANCELED ? why : fabric.errorText(result);
    }

    // ---- peers

    /** Adds a peer; returns its number. */
    public synchronized long addPeer(byte[] name) {
        return fabric.addresses().insert(name);
    }

    /** Removes a peer to which nothing is outstanding. */
    public synchronized void removePeer(long peer) {
        if (open) {
            fabric.addresses().remove(peer);
        }
    }

    // ---- memory

    /**
     * Allocates memory for local operations.
     *
     * @param access how the endpoint uses it, of {@link Flags}
     */
    public Slab newSlab(long bytes, long access) {
        Slab slab = new Slab(bytes);
        if (needsLocal) {
            register(slab, bytes, access);
        }
        return slab;
    }

    /** Allocates memory that peers can write. */
    public Slab newTargetSlab(long bytes) {
        Slab slab = new Slab(bytes);
        register(slab, bytes, Flags.FI_REMOTE_WRITE);
        return slab;
    }

    private void register(Slab slab, long bytes, long access) {
        try {
            slab.registered(register(slab.address(), bytes, access));
        } catch (FabricException e) {
            slab.close();
            throw e;
        }
    }

    /**
     * The session's memory, registered in cells as it is used.
     *
     * @param cellBytes the size of a cell
     * @param keptBytes how many bytes stay registered, in each direction, though nobody uses them
     * @param keptCount how many cells stay registered, in each direction
     * @param trustsNative whether native memory that is not the session's is registered in place too
     */
    public RegionUses regions(
            SessionMemory memory, int cellBytes, long keptBytes, int keptCount, boolean trustsNative) {
        return new RegionUses(
                memory,
                new RegionUses.Kept(
                        keptBytes > 0 && keptCount > 0,
                        new KeptRegistrations(
                                (address, bytes) -> register(address, bytes, Flags.FI_REMOTE_WRITE),
                                cellBytes,
                                keptBytes,
                                keptCount),
                        new KeptRegistrations(
                                (address, bytes) -> register(
                                        address, bytes, Flags.FI_WRITE | Flags.FI_READ | Flags.FI_SEND | Flags.FI_RECV),
                                cellBytes,
                                keptBytes,
                                keptCount),
                        this::failSometimes),
                trustsNative);
    }

    /** Registers memory that peers may read, and perhaps write, until the registration is closed. */
    public Registration export(long address, long bytes, boolean writable) {
        return register(address, bytes, Flags.FI_REMOTE_READ | (writable ? Flags.FI_REMOTE_WRITE : 0));
    }

    private void failSometimes() {
        if (failsEvery > 0 && blockCount.incrementAndGet() % failsEvery == 0) {
            throw new FabricException(0, "a registration fails as a test");
        }
    }

    /** Registers memory, with a random key where the caller chooses it. */
    private Registration register(long address, long bytes, long access) {
        for (int attempt = 0; ; attempt++) {
            try {
                return registrar.register(
                        address, bytes, access, providerChoosesKeys ? 0 : random.nextLong() & keyMask);
            } catch (FabricException e) {
                if (e.code() != Flags.FI_ENOKEY || attempt == KEY_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    /** Whether local memory has to be registered. */
    public boolean needsLocal() {
        return needsLocal;
    }

    /** The address by which a peer names a byte of registered memory. */
    public long targetAddress(long base, long address) {
        return usesVirtualAddresses ? address : address - base;
    }

    // ---- operations

    /** Makes operations; returns the number of the first. */
    public int newOperations(Completion owner, int count) {
        return table.allocate(owner, count);
    }

    /** Makes one operation with this tag. */
    int operationOf(Completion owner, int tag) {
        return table.allocate(new Tagged(owner, tag), 1);
    }

    private record Tagged(Completion owner, int tag) implements Completion {
        @Override
        public void completed(int ignored, long bytes) {
            owner.completed(tag, bytes);
        }

        @Override
        public void failed(int ignored, int code, String reason) {
            owner.failed(tag, code, reason);
        }

        @Override
        public boolean isPeerDead() {
            return owner.isPeerDead();
        }
    }

    /** Frees operations of which none is outstanding. */
    public void freeOperations(int from, int count) {
        table.free(from, count);
    }

    long receive(long address, long bytes, long descriptor, int operation) {
        return operations.receive(address, bytes, descriptor, table.context(operation));
    }

    /** Sends a message: {@link #INJECTED}, {@link #BEGUN}, {@link #AGAIN} or another negative error number. */
    public int send(long address, int bytes, long descriptor, long peer, int operation) {
        if (bytes <= injectBytes) {
            int result = (int) operations.inject(address, bytes, peer);
            return result == 0 ? INJECTED : result;
        }
        return sendWithCompletion(address, bytes, descriptor, peer, operation);
    }

    /** As {@link #send}, but a completion always follows: the message has left then. */
    public int sendWithCompletion(long address, int bytes, long descriptor, long peer, int operation) {
        if (!begin(operation)) {
            return notBegun();
        }
        return begun(operations.send(address, bytes, descriptor, peer, table.context(operation)), operation);
    }

    /** Whether {@link #write} may be called: the provider has enough immediate data. */
    public boolean hasImmediateData() {
        return immediateBytes >= Integer.BYTES;
    }

    /**
     * Writes to a peer's memory, with 4 bytes of immediate data: {@link #BEGUN}, {@link #AGAIN}, or another error
     * number.
     */
    public int write(
            long address, long bytes, long descriptor, long data, long peer, long target, long key, int operation) {
        if (!begin(operation)) {
            return notBegun();
        }
        return begun(
                operations.writeData(address, bytes, descriptor, data, peer, target, key, table.context(operation)),
                operation);
    }

    /** How many bits a tag has; 0 if tagged messages may not be used. */
    public int tagBits() {
        return tagBits;
    }

    /** How many ranges of memory a tagged message may have. */
    public int rangeCount() {
        return rangeCount;
    }

    /** Sends a tagged message: {@link #BEGUN}, {@link #AGAIN}, or another negative error number. */
    public int sendTagged(IoVector ranges, long peer, long tag, int operation) {
        if (!begin(operation)) {
            return notBegun();
        }
        return begun(tagged.orElseThrow().send(ranges, peer, tag, table.context(operation)), operation);
    }

    /** Posts memory for a tagged message: {@link #BEGUN}, {@link #AGAIN}, or another negative error number. */
    public int receiveTagged(IoVector ranges, long tag, int operation) {
        if (stopped != null) {
            return -Flags.FI_ECANCELED;
        }
        table.beginReceive(operation);
        int result = (int) tagged.orElseThrow().receive(ranges, tag, table.context(operation));
        if (result != 0) {
            table.notBegun(operation);
        }
        return result;
    }

    /** Asks for the end of a receive that was posted by {@link #receiveTagged}; its completion or failure follows. */
    public void cancelTagged(int operation) {
        tagged.orElseThrow().cancel(table.context(operation));
    }

    /** The longest message, write or read in bytes. */
    public long maxMessageBytes() {
        return maxMessageBytes;
    }

    /** Whether the completion of {@link #put} says that the peer sees the data. */
    public boolean putsVisibly() {
        return writesVisibly;
    }

    /** Whether {@link #fetchAdd} and {@link #compareAndSet} may be called. */
    public boolean hasAtomics() {
        return atomics.isPresent();
    }

    private boolean begin(int operation) {
        if (stopped != null || !outstanding.begin()) {
            return false;
        }
        table.begin(operation);
        return true;
    }

    private int notBegun() {
        return stopped == null ? AGAIN : -Flags.FI_ECANCELED;
    }

    private int begun(long result, int operation) {
        if (result != 0) {
            table.notBegun(operation);
            outstanding.end();
        }
        return (int) result;
    }

    /**
     * Writes to a peer's memory, without its notice; the results are those of {@link #write}. The completion says that
     * the peer sees the data, where the provider can say that.
     *
     * @param scratch the address of as much memory as a {@link io.madeleine.tm.via.ffi.WriteMessage}
     */
    public int put(
            long scratch, long address, long bytes, long descriptor, long peer, long target, long key, int operation) {
        if (!begin(operation)) {
            return notBegun();
        }
        long context = table.context(operation);
        return begun(
                writesVisibly
                        ? operations.writeVisibly(scratch, address, bytes, descriptor, peer, target, key, context)
                        : operations.write(address, bytes, descriptor, peer, target, key, context),
                operation);
    }

    /** Reads a peer's memory; the results are those of {@link #write}. */
    public int get(long address, long bytes, long descriptor, long peer, long source, long key, int operation) {
        if (!begin(operation)) {
            return notBegun();
        }
        return begun(
                operations.read(address, bytes, descriptor, peer, source, key, table.context(operation)), operation);
    }

    /** Adds to a word of a peer; the results are those of {@link #write}. */
    public int fetchAdd(
            int width, long operand, long result, long descriptor, long peer, long target, long key, int operation) {
        if (!begin(operation)) {
            return notBegun();
        }
        return begun(
                atomics.orElseThrow()
                        .fetchAdd(width, operand, result, descriptor, peer, target, key, table.context(operation)),
                operation);
    }

    /** Sets a word of a peer if it has the expected value; the results are those of {@link #write}. */
    public int compareAndSet(
            int width,
            long operand,
            long compared,
            long result,
            long descriptor,
            long peer,
            long target,
            long key,
            int operation) {
        if (!begin(operation)) {
            return notBegun();
        }
        return begun(
                atomics.orElseThrow()
                        .compareAndSet(
                                width,
                                operand,
                                compared,
                                result,
                                descriptor,
                                peer,
                                target,
                                key,
                                table.context(operation)),
                operation);
    }

    // ---- completions

    /** Handles completions; returns how many, or {@link #BUSY}. */
    public int poll() {
        if (!polling.tryLock()) {
            return BUSY;
        }
        try {
            return open ? pollOrStop() : 0;
        } finally {
            polling.unlock();
        }
    }

    /** As {@link #poll}, for a thread without the lead. */
    public int pollAside() {
        outstanding.polledAside();
        return poll();
    }

    private int pollOrStop() {
        String why = stopped;
        if (why == null) {
            return pollLocked();
        }
        int failed = table.failAll(why); // later also what began before its thread saw the stop
        for (int i = 0; i < failed; i++) {
            outstanding.end(); // no longer a reason to poll
        }
        return 0;
    }

    /**
     * Gives up the endpoint: the provider makes no progress any more, and all operations fail. {@code why} is a clause.
     */
    public void stop(String why) {
        stopped = why;
        int _ = poll();
    }

    /** Why the endpoint was given up; null if it was not. */
    public @Nullable String stopped() {
        return stopped;
    }

    /**
     * The number of the oldest operation under way that sends to, reads from or writes to a process that has ended; 0
     * if there is none. No other operation gets the number.
     */
    public long oldestToTheDead() {
        int oldest = table.oldestToTheDead();
        return oldest < 0 ? 0 : table.orderOf(oldest);
    }

    /**
     * Fails operations to processes that have ended, until none is left or the provider waits for a living process.
     *
     * @return false if an operation may block the provider for ever
     */
    public boolean failToTheDead(WaitingOperations waiting) {
        polling.lock();
        try {
            return table.failToTheDead(waiting, () -> {
                int _ = open ? pollLocked() : 0;
                return open;
            });
        } finally {
            polling.unlock();
        }
    }

    /** Whether this result says that a receive is to be posted later. */
    boolean mayWait(long result) {
        return result == AGAIN || receivesMayWait && result == -Flags.FI_ENOMEM;
    }

    private int pollLocked() {
        int work = 0;
        for (int batch = 0; batch < BATCHES; batch++) {
            int count = completions.read();
            if (count < 0) {
                count = handleError(count);
            } else {
                for (int i = 0; i < count; i++) {
                    handle(i);
                }
            }
            work += count;
            if (count < CompletionQueue.BATCH) {
                break;
            }
        }
        receives.postLate();
        return work;
    }

    /** Keeps all threads from handling completions until {@link #endQuiet}; false if one does so just now. */
    public boolean tryQuiet() {
        return polling.tryLock();
    }

    /** Ends what {@link #tryQuiet} began. */
    public void endQuiet() {
        polling.unlock();
    }

    /**
     * Keeps the demand up to date.
     *
     * @param othersNeedIt whether anything but operations needs polls
     * @param idleNs the time since the last event
     */
    public void look(long nowNs, boolean othersNeedIt, long idleNs) {
        outstanding.look(nowNs, othersNeedIt, idleNs);
    }

    private void handle(int entry) {
        long flags = completions.flags(entry);
        if ((flags & Flags.FI_REMOTE_CQ_DATA) != 0 && (flags & Flags.FI_RECV) == 0) {
            written.accept(completions.data(entry) & 0xFFFFFFFFL);
            return;
        }
        if ((flags & Flags.FI_RECV) == 0) {
            outstanding.end();
        }
        table.completed(completions.context(entry), completions.bytes(entry));
    }

    private int handleError(int code) {
        if (code != -Flags.FI_EAVAIL) {
            receiver.onBroken("the completion queue cannot be read: " + errorText(code));
            return 0;
        }
        int errors = 0;
        while (completions.readError()) {
            errors++;
            if ((completions.errorFlags() & Flags.FI_RECV) == 0) {
                outstanding.end();
            }
            table.failed(completions.errorContext(), completions.errorCode(), completions.errorText());
        }
        return errors;
    }

    /** Closes the endpoint: the provider uses no memory any more. Other threads may still poll, and find nothing. */
    public void closeEndpoint() {
        polling.lock();
        try {
            if (open) {
                open = false;
                outstanding.close();
                fabric.closeEndpoint();
            }
        } finally {
            polling.unlock();
        }
    }

    /** Closes everything else, and frees the memory. The slabs of others are closed before. */
    @Override
    public void close() {
        closeEndpoint();
        receives.closeRegistrations();
        fabric.close();
        receives.close();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
