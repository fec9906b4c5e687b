package io.madeleine.tm.via.remote;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.port.RegionUses;
import io.madeleine.tm.via.port.ViaPort;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Carries out operations on memory of peers. Each leaves in pieces, from the session's memory where it lies, and from
 * other memory through registered slots. What the provider does not take at once leaves in later polls.
 *
 * <p>Threading: thread-safe. Completions are called without the lock. An operation allocates nothing once there are as
 * many slots and transfers as are in use at a time.
 */
final class Transfers {
    private static final int SLOTS = 16;
    private static final long PIECE_BYTES = 1 << 20;
    private static final long STALLED_NS = 10_000_000_000L;

    private final ViaPort port;
    private final RegionUses regions;
    private final SpinLock lock = new SpinLock();
    private final List<Slot> slots = new ArrayList<>();
    private final List<Target> active = new ArrayList<>();
    private @Nullable Slot free;
    private @Nullable Transfer spare;
    private @Nullable Transfer firstFinished;
    private @Nullable Transfer lastFinished;
    private int mostSlots = SLOTS;
    private volatile boolean busy;
    private volatile boolean finished;

    Transfers(ViaPort port, RegionUses regions) {
        this.port = port;
        this.regions = regions;
    }

    /** Whether an operation is under way, or waits. */
    boolean isBusy() {
        return busy;
    }

    /**
     * Begins an operation; the memory is the caller's, {@link MemorySegment#NULL} for a word.
     *
     * @param first the addend or the expected value of a word
     * @param second the value to set a word to
     */
    void begin(
            Target target,
            int kind,
            MemorySegment memory,
            long memoryOffset,
            long at,
            long bytes,
            long first,
            long second,
            RemoteCompletion completion) {
        RemoteMemoryException refusal;
        lock.lock();
        try {
            refusal = target.refusal;
            if (refusal == null && target.revoked) {
                refusal = ViaRemoteMemory.revoked();
            }
            if (refusal == null) {
                Transfer transfer = newTransfer();
                transfer.target = target;
                transfer.kind = kind;
                transfer.memory = memory;
                transfer.memoryOffset = memoryOffset;
                transfer.at = at;
                transfer.bytes = bytes;
                transfer.first = first;
                transfer.second = second;
                transfer.completion = completion;
                transfer.use = bytes > 0 && kind < Transfer.ADD && memory.isNative()
                        ? regions.begin(memory, memoryOffset, bytes)
                        : null;
                if (target.head == null && target.outstanding == 0) {
                    target.progressNs = System.nanoTime();
                }
                if (!target.active) {
                    target.active = true;
                    active.add(target);
                    busy = true;
                }
                target.add(transfer);
                pump(target);
            }
        } finally {
            lock.unlock();
        }
        if (refusal != null) {
            completion.failed(refusal);
        }
        tell();
        if (busy) {
            port.outstanding().need();
        }
    }

    private Transfer newTransfer() {
        Transfer transfer = spare;
        if (transfer == null) {
            return new Transfer();
        }
        spare = transfer.next;
        transfer.next = null;
        return transfer;
    }

    private @Nullable Slot takeSlot() {
        Slot slot = free;
        if (slot != null) {
            free = slot.next;
            slot.next = null;
        } else if (slots.size() < mostSlots) {
            slot = new Slot(this, port);
            slots.add(slot);
        }
        return slot;
    }

    private void giveBack(Slot slot) {
        if (slot.kept != null) {
            slot.kept.endUse();
            slot.kept = null;
        }
        slot.transfer = null;
        slot.next = free;
        free = slot;
    }

    /** Hands to the provider what it takes. */
    private void pump(Target target) {
        for (Transfer transfer = target.head; transfer != null; transfer = target.head) {
            while (!transfer.isIssued()) {
                Slot slot;
                try {
                    slot = takeSlot();
                } catch (FabricException e) {
                    if (slots.isEmpty()) {
                        transfer.fail(lost(String.valueOf(e.getMessage())));
                        continue;
                    }
                    return; // when others come back
                }
                if (slot == null) {
                    return;
                }
                int result = issue(target, transfer, slot);
                if (result != ViaPort.BEGUN) {
                    giveBack(slot);
                    if (result == ViaPort.AGAIN) {
                        return;
                    }
                    if (result < 0) {
                        transfer.fail(lost(port.errorText(result)));
                    }
                    continue;
                }
                slot.transfer = transfer;
                transfer.issued += slot.bytes;
                transfer.outstanding++;
                target.outstanding++;
            }
            target.removeHead();
            if (transfer.outstanding == 0) {
                finish(transfer);
            }
        }
    }

    private static RemoteMemoryException lost(String why) {
        return new RemoteMemoryException(Kind.LOST, "an operation on memory of a peer has failed: " + why);
    }

    /** Begins the next piece; a positive result means that the transfer has failed. */
    private int issue(Target target, Transfer transfer, Slot slot) {
        slot.offset = transfer.issued;
        slot.staged = true;
        if (transfer.isWord()) {
            return issueWord(target, transfer, slot);
        }
        long left = transfer.bytes - transfer.issued;
        long address = slot.address();
        long descriptor = slot.descriptor();
        slot.bytes = Math.min(left, Slot.STAGE_BYTES);
        RegionUses.Use use = transfer.use;
        if (use != null) {
            long own = transfer.memory.address() + transfer.memoryOffset + transfer.issued;
            long together = Math.min(left, Math.min(PIECE_BYTES, port.maxMessageBytes()));
            if (port.needsLocal()) {
                together = Math.min(together, use.bytesTogether(own));
            }
            if (isUsable(slot, use, own, together)) {
                slot.staged = false;
                address = own;
                descriptor = slot.kept == null ? 0 : slot.kept.descriptor();
                slot.bytes = together;
            }
        }
        slot.bytes = Math.min(slot.bytes, port.maxMessageBytes());
        long there = target.base + transfer.at + transfer.issued;
        if (transfer.kind == Transfer.GET) {
            return port.get(address, slot.bytes, descriptor, target.peer, there, target.key, slot.operation);
        }
        if (slot.staged) {
            try {
                MemorySegment.copy(
                        transfer.memory, transfer.memoryOffset + transfer.issued, slot.memory(), 0, slot.bytes);
            } catch (RuntimeException e) {
                transfer.fail(freed(e));
                return 1;
            }
        }
        return port.put(
                slot.scratch(), address, slot.bytes, descriptor, target.peer, there, target.key, slot.operation);
    }

    /** The failure of a transfer whose memory another thread has freed; this thread is not left interrupted. */
    private static RemoteMemoryException freed(RuntimeException e) {
        ProgressEngine.afterFreedMemory();
        return new RemoteMemoryException(
                Kind.CLOSED, "the caller's memory could not be accessed before the operation was complete: " + e);
    }

    /** Whether the provider can access the session's memory where it lies; registers it if that is needed. */
    private boolean isUsable(Slot slot, RegionUses.Use use, long own, long bytes) {
        if (!port.needsLocal()) {
            return true;
        }
        try {
            slot.kept = use.source(own, bytes);
            return true;
        } catch (FabricException _) {
            return false; // through the slot's memory instead
        }
    }

    private int issueWord(Target target, Transfer transfer, Slot slot) {
        slot.bytes = transfer.bytes;
        int width = (int) transfer.bytes;
        long there = target.base + transfer.at;
        boolean adds = transfer.kind == Transfer.ADD;
        setWord(slot, 0, width, adds ? transfer.first : transfer.second);
        if (adds) {
            return port.fetchAdd(
                    width,
                    slot.address(),
                    slot.result(),
                    slot.descriptor(),
                    target.peer,
                    there,
                    target.key,
                    slot.operation);
        }
        setWord(slot, Slot.comparedOffset(), width, transfer.first);
        return port.compareAndSet(
                width,
                slot.address(),
                slot.compared(),
                slot.result(),
                slot.descriptor(),
                target.peer,
                there,
                target.key,
                slot.operation);
    }

    private static void setWord(Slot slot, long offset, int width, long value) {
        if (width == Long.BYTES) {
            slot.memory().set(ValueLayout.JAVA_LONG, offset, value);
        } else {
            slot.memory().set(ValueLayout.JAVA_INT, offset, (int) value);
        }
    }

    /** A piece is complete, or has failed for this reason. */
    void completed(Slot slot, @Nullable String reason) {
        lock.lock();
        try {
            Transfer transfer = slot.transfer;
            Target target = transfer == null ? null : transfer.target;
            if (transfer == null || target == null) {
                return;
            }
            if (reason != null) {
                RemoteMemoryException refusal = target.refusal;
                transfer.fail(refusal == null ? lost(reason) : refusal);
            } else if (!transfer.told) {
                takeResult(slot, transfer);
            }
            giveBack(slot);
            target.outstanding--;
            transfer.outstanding--;
            target.progressNs = System.nanoTime();
            if (transfer.outstanding == 0 && transfer.isIssued() && transfer != target.head) {
                finish(transfer);
            }
            pump(target);
        } finally {
            lock.unlock();
        }
        tell();
    }

    private static void takeResult(Slot slot, Transfer transfer) {
        if (transfer.isWord()) {
            transfer.value = transfer.bytes == Long.BYTES
                    ? slot.memory().get(ValueLayout.JAVA_LONG, Slot.resultOffset())
                    : slot.memory().get(ValueLayout.JAVA_INT, Slot.resultOffset());
        } else if (slot.staged && transfer.kind == Transfer.GET) {
            try {
                MemorySegment.copy(slot.memory(), 0, transfer.memory, transfer.memoryOffset + slot.offset, slot.bytes);
            } catch (RuntimeException e) {
                transfer.fail(freed(e));
            }
        }
    }

    /** Nothing of the transfer is under way any more. */
    private void finish(Transfer transfer) {
        if (!transfer.told) {
            addFinished(transfer);
        } else if (transfer.completion == null) { // otherwise it waits for tell()
            recycle(transfer);
        }
    }

    private void addFinished(Transfer transfer) {
        transfer.told = true;
        if (lastFinished == null) {
            firstFinished = transfer;
        } else {
            lastFinished.next = transfer;
        }
        lastFinished = transfer;
        finished = true;
    }

    private void recycle(Transfer transfer) {
        RegionUses.Use use = transfer.use;
        if (use != null) {
            use.end();
        }
        transfer.clear();
        transfer.next = spare;
        spare = transfer;
    }

    /** Calls the completions of what has finished. */
    private void tell() {
        while (finished) {
            RemoteCompletion completion;
            RemoteMemoryException failure;
            long value;
            lock.lock();
            try {
                Transfer transfer = firstFinished;
                if (transfer == null) {
                    finished = false;
                    return;
                }
                firstFinished = transfer.next;
                transfer.next = null;
                if (firstFinished == null) {
                    lastFinished = null;
                    finished = false;
                }
                completion = transfer.completion;
                transfer.completion = null;
                failure = transfer.failure;
                value = transfer.value;
                if (transfer.outstanding == 0) {
                    recycle(transfer);
                }
            } finally {
                lock.unlock();
            }
            if (completion != null && failure != null) {
                completion.failed(failure);
            } else if (completion != null) {
                completion.completed(value);
            }
        }
    }

    /** Lets no more operations begin; those that wait fail, those under way go on. */
    void refuse(Target target, RemoteMemoryException why) {
        lock.lock();
        try {
            refuseLocked(target, why);
        } finally {
            lock.unlock();
        }
        tell();
    }

    private void refuseLocked(Target target, RemoteMemoryException why) {
        if (target.refusal == null) {
            target.refusal = why;
        }
        for (Transfer transfer = target.head; transfer != null; transfer = transfer.next) {
            transfer.fail(why);
        }
        pump(target);
    }

    /**
     * As {@link #refuse}; those under way fail too, though the provider may still use their memory. An operation on
     * memory that was revoked meanwhile fails for that reason: some providers never complete it.
     */
    void lose(Target target, RemoteMemoryException loss) {
        lock.lock();
        try {
            refuseLocked(target, loss);
            RemoteMemoryException refusal = target.refusal;
            RemoteMemoryException why = refusal != null && refusal.kind() == Kind.REVOKED ? refusal : loss;
            for (Slot slot : slots) {
                Transfer transfer = slot.transfer;
                if (transfer != null && transfer.target == target) {
                    mostSlots++; // in place of this one, which may never come back
                    if (!transfer.told) {
                        transfer.fail(why);
                        addFinished(transfer);
                    }
                }
            }
            target.active = false;
            active.remove(target);
            busy = !active.isEmpty();
        } finally {
            lock.unlock();
        }
        tell();
    }

    /** Whether the process has ended that owns the memory to which a piece goes. */
    boolean isOwnerDead(Slot slot) {
        lock.lock();
        try {
            Target target = slot.transfer == null ? null : slot.transfer.target;
            return target != null && target.ownerIsDead;
        } finally {
            lock.unlock();
        }
    }

    /** Whether no operation is under way or waits. */
    boolean isDrained(Target target) {
        lock.lock();
        try {
            return target.outstanding == 0 && target.head == null;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the operations have not got on for a long time. */
    boolean isStalled(Target target, long nowNs) {
        lock.lock();
        try {
            return (target.head != null || target.outstanding > 0) && nowNs - target.progressNs > STALLED_NS;
        } finally {
            lock.unlock();
        }
    }

    /** Hands to the provider what it did not take before. */
    void poll() {
        if (!busy) {
            return;
        }
        lock.lock();
        try {
            for (int i = active.size() - 1; i >= 0; i--) {
                Target target = active.get(i);
                pump(target);
                if (target.head == null && target.outstanding == 0) {
                    target.active = false;
                    active.remove(i);
                }
            }
            busy = !active.isEmpty();
        } finally {
            lock.unlock();
        }
        tell();
    }

    /** Frees the slots; the endpoint is closed. */
    void close() {
        slots.forEach(Slot::closeRegistration);
    }
}
